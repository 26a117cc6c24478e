// Stands in for terminal and signals, under the names that the program uses.
#include "platform.h"

#include <atomic>

#include "cli/interrupt.h"
#include "cli/terminal.h"

namespace tilewright {
namespace {

std::atomic<bool> stop_asked{false};

}  // namespace

namespace python {

Heard& heard() {
    static Heard one;
    return one;
}

void stop(bool asked) { stop_asked = asked; }

}  // namespace python

namespace cli {

/// As piped, in a UTF-8 locale.
Session open_session() {
    const render::Style plain{100, false, true};
    return {plain, plain, ""};
}
void warn(const Session& /*session*/, std::string_view what) { python::heard().warnings.emplace_back(what); }
void tell(const Session& /*session*/, std::string_view /*what*/) {}  // a line of progress
void report(const Session& /*session*/, const Problems& problems) {
    Problems& all = python::heard().problems;
    all.insert(all.end(), problems.begin(), problems.end());
}
bool deliver(const Session& session) {
    python::heard().out = render::shown(session.out, session.out_style);
    python::heard().other = render::shown(session.other, session.out_style);
    return true;
}

void end_on_interrupt() {}
void remember_interrupts() {}
bool interrupted() { return stop_asked; }

}  // namespace cli
}  // namespace tilewright
