// `measure` is a program of its own, the only one with CUDA; this finds and becomes it.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/interrupt.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;
constexpr const char* program = "tilewright-measure";

std::string find_in(const std::vector<fs::path>& folders, const std::string& name) {
    for (const fs::path& folder : folders) {
        const std::string candidate = (folder / name).string();
        if (!folder.empty() && access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return "";
}

std::string find_on_path(const std::string& name) {
    std::vector<fs::path> folders;
    if (const char* path = std::getenv("PATH")) {
        for (const std::string& folder : split(path, ':')) folders.emplace_back(folder);
    }
    return find_in(folders, name);
}

/// Beside this program, then along PATH; empty when it is nowhere.
std::string find_program() {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    const std::string beside = error ? "" : find_in({self.parent_path()}, program);
    return beside.empty() ? find_on_path(program) : beside;
}

/// Builds it in the folder of this program, where that is a build folder and nvcc is there; whether it is there then.
bool build_program() {
    std::error_code error;
    const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
    if (error || !fs::exists(folder / "CMakeCache.txt", error)) return false;
    if (find_on_path("nvcc").empty() && !fs::exists("/usr/local/cuda/bin/nvcc", error)) return false;
    const std::string quoted = "'" + folder.string() + "'";
    const std::string command = "{ cmake -DTILEWRIGHT_MEASURE=ON " + quoted + " && cmake --build " + quoted +
                                " --target tilewright_measure_program; } >&2";
    return folder.string().find('\'') == std::string::npos && std::system(command.c_str()) == 0;
}

/// Becomes the program, which must be there; returns only when it cannot be run.
int become(const std::string& path, std::span<const std::string> arguments, const Session& session) {
    std::vector<std::string> words = {path};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(path.c_str(), pointers.data());
    report(session, {{path, 0, std::string("cannot be run: ") + std::strerror(errno), "build it again"}});
    return exit_device;
}

int report_missing(const Session& session) {
    report(session, {{program, 0, "is neither beside this program nor on PATH",
                      "it is built when the CUDA toolkit (nvcc) is present: install the toolkit and build again"}});
    return exit_device;
}

}  // namespace

int run_measure_program(std::span<const std::string> arguments, const Session& session) {
    const std::string path = find_program();
    return path.empty() ? report_missing(session) : become(path, arguments, session);
}

int wait_for_measure_program(const std::vector<std::string>& arguments, const Session& session) {
    std::string path = find_program();
    if (path.empty() && build_program()) path = find_program();
    if (path.empty()) return report_missing(session);
    const pid_t child = fork();
    if (child == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        _exit(become(path, arguments, session));
    }
    remember_interrupts();  // it gets them too, finishes the sample under way and says so
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) != child) {
        if (errno != EINTR) return exit_device;
    }
    end_on_interrupt();
    if (child < 0) return exit_device;
    return WIFEXITED(status) ? WEXITSTATUS(status) : exit_device;
}

}  // namespace tilewright::cli
