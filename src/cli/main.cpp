// The program's only main. No exception leaves it.
#include <cstdio>
#include <exception>
#include <new>

#include "cli/interrupt.h"
#include "cli/verb.h"
#include "files/output.h"

using namespace tilewright;

int main(int argc, char** argv) {
    files::occupy_standard_streams();
    cli::Session session = cli::open_session();
    cli::end_on_interrupt();
    try {
        const std::vector<std::string> typed(argv + (argc > 0 ? 1 : 0), argv + argc);
        return cli::dispatch(typed, session);
    } catch (const std::bad_alloc&) {
        std::fputs("error: there is not enough memory\n  fix: close other programs, or raise the limit (ulimit -v)\n",
                   stderr);
        return cli::exit_device;
    } catch (const std::exception& fault) {  // a fault of our own
        cli::report(session, {{"", 0, std::string("internal: ") + fault.what(), "please report this command"}});
        return cli::exit_bad_input;
    }
}
