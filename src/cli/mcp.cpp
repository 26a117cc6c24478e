// `mcp`: the verbs as tools for agents. The Model Context Protocol (modelcontextprotocol.io) over stdin and stdout:
// JSON-RPC 2.0, one message a line. Calls run beside each other as processes of their own, so that a ping is answered
// meanwhile, one can be cancelled, and none takes the server down.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>

#include "cli/interrupt.h"
#include "cli/mcp.h"
#include "cli/options.h"
#include "cli/search.h"
#include "cli/verb.h"
#include "files/output.h"
#include "quantity/suggest.h"
#include "render/json.h"
#include "render/style.h"

namespace tilewright::cli {
namespace {

constexpr std::array<std::string_view, 3> revisions = {"2025-11-25", "2025-06-18", "2024-11-05"};  ///< newest first
constexpr std::size_t largest_message = std::size_t{1} << 20U;                                     ///< bytes
constexpr std::size_t most_waiting = 64;                                                           ///< calls
constexpr std::int64_t usual_seconds = 30;
constexpr std::int64_t most_seconds = 3600;
constexpr int parse_error = -32700, invalid_request = -32600, no_such_method = -32601, invalid_params = -32602;

constexpr std::string_view instructions =
    "Predicts how long a transformer takes on a GPU, says which of its sizes waste the chip, and finds shapes of equal "
    "size that run faster. Start with advise. Every tool takes gpu (devices lists them) and workload arguments such as "
    "phase, batch, seq. Answers are text; json: true gives the same as a document with all digits. Times are seconds "
    "of the whole step; intervals are 90%.";

/// An id as it is written back: a text or a number; empty when it is neither.
std::string id_text(const read::Value* id) {
    if (id == nullptr) return "";
    if (const auto* number = id->as<std::int64_t>()) return std::to_string(*number);
    if (const auto* number = id->as<double>()) return render::number_text(*number);
    if (const auto* text = id->as<std::string>()) {
        const std::string written = render::JsonWriter().value(*text).take();
        return written.substr(0, written.size() - 1);
    }
    return "";
}

/// A document on one line. A line break in it is never part of a text.
std::string one_line(std::string_view document) {
    std::string line;
    bool indent = false;
    for (const char c : document) {
        indent = c == '\n' || (indent && c == ' ');
        if (!indent) line += c;
    }
    return line;
}

std::string text_of(const read::Value* value) {
    const auto* text = value == nullptr ? nullptr : value->as<std::string>();
    return text == nullptr ? "" : *text;
}

/// What the program warned of, its standard input by the name that the asker knows.
std::string told(std::string warned, const ToolCall& asked) {
    constexpr std::string_view input = ": -:";
    for (std::size_t at = 0; !asked.input.empty() && (at = warned.find(input, at)) != warned.npos;)
        warned.replace(at, input.size(), ": the given text:");
    return warned;
}

/// What a call answers: texts, a document where there is one, and whether it is an error that the asker can mend.
std::string result_json(const std::vector<std::string>& texts, std::string_view document, bool is_error) {
    render::JsonWriter json;
    json.object().key("content").array();
    for (const std::string& text : texts) json.object().field("type", "text").field("text", text).end();
    json.end();
    if (!document.empty()) json.key("structuredContent").raw(document);
    return json.field("isError", is_error).end().take();
}

class Server {
public:
    Server(std::chrono::seconds limit, Session& session) : limit_(limit), session_(session) {}

    int run() {
        remember_interrupts();
        while ((listening_ || !calls_.empty()) && !interrupted() && !deaf_) {
            start_waiting();
            look();
        }
        if (interrupted()) return exit_interrupted;
        return deaf_ ? exit_bad_input : exit_fine;
    }

private:
    struct Call {
        std::string id;
        ToolCall asked;
        std::optional<Child> child;  ///< none while it waits
    };

    void start_waiting() {
        std::size_t running = 0;
        for (Call& call : calls_) {
            if (++running > core_count()) return;
            if (!call.child) call.child.emplace(call.asked, limit_);
        }
    }

    /// Waits for something to happen, and takes it.
    void look() {
        std::vector<pollfd> watched;
        if (listening_) watched.push_back({STDIN_FILENO, POLLIN, 0});
        const auto now = Child::Clock::now();
        auto until = now + std::chrono::hours(1);
        for (Call& call : calls_) {
            if (!call.child) continue;
            for (const int stream : call.child->streams()) watched.push_back({stream, POLLIN, 0});
            until = call.child->ended() ? now : std::min(until, call.child->next_look());
        }
        const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(until - now).count() + 1;
        if (poll(watched.data(), watched.size(), static_cast<int>(std::clamp<long long>(wait, 0, 3'600'000))) < 0)
            return;
        for (const pollfd& one : watched) {
            if (one.revents == 0) continue;
            if (one.fd == STDIN_FILENO) hear();
            for (Call& call : calls_) {
                if (call.child && std::ranges::count(call.child->streams(), one.fd) > 0) call.child->listen(one.fd);
            }
        }
        finish_calls();
    }

    void finish_calls() {
        for (Call& call : calls_) {
            if (call.child) call.child->watch(Child::Clock::now());
            if (call.child && call.child->ended()) reply(call.id, "result", outcome(call));
        }
        std::erase_if(calls_, [](const Call& call) { return call.child && call.child->ended(); });
    }

    std::string outcome(Call& call) {
        Child& child = *call.child;
        const int code = child.wait();
        const auto error = [&](const Problem& problem) {
            return result_json({render::problems_text({problem}, session_.err_style)}, "", true);
        };
        if (child.too_much()) return error({"", 0, "the answer is too large", "ask for less"});
        if (child.too_long() && (code != exit_interrupted || child.said().empty())) {
            return error({"", 0, "there was no answer within " + std::to_string(limit_.count()) + " s",
                          "ask for less, or start the server as: tilewright mcp --seconds 300"});
        }
        if (code < 0) {
            files::write_all(STDERR_FILENO, child.warned());
            return error({"", 0, "internal: the call was ended by signal " + std::to_string(-code),
                          "please report this question"});
        }
        const bool answered = code == exit_fine || code == exit_findings || code == exit_interrupted;
        if (!answered || child.said().empty()) return result_json({told(child.warned(), call.asked)}, "", true);
        const std::string document = call.asked.json ? one_line(child.said()) : "";
        std::vector<std::string> texts{document.empty() ? child.said() : document};
        if (!child.warned().empty()) texts.push_back(told(child.warned(), call.asked));
        if (child.too_long())
            texts.push_back("stopped after " + std::to_string(limit_.count()) + " s: the best so far");
        return result_json(texts, document, false);
    }

    /// Takes what came in, a message a line.
    void hear() {
        std::array<char, 65536> buffer{};
        const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) return;
        listening_ = count > 0;
        for (const char c : std::string_view(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0)) {
            if (c == '\n') {
                end_line();
            } else if (line_.size() <= largest_message) {
                line_ += c;
            }
        }
        if (!listening_) end_line();
    }

    void end_line() {
        if (line_.size() > largest_message) {
            refuse("", invalid_request, "a message of over " + std::to_string(largest_message) + " bytes");
        } else if (line_.find_first_not_of(" \t\r") != line_.npos) {
            take(line_);
        }
        line_.clear();
    }

    void take(const std::string& line) {
        const Result<read::Value> message = read::read_json(line, "");
        if (!message) return refuse("", parse_error, message.problems().front().what);
        if (message->as<read::Array>() != nullptr)
            return refuse("", invalid_request, "batches are not taken: send one message a line");
        const read::Value* id = message->find("id");
        const std::string method = text_of(message->find("method"));
        const bool answers_us =
            method.empty() && (message->find("result") != nullptr || message->find("error") != nullptr);
        if (answers_us) return;
        if (text_of(message->find("jsonrpc")) != "2.0" || method.empty() || (id != nullptr && id_text(id).empty())) {
            return refuse(id_text(id), invalid_request,
                          "no request of JSON-RPC 2.0: jsonrpc, method or id is missing or wrong");
        }
        if (id == nullptr) return notice(method, message->find("params"));
        answer(id_text(id), method, message->find("params"));
    }

    void notice(const std::string& method, const read::Value* params) {
        if (method != "notifications/cancelled" || params == nullptr) return;
        const std::string id = id_text(params->find("requestId"));
        std::erase_if(calls_, [&](const Call& call) { return call.id == id; });
    }

    void answer(const std::string& id, const std::string& method, const read::Value* params) {
        if (params != nullptr && params->as<read::Object>() == nullptr)
            return refuse(id, invalid_params, "params is no object");
        if (method == "ping") return reply(id, "result", "{}");
        if (method == "initialize")
            return reply(id, "result", welcome(text_of(params == nullptr ? nullptr : params->find("protocolVersion"))));
        if (method == "tools/list") return reply(id, "result", "{\"tools\": " + tools_json() + "}");
        if (method == "tools/call") return call(id, params);
        refuse(id, no_such_method, tilewright::quoted(method) + " is no method of this server");
    }

    static std::string welcome(const std::string& asked) {
        const auto agreed =
            std::find_if(revisions.begin(), revisions.end(), [&](std::string_view known) { return known <= asked; });
        render::JsonWriter json;
        json.object().field("protocolVersion", agreed == revisions.end() ? revisions.front() : *agreed);
        json.key("capabilities").object().key("tools").object().end().end();
        json.key("serverInfo").object().field("name", "tilewright").field("version", version).end();
        return json.field("instructions", instructions).end().take();
    }

    void call(const std::string& id, const read::Value* params) {
        const std::string name = text_of(params == nullptr ? nullptr : params->find("name"));
        const read::Value* arguments = params == nullptr ? nullptr : params->find("arguments");
        if (!is_tool(name))
            return refuse(id, invalid_params, tilewright::quoted(name) + " is no tool; tools/list names them");
        if (arguments != nullptr && arguments->as<read::Object>() == nullptr)
            return refuse(id, invalid_params, "arguments is no object");
        const bool taken = std::any_of(calls_.begin(), calls_.end(), [&](const Call& one) { return one.id == id; });
        if (taken) return refuse(id, invalid_request, "a call of this id is under way");
        if (calls_.size() >= most_waiting) return refuse(id, invalid_request, "too many calls wait; ask again later");
        const Result<ToolCall> asked = tool_call(name, arguments);
        if (asked) return void(calls_.push_back({id, *asked, std::nullopt}));
        reply(id, "result", result_json({render::problems_text(asked.problems(), session_.err_style)}, "", true));
    }

    void refuse(const std::string& id, int code, const std::string& what) {
        render::JsonWriter json;
        json.object().field("code", code).field("message", what);
        reply(id, "error", json.end().take());
    }

    /// `id` and `body` are JSON.
    void reply(const std::string& id, const std::string& kind, std::string_view body) {
        const std::string line =
            "{\"jsonrpc\": \"2.0\", \"id\": " + (id.empty() ? "null" : id) + ", \"" + kind + "\": ";
        deaf_ |= !files::write_all(STDOUT_FILENO, line + one_line(body) + "}\n");
    }

    std::chrono::seconds limit_;
    Session& session_;
    std::deque<Call> calls_;
    std::string line_;
    bool listening_ = true;
    bool deaf_ = false;  ///< nobody reads the answers
};

}  // namespace

std::vector<FlagGroup> mcp_flags() {
    return {{"Limits", {{"--seconds", "N", "for one call; a search then tells the best so far (30)", Kind::Count}}},
            {"Output", {{"--help", "", "this page", Kind::Switch}}}};
}

Result<int> run_mcp(const Arguments& arguments, Session& session) {
    const std::int64_t seconds = arguments.count("--seconds").value_or(usual_seconds);
    if (seconds < 1 || seconds > most_seconds) return Problem{"--seconds", 0, "is not between 1 and 3600", "say 60"};
    Session plain = session;
    plain.err_style = {100, false, true};
    return Server(std::chrono::seconds(seconds), plain).run();
}

}  // namespace tilewright::cli
