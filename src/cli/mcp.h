// The verbs as tools of the Model Context Protocol: what each is called, the JSON schema of its arguments, made from
// the table of flags, the command line that a call is, and the process that answers it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "read/document.h"
#include "tilewright/result.h"

namespace tilewright::cli {

/// The tools as the list that `tools/list` answers with: a JSON array.
std::string tools_json();

/// What one call asks of the program.
struct ToolCall {
    std::vector<std::string> words;  ///< after the program's name
    std::string input;               ///< what `-` among them reads
    bool json = false;               ///< whether the answer is a JSON document
};

bool is_tool(std::string_view name);

/// The call of a tool that there is; `arguments` is an object or null. Nothing in it can name a file to write.
Result<ToolCall> tool_call(std::string_view name, const read::Value* arguments);

/// One call as a process of its own: this program again, with pipes in place of its streams. It can neither write files
/// nor outlive its time, and whatever becomes of it, the one that asked goes on.
class Child {
public:
    using Clock = std::chrono::steady_clock;

    /// Starts it; one that cannot be started has ended, with a problem on its stderr.
    Child(const ToolCall& call, std::chrono::seconds limit);
    Child(Child&& other) noexcept;
    Child& operator=(Child&& other) noexcept;
    ~Child();  ///< ends it at once

    /// What it can be waited for by: the open ends of its streams.
    std::vector<int> streams() const;

    /// Takes what it said on a stream that is ready.
    void listen(int stream);

    /// Asks it to stop when its time is over, and later ends it.
    void watch(Clock::time_point now);
    Clock::time_point next_look() const { return deadline_; }

    bool ended() const { return out_.file < 0 && err_.file < 0; }

    /// Once it has ended: its exit code, or minus the signal that ended it.
    int wait();

    const std::string& said() const { return out_.text; }
    const std::string& warned() const { return err_.text; }
    bool too_long() const { return asked_to_stop_; }
    bool too_much() const { return too_much_; }

private:
    struct Stream {
        int file = -1;
        std::string text;
    };
    void shut(Stream& stream);

    pid_t process_ = -1;
    Stream out_;
    Stream err_;
    Clock::time_point deadline_;
    bool asked_to_stop_ = false;
    bool too_much_ = false;
};

}  // namespace tilewright::cli
