// One call as a process of its own: this program again, with pipes in place of its streams. It can neither write files
// nor outlive its time, and whatever becomes of it, the one that asked goes on.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "cli/mcp_tools.h"

namespace tilewright::cli {

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
