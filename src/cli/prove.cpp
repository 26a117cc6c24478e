// `prove`: the search's proposals as a PyTorch program, run on this machine's GPU where there is one.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "cli/options.h"
#include "cli/search.h"
#include "cli/verb.h"
#include "files/output.h"
#include "render/answers.h"

namespace tilewright::cli {
namespace {

/// As the driver shows it.
bool has_gpu() { return std::filesystem::exists("/dev/nvidiactl"); }

/// Runs python3 on the program with this process's output; its exit code.
Result<int> run_python(const std::string& path, bool json) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        execlp("python3", "python3", path.c_str(), json ? "--json" : nullptr, nullptr);
        _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) == 127) {
        return Problem{"python3", 0, "cannot be run", "install Python 3 and torch, or run " + path + " by hand"};
    }
    return WEXITSTATUS(status) == 0 ? exit_fine : exit_device;
}

}  // namespace

std::vector<FlagGroup> prove_flags() {
    std::vector<FlagGroup> groups = search_flags();
    for (FlagGroup& group : groups) {
        std::erase_if(group.flags, [](const Flag& flag) { return flag.name == "--write" || flag.name == "--threads"; });
    }
    groups.insert(groups.begin() + 1, {"Program",
                                       {{"--out", "FILE", "where the program goes (prove.py)", Kind::Text},
                                        {"--no-run", "", "only write it, though there is a GPU", Kind::Switch}}});
    return groups;
}

Result<int> run_prove(const Arguments& arguments, Session& session) {
    const std::string path = arguments.text("--out").value_or("prove.py");
    Result<ReadySearch> ready = ready_search(arguments, session);
    if (!ready) return ready.problems();
    if (Problems problems = cannot_prove(ready->question); !problems.empty()) {
        for (Problem& problem : problems) {
            if (problem.where != "shape") problem.where = flag_of(problem.where);
        }
        return problems;
    }
    const SearchAnswer answer = search(ready->question, ready->prepared, walk_on(core_count()));
    const Result<Proof> proof = prove(ready->question, answer);
    if (!proof) return proof.problems();
    if (Problems problems = files::write_file(path, render::prove_program(*proof)); !problems.empty()) return problems;
    const bool runs = has_gpu() && !arguments.has("--no-run"), json = arguments.has("--json");
    if (runs) return run_python(path, json);
    session.out = json ? render::prove_json(*proof, path) : render::prove_text(*proof, path, session.out_style);
    return exit_fine;
}

}  // namespace tilewright::cli
