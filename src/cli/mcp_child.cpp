#include "cli/mcp.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cli/terminal.h"
#include "files/output.h"

namespace tilewright::cli {
namespace {

constexpr std::size_t largest_answer = std::size_t{8} << 20U;  ///< bytes
constexpr std::chrono::seconds grace{10};                      ///< to say what was found so far

/// A file that only this process knows, with the text, to be read from its start.
int text_file(const std::string& text) {
    if (text.empty()) return open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int file = memfd_create("input", MFD_CLOEXEC);
    if (file >= 0 && files::write_all(file, text) && lseek(file, 0, SEEK_SET) == 0) return file;
    return -1;
}

/// Becomes the program; what is said goes to the other end, and nothing to a file.
[[noreturn]] void become(std::vector<std::string> words, int in, int out, int err) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    const rlimit nothing{0, 0};
    setrlimit(RLIMIT_FSIZE, &nothing);
    setrlimit(RLIMIT_CORE, &nothing);
    std::signal(SIGXFSZ, SIG_IGN);  // a write to a file fails instead
    std::signal(SIGPIPE, SIG_DFL);
    setenv("NO_COLOR", "1", 1);
    setenv("COLUMNS", "100", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv("/proc/self/exe", pointers.data());
    const std::string why = std::string("error: the program cannot be run again: ") + std::strerror(errno) + "\n";
    files::write_all(STDERR_FILENO, why);
    _exit(exit_device);
}

}  // namespace

Child::Child(const ToolCall& call, std::chrono::seconds limit) : deadline_(Clock::now() + limit) {
    std::array<int, 2> out{-1, -1}, err{-1, -1};
    const int in = text_file(call.input);
    const bool ready = in >= 0 && pipe2(out.data(), O_CLOEXEC) == 0 && pipe2(err.data(), O_CLOEXEC) == 0;
    if (ready) {
        std::vector<std::string> words = call.words;
        words.insert(words.begin(), "tilewright");
        process_ = fork();
        if (process_ == 0) become(std::move(words), in, out[1], err[1]);
    }
    for (const int file : {in, out[1], err[1]}) {
        if (file >= 0) close(file);
    }
    out_.file = out[0];
    err_.file = err[0];
    if (process_ >= 0) return;
    shut(out_);
    shut(err_);
    err_.text = "error: no process can be started for this call\n  fix: close other programs, and ask again\n";
}

Child::Child(Child&& other) noexcept { *this = std::move(other); }

Child& Child::operator=(Child&& other) noexcept {
    std::swap(process_, other.process_);
    std::swap(out_, other.out_);
    std::swap(err_, other.err_);
    std::swap(deadline_, other.deadline_);
    std::swap(asked_to_stop_, other.asked_to_stop_);
    std::swap(too_much_, other.too_much_);
    return *this;
}

Child::~Child() {
    if (process_ > 0) {
        kill(process_, SIGKILL);
        wait();
    }
    shut(out_);
    shut(err_);
}

void Child::shut(Stream& stream) {
    if (stream.file >= 0) close(stream.file);
    stream.file = -1;
}

std::vector<int> Child::streams() const {
    std::vector<int> open;
    for (const Stream* stream : {&out_, &err_}) {
        if (stream->file >= 0) open.push_back(stream->file);
    }
    return open;
}

void Child::listen(int file) {
    Stream& stream = file == out_.file ? out_ : err_;
    std::array<char, 65536> buffer{};
    const ssize_t count = ::read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) return shut(stream);
    stream.text.append(buffer.data(), static_cast<std::size_t>(count));
    if (stream.text.size() <= largest_answer) return;
    too_much_ = true;
    kill(process_, SIGKILL);
    shut(stream);
}

void Child::watch(Clock::time_point now) {
    if (now < deadline_ || process_ <= 0) return;
    kill(process_, asked_to_stop_ ? SIGKILL : SIGINT);
    asked_to_stop_ = true;
    deadline_ = now + grace;
}

int Child::wait() {
    int status = 0;
    if (process_ <= 0) return exit_device;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace tilewright::cli
