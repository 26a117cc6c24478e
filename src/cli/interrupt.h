// Ctrl-C: normally the program ends at once with 130; a loop that can stop in order asks `interrupted` instead.
#pragma once

namespace tilewright::cli {

/// From here on SIGINT and SIGTERM end the program with 130.
void end_on_interrupt();

/// From here on the first signal is only remembered; a second one ends the program.
void remember_interrupts();

bool interrupted();

}  // namespace tilewright::cli
