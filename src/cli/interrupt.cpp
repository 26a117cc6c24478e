// Signal handlers, which may do almost nothing: set a flag, or leave.
#include "cli/interrupt.h"

#include <unistd.h>
#include <csignal>

#include "cli/terminal.h"
#include "files/output.h"

namespace tilewright::cli {
namespace {

volatile std::sig_atomic_t stop_asked = 0;

void leave(int /*signal*/) {
    files::remove_unfinished();
    _exit(exit_interrupted);
}

void remember(int signal) {
    if (stop_asked != 0) leave(signal);
    stop_asked = 1;
}

/// Without SA_RESTART, so that a blocked read returns.
void install(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

void end_on_interrupt() { install(leave); }
void remember_interrupts() { install(remember); }
bool interrupted() { return stop_asked != 0; }

}  // namespace tilewright::cli
