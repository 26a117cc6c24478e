// The progress line: rewritten five times a second, wiped at the end. The clock is read once in 256 steps.
#include "cli/progress.h"

#include <unistd.h>

#include <cstdio>

#include "render/units.h"

namespace tilewright::cli {

using std::chrono::steady_clock;

Progress::Progress(std::string unit, Stdout results)
    : unit_(std::move(unit)),
      visible_(isatty(STDERR_FILENO) == 1 && (results == Stdout::Silent || isatty(STDOUT_FILENO) != 1)),
      start_(steady_clock::now()),
      last_(start_) {}

Progress::~Progress() {
    if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::step() {
    ++done_;
    if (!visible_ || done_ % 256 != 0) return;
    const auto now = steady_clock::now();
    if (now - start_ < std::chrono::seconds(1) || now - last_ < std::chrono::milliseconds(200)) return;
    show(now);
}

void Progress::at(std::int64_t done, double total) {
    done_ = done;
    total_ = total;
    const auto now = steady_clock::now();
    if (visible_ && now - start_ >= std::chrono::seconds(1)) show(now);
}

void Progress::show(steady_clock::time_point now) {
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const auto done = static_cast<double>(done_);
    std::string text = render::grouped_text(done) + " " + unit_ + ", " + render::grouped_text(done / seconds) + "/s";
    if (total_ > done && done > 0.0) {
        text += ", " + render::percent_text(done / total_) + ", " +
                render::time_text({seconds * (total_ - done) / done}) + " left";
    }
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    last_ = now;
    shown_ = true;
}

}  // namespace tilewright::cli
