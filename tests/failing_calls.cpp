// Loaded before the C library into a program under test: the call that TILEWRIGHT_FAIL_CALL numbers, among those that
// put a file on the disk, kills the program or fails. A write is done by half first, as a full disk would. The same for
// memory (TILEWRIGHT_FAIL_NEW numbers the request that is refused) and threads (no more than TILEWRIGHT_FAIL_THREADS).
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
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

/// The variable's number; -1 when it is not set.
long number_of(const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? -1 : std::atol(text);
}

}  // namespace

void* operator new(std::size_t size) {
    static std::atomic<long> left = number_of("TILEWRIGHT_FAIL_NEW");
    if (left.load() > 0 && left.fetch_sub(1) == 1) throw std::bad_alloc();
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
    static std::atomic<long> left = number_of("TILEWRIGHT_FAIL_THREADS");
    if (left.load() == 0 || (left.load() > 0 && left.fetch_sub(1) == 1)) return EAGAIN;
    using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    return real<Create>("pthread_create")(thread, attributes, start, argument);
}

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
