// Stream looks and the final write.
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "render/style.h"

namespace tilewright::cli {
namespace {

constexpr int narrowest = 60;
constexpr int widest = 120;
constexpr int usual = 100;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// The locale's character set, as POSIX ranks the variables.
bool locale_is_utf8() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        std::string value = environment(name);
        if (value.empty()) continue;
        std::transform(value.begin(), value.end(), value.begin(), [](char c) { return c == '-' ? '_' : c | 0x20; });
        return value.find("utf8") != std::string::npos || value.find("utf_8") != std::string::npos;
    }
    return false;
}

bool wants_colour(int stream) {
    if (!environment("NO_COLOR").empty()) return false;
    const std::string force = environment("CLICOLOR_FORCE");
    if (!force.empty() && force != "0") return true;
    return isatty(stream) == 1 && environment("TERM") != "dumb";
}

/// COLUMNS, else the terminal's, else the usual width.
int columns(int stream) {
    const int asked = std::atoi(environment("COLUMNS").c_str());
    if (asked > 0) return std::clamp(asked, narrowest, widest);
    winsize size{};
    if (isatty(stream) != 1 || ioctl(stream, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual;
    return std::clamp(static_cast<int>(size.ws_col), narrowest, widest);
}

render::Style style_of(int stream) { return {columns(stream), wants_colour(stream), locale_is_utf8()}; }

void write_error(const Session& session, const std::string& text) {
    std::fputs(render::shown(text, session.err_style).c_str(), stderr);
}

}  // namespace

Session open_session() { return {style_of(STDOUT_FILENO), style_of(STDERR_FILENO), ""}; }

void tell(const Session& session, std::string_view what) { write_error(session, std::string(what)); }

void warn(const Session& session, std::string_view what) {
    write_error(session, render::warning_text(what, session.err_style));
}

void report(const Session& session, const Problems& problems) {
    write_error(session, render::problems_text(problems, session.err_style));
}

bool deliver(const Session& session) {
    const std::string shown = render::shown(session.out, session.out_style);
    const bool written = std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size() && std::fflush(stdout) == 0;
    if (!written) report(session, {{"stdout", 0, std::string("cannot be written: ") + std::strerror(errno), ""}});
    return written;
}

}  // namespace tilewright::cli
