// `measure host`: a Python file that travels in the program where torch is there, a loop of launches in
// tilewright-measure otherwise. The result is a file of one number, which predictions name when they use it.
#include "cli/host.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "cli/files.h"
#include "files/output.h"
#include "quantity/printable.h"
#include "read/document.h"
#include "read/embedded.h"
#include "render/json.h"
#include "tilewright/read.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

constexpr double launch_there_us = 3.56;  ///< an empty kernel on the host of an H200 (data/samples/h200/peaks.jsonl.gz)

struct Taken {
    double scale = 1.0;
    std::string with;  ///< what measured it
};

std::string read_pipe(int end) {
    std::string out;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(end, buffer, sizeof buffer)) > 0;)
        out.append(buffer, static_cast<std::size_t>(got));
    close(end);
    return out;
}

/// What python3 prints when it runs the script; empty when it fails.
std::string python_says(std::string_view script) {
    int ends[2];
    if (pipe(ends) != 0) return "";
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        for (const int end : ends) close(end);
        execlp("python3", "python3", "-c", std::string(script).c_str(), static_cast<char*>(nullptr));
        _exit(exit_device);
    }
    close(ends[1]);
    const std::string said = read_pipe(ends[0]);
    int status = 0;
    const bool fine = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return fine ? said : "";
}

/// Without what would end a string of TOML.
std::string toml_text(std::string_view text) {
    std::string out = printable(text);
    std::erase_if(out, [](char c) { return c == '"' || c == '\\'; });
    return out;
}

std::optional<Taken> taken_by_python() {
    for (const embedded::File& file : embedded::python()) {
        const std::string said = python_says(file.text);
        if (said.empty()) return std::nullopt;
        const Result<read::Value> answer = read::read_json(said, "tilewright_host.py");
        const auto scale = answer ? scale_in(answer->find("scale")) : std::nullopt;
        const read::Value* with = answer ? answer->find("with") : nullptr;
        const auto* text = with == nullptr ? nullptr : with->as<std::string>();
        if (scale) return Taken{*scale, text == nullptr ? "PyTorch" : toml_text(*text)};
    }
    return std::nullopt;
}

std::optional<Taken> taken_from(const std::vector<Sample>& samples) {
    for (const Sample& sample : samples) {
        if (sample.op == "launch" && find_field(sample.sizes, "kind") == "eager" && sample.time.median_us > 0)
            return Taken{sample.time.median_us / launch_there_us, "a loop of launches, without PyTorch"};
    }
    return std::nullopt;
}

std::optional<Taken> taken_by_launches(const Session& session) {
    std::error_code ignored;
    const fs::path folder = fs::temp_directory_path(ignored);
    const std::string path = (folder / ("tilewright-launch-" + std::to_string(getpid()) + ".jsonl")).string();
    const int code = wait_for_measure_program({"launch", "--kind", "eager", "--out", path}, session);
    const Result<std::string> bytes = code == exit_fine ? read_whole(path) : Result<std::string>(Problem{});
    fs::remove(path, ignored);
    if (!bytes) return std::nullopt;
    const Result<SampleFile> file = read_samples(*bytes, path);
    return file ? taken_from(file->samples) : std::nullopt;
}

/// Writes it into the user's folder, which is there; the line that says so.
Result<std::string> kept(const Taken& taken) {
    const std::string path = host_file();
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    const std::string text =
        "# how many times longer this machine's host takes than the one that runtimes were measured on\nscale = " +
        render::number_text(taken.scale) + "\nwith = \"" + taken.with + "\"\n";
    if (Problems bad = files::write_file(path, text); !bad.empty()) return bad;
    return "host scale " + render::number_text(taken.scale) + " (" + taken.with + "), kept in " + path + "\n";
}

}  // namespace

std::string keep_host(const std::vector<Sample>& samples, const Session& session) {
    if (host_file().empty()) return "";
    std::optional<Taken> taken = taken_by_python();
    if (!taken) taken = taken_from(samples);
    if (!taken) return "";
    const Result<std::string> line = kept(*taken);
    if (!line) report(session, line.problems());
    return line ? *line : "";
}

int measure_host(const Session& session) {
    if (host_file().empty()) {
        report(session,
               {{"measure host", 0, "there is no folder to keep the result in", "set HOME or XDG_CONFIG_HOME"}});
        return exit_bad_input;
    }
    std::optional<Taken> taken = taken_by_python();
    if (!taken) {
        warn(session,
             "python3 has no torch that sees a GPU: launches are timed without PyTorch, whose own time is most of a "
             "host's");
        taken = taken_by_launches(session);
    }
    if (!taken) return exit_device;
    const Result<std::string> line = kept(*taken);
    if (!line) {
        report(session, line.problems());
        return exit_bad_input;
    }
    Session told = session;
    told.out = *line;
    return deliver(told) ? exit_fine : exit_bad_input;
}

}  // namespace tilewright::cli
