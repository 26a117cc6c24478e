// Loaded before the C library into a program under test: the call that TILEWRIGHT_FAIL_CALL numbers, among those that
// put a file on the disk, kills the program or fails. A write is done by half first, as a full disk would.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Whether this call is the one; a kill does not come back.
bool fails() {
    static const char* const which = std::getenv("TILEWRIGHT_FAIL_CALL");
    static int left = which == nullptr ? 0 : std::atoi(which);
    if (left == 0 || --left > 0) return false;
    const char* how = std::getenv("TILEWRIGHT_FAIL_HOW");
    const std::string_view word = how == nullptr ? "kill" : how;
    if (word == "kill") raise(SIGKILL);
    errno = word == "space" ? ENOSPC : EIO;
    return true;
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t size) {
    const auto call = real<ssize_t(int, const void*, size_t)>("write");
    if (file <= STDERR_FILENO) return call(file, bytes, size);
    const ssize_t half = size > 1 ? call(file, bytes, size / 2) : 0;
    if (fails()) return -1;
    const ssize_t rest = call(file, static_cast<const char*>(bytes) + half, size - static_cast<size_t>(half));
    return rest < 0 ? rest : half + rest;
}

int fsync(int file) { return fails() ? -1 : real<int(int)>("fsync")(file); }

int rename(const char* from, const char* to) {
    return fails() ? -1 : real<int(const char*, const char*)>("rename")(from, to);
}
}
