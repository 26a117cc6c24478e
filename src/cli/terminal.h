// A run of the program: its exit codes, and what its two output streams are (a terminal or not, how wide, which
// characters and colours they show).
#pragma once

#include <string>

#include "render/style.h"
#include "tilewright/result.h"

namespace tilewright::cli {

// The program's exit codes.
inline constexpr int exit_fine = 0;
inline constexpr int exit_findings = 1;  ///< findings at or above the asked level
inline constexpr int exit_bad_input = 2;
inline constexpr int exit_device = 3;
inline constexpr int exit_interrupted = 130;

/// A run of the program: the looks of its two streams and the answer so far.
struct Session {
    render::Style out_style;
    render::Style err_style;
    std::string out;      ///< the result, written to stdout when the verb is done
    bool json = false;    ///< asked for as JSON
    bool both = false;    ///< a binding wants the other form too, of one and the same work
    std::string other{};  ///< that one
};

/// Puts an answer into the session, in the form that was asked for.
template <class Answer, class Json, class Text>
void say(Session& session, const Answer& answer, Json json, Text text) {
    session.out = session.json ? json(answer) : text(answer, session.out_style);
    if (session.both) session.other = session.json ? text(answer, session.out_style) : json(answer);
}

/// Reads NO_COLOR, CLICOLOR_FORCE, LC_ALL, LC_CTYPE, LANG, COLUMNS and the terminal's size.
Session open_session();

/// A line on stderr of what happens.
void tell(const Session& session, std::string_view what);
void warn(const Session& session, std::string_view what);
void report(const Session& session, const Problems& problems);

/// Writes the result to stdout; says so on stderr and returns false when it cannot.
bool deliver(const Session& session);

}  // namespace tilewright::cli
