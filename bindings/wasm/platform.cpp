// Stands in for files, terminal, signals and threads, under the names that the program uses. What a page cannot do is
// refused in words, as any other bad input is.
#include "platform.h"

#include "cli/catalogue.h"
#include "cli/files.h"
#include "cli/host.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/search.h"
#include "cli/verb.h"
#include "cli/write_configs.h"
#include "files/output.h"
#include "read/gzip.h"
#include "render/style.h"

/// A module has one thread, which never ends.
extern "C" int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }

namespace tilewright {
namespace {

Problem not_here(const std::string& what) {
    return {what, 0, "cannot be done in a page", "take the program: tilewright " + what + " --help"};
}

}  // namespace

namespace wasm {

std::map<std::string, std::string>& files() {
    static std::map<std::string, std::string> kept;
    return kept;
}

std::string& said() {
    static std::string text;
    return text;
}

}  // namespace wasm

namespace files {

Result<std::string> read_whole(const std::string& path, std::size_t /*limit*/) {
    const auto found = wasm::files().find(path);
    if (found != wasm::files().end()) return found->second;
    return Problem{path, 0, "cannot be read: No such file or directory", "check the path"};
}

Result<std::string> read_head(const std::string& path, std::size_t limit) { return read_whole(path, limit); }

Result<Output> Output::open(const std::string& path, Unfinished /*unfinished*/) {
    if (path != "-") return Problem{path, 0, "cannot be written by a page", "leave it out"};
    return Output();
}
Output::Output(Output&&) noexcept = default;
Output::~Output() = default;
Problems Output::write(std::string_view /*bytes*/) { return {}; }
Problems Output::finish() { return {}; }
Problems write_file(const std::string& path, std::string_view) {
    return {{path, 0, "cannot be written by a page", "leave it out"}};
}
Problems refuse_inputs(const std::string&, std::span<const std::string>, const std::string&) { return {}; }

}  // namespace files

/// The page unpacks what is dropped on it.
namespace read {

bool is_gzip(std::string_view) { return false; }
Result<std::string> gunzip(std::string_view, const std::string& where, std::size_t) {
    return Problem{where, 0, "is compressed", "unpack it first"};
}

}  // namespace read

namespace cli {

bool is_file(const std::string& path) { return wasm::files().contains(path); }
std::string user_folder(const std::string&) { return ""; }
std::vector<std::string> user_names(const std::string&) { return {}; }
std::string user_file(const std::string&, const std::string&) { return ""; }
Result<std::vector<std::string>> expand_patterns(const std::vector<std::string>& operands) { return operands; }
std::string beside(const std::string&, const std::string& name) { return name; }

/// As piped, in a UTF-8 locale.
Session open_session() {
    const render::Style plain{100, false, true};
    return {plain, plain, ""};
}
void warn(const Session& session, std::string_view what) {
    wasm::said() += render::warning_text(what, session.err_style);
}
void report(const Session& session, const Problems& problems) {
    wasm::said() += render::problems_text(problems, session.err_style);
}
bool deliver(const Session&) { return true; }

void remember_interrupts() {}
bool interrupted() { return false; }

std::size_t core_count() { return 1; }
Walk walk_on(std::size_t) {
    return [](const Search& search) {
        Kept kept;
        for (std::size_t slice = 0; slice < search.slices(); ++slice) kept.merge(search.walk(slice), search.keep());
        return search.finish(kept);
    };
}

Progress::Progress(std::string unit, Stdout) : unit_(std::move(unit)), visible_(false) {}
Progress::~Progress() = default;
void Progress::step() {}

Problems ConfigFolder::open(const std::string&, const std::string&) { return {not_here("search --write")}; }
Problems ConfigFolder::write(const SearchAnswer&, const Session&) const { return {}; }

std::vector<FlagGroup> fit_flags() { return {output_flags()}; }
std::vector<FlagGroup> profile_flags() { return {output_flags()}; }
Result<int> run_profile(const Arguments&, Session&) { return not_here("profile"); }
Result<std::string> local_gpu() { return not_here("profile"); }
Result<std::string> gpu_named(const std::string& name) { return name == "local" ? local_gpu() : name; }
double age_days(const std::string&) { return 0.0; }
std::vector<FlagGroup> report_flags() { return {output_flags()}; }
std::vector<FlagGroup> reproduce_flags() { return {output_flags()}; }
std::vector<FlagGroup> samples_flags() { return {output_flags()}; }
Result<int> run_fit(const Arguments&, Session&) { return not_here("fit"); }
Result<int> run_prove(const Arguments&, Session&) { return not_here("prove"); }
std::vector<FlagGroup> prove_flags() { return {output_flags()}; }
Result<int> run_report(const Arguments&, Session&) { return not_here("report"); }
Result<int> run_reproduce(const Arguments&, Session&) { return not_here("reproduce"); }
Result<int> run_samples(const Arguments&, Session&) { return not_here("samples"); }
std::vector<FlagGroup> mcp_flags() { return {output_flags()}; }
Result<int> run_mcp(const Arguments&, Session&) { return not_here("mcp"); }
int run_measure_program(std::span<const std::string>, const Session& session) {
    report(session, {not_here("measure")});
    return exit_device;
}
int measure_host(const Session& session) { return run_measure_program({}, session); }

}  // namespace cli
}  // namespace tilewright
