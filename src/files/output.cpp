#include "files/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "quantity/printable.h"

namespace tilewright::files {
namespace {

namespace fs = std::filesystem;

/// The file under way that a signal handler removes: a copy of its name, empty when there is none.
char unfinished_name[PATH_MAX] = "";

void remember_unfinished(const std::string& name) {
    if (unfinished_name[0] != '\0' || name.size() >= sizeof unfinished_name) return;
    std::memcpy(unfinished_name + 1, name.c_str() + 1, name.size());
    unfinished_name[0] = name[0];  // last, so that a handler never sees half a name
}

void forget_unfinished(const std::string& name) {
    if (name == unfinished_name) unfinished_name[0] = '\0';
}

/// Where a path leads through links, the last of which may lead to nothing yet.
std::string resolved(fs::path path) {
    constexpr int most_links = 40;  // as Linux follows
    std::error_code error;
    for (int i = 0; i < most_links && fs::is_symlink(path, error); ++i) {
        const fs::path to = fs::read_symlink(path, error);
        if (error) break;
        path = to.is_absolute() ? to : path.parent_path() / to;
    }
    return path.string();
}

/// A new file in the folder of `target`, under a name that no other has.
int create_beside(const std::string& target, std::string& name) {
    const fs::path folder = fs::path(target).parent_path();
    for (int i = 0; i < 1000; ++i) {
        name = (folder / (".tilewright-" + std::to_string(getpid()) + "-" + std::to_string(i))).string();
        const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

/// Owner and mode of the old file; an owner that cannot be given stays ours.
bool take_after(int file, const struct stat& old) {
    if (old.st_uid != geteuid() || old.st_gid != getegid()) {
        if (::fchown(file, old.st_uid, old.st_gid) != 0) errno = 0;
    }
    return ::fchmod(file, old.st_mode & 0777) == 0;
}

bool stat_of(const std::string& path, struct stat& found) {
    return (path == "-" ? ::fstat(STDIN_FILENO, &found) : ::stat(path.c_str(), &found)) == 0 && S_ISREG(found.st_mode);
}

}  // namespace

Problem Output::fault(int error) const {
    if (error == EEXIST && unfinished_ == Unfinished::Kept) {
        return {beside_, 0, "is left of an earlier run", "keep what it holds under another name, or remove it"};
    }
    return {path_ == "-" ? "stdout" : path_, 0, std::string("cannot be written: ") + std::strerror(error),
            "check the path and the disk"};
}

Result<Output> Output::open(const std::string& path, Unfinished unfinished) {
    Output output;
    output.path_ = path;
    output.unfinished_ = unfinished;
    if (Problems problems = output.begin(); !problems.empty()) return problems;
    return output;
}

Problems Output::begin() {
    if (path_ == "-") {
        std::fflush(stdout);
        file_ = STDOUT_FILENO;
        return {};
    }
    struct stat old {};
    const bool there = ::stat(path_.c_str(), &old) == 0;
    if (!there && errno == ELOOP) return {fault(errno)};
    if (there && (!S_ISREG(old.st_mode) || path_.starts_with("/dev/"))) {  // /dev/stdout may be a file
        file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
        return file_ >= 0 ? Problems{} : Problems{fault(errno)};
    }
    if (there && ::access(path_.c_str(), W_OK) != 0) return {fault(errno)};
    target_ = resolved(path_);
    if (unfinished_ == Unfinished::Kept) {
        beside_ = target_ + ".partial";
        file_ = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } else {
        file_ = create_beside(target_, beside_);
    }
    if (file_ < 0) {
        const Problem problem = fault(errno);
        beside_.clear();
        return {problem};
    }
    if (unfinished_ == Unfinished::Removed) remember_unfinished(beside_);
    if (there && !take_after(file_, old)) return {fault(errno)};
    return {};
}

Output::Output(Output&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      buffer_(std::move(other.buffer_)),
      path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      beside_(std::exchange(other.beside_, {})),
      unfinished_(other.unfinished_),
      written_(other.written_) {}

Output::~Output() {
    const bool keeps = unfinished_ == Unfinished::Kept && written_;
    if (keeps && file_ >= 0) flush();
    if (file_ > STDERR_FILENO) ::close(file_);
    if (beside_.empty()) return;
    if (!keeps) ::unlink(beside_.c_str());
    forget_unfinished(beside_);
}

bool Output::flush() {
    const bool done = write_all(file_, buffer_);
    buffer_.clear();
    return done;
}

Problems Output::write(std::string_view bytes) {
    constexpr std::size_t at_once = 1U << 16U;
    written_ = written_ || !bytes.empty();
    buffer_ += ::isatty(file_) == 1 ? printable_lines(bytes) : std::string(bytes);
    if (buffer_.size() < at_once || flush()) return {};
    return {fault(errno)};
}

Problems Output::finish() {
    if (!flush()) return {fault(errno)};
    if (!beside_.empty() && ::fsync(file_) != 0) return {fault(errno)};
    const int file = std::exchange(file_, -1);
    if (file > STDERR_FILENO && ::close(file) != 0) return {fault(errno)};
    if (beside_.empty()) return {};
    if (::rename(beside_.c_str(), target_.c_str()) != 0) return {fault(errno)};
    forget_unfinished(beside_);
    beside_.clear();
    sync_folder_of(target_);  // the file is in its place whether or not this works
    return {};
}

Problems write_file(const std::string& path, std::string_view bytes) {
    Result<Output> output = Output::open(path);
    if (!output) return output.problems();
    if (Problems problems = output->write(bytes); !problems.empty()) return problems;
    return output->finish();
}

Problems refuse_inputs(const std::string& output, std::span<const std::string> inputs, const std::string& flag) {
    struct stat written {};
    if (output == "-" || !stat_of(output, written)) return {};
    for (const std::string& input : inputs) {
        struct stat read {};
        if (!stat_of(input, read) || read.st_dev != written.st_dev || read.st_ino != written.st_ino) continue;
        return {{flag, 0, "is the file that is read (" + input + ")", "name another file"}};
    }
    return {};
}

bool write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t wrote = ::write(file, bytes.data(), bytes.size());
        if (wrote < 0 && errno != EINTR) return false;
        if (wrote > 0) bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return true;
}

bool sync_folder_of(const std::string& path) {
    const fs::path folder = fs::path(path).parent_path();
    const int file = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool kept = file >= 0 && ::fsync(file) == 0;
    if (file >= 0) ::close(file);
    return kept;
}

void occupy_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0) continue;
        ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // takes the lowest place that is free
    }
}

void remove_unfinished() noexcept {
    if (unfinished_name[0] != '\0') ::unlink(unfinished_name);
}

}  // namespace tilewright::files
