// Dispatch: find the verb, check what was typed, run, deliver.
#include "cli/terminal.h"

#include <algorithm>

#include "cli/catalogue.h"
#include "cli/host.h"
#include "cli/verb.h"
#include "quantity/suggest.h"

namespace tilewright::cli {
namespace {

int fail(const Session& session, const Problems& problems) {
    report(session, problems);
    return exit_bad_input;
}

Problem unknown_verb(const std::string& word) {
    std::vector<std::string> known;
    for (const Verb& verb : verbs()) known.emplace_back(verb.name);
    const std::string near = did_you_mean(word, known);
    return {word, 0, "is not a verb", near.empty() ? "use " + join_or(known) : near};
}

/// The runtime that is asked for, in the table before anything is asked of it; from here on it goes by its name.
Problems take_runtime(Arguments& arguments) {
    const auto given = arguments.flags.find("--runtime");
    if (given == arguments.flags.end()) return {};
    const Result<FoundRuntime> found = find_runtime_named(given->second);
    if (!found) return found.problems();
    given->second = name_of(found->id);
    arguments.runtime_origin = found->origin;
    return {};
}

/// Whether this machine's GPU was asked for and is not known.
bool misses_local(const Arguments& arguments) {
    const std::vector<std::string> gpus = split(arguments.text("--gpu").value_or(""), ',');
    return std::find(gpus.begin(), gpus.end(), "local") != gpus.end() && !local_gpu();
}

int run_verb(const Verb& verb, std::span<const std::string> typed, Session& session) {
    const Result<Arguments> arguments = arguments_of(verb, typed);
    if (!arguments) return fail(session, arguments.problems());
    int code = exit_fine;
    if (arguments->has("--help")) {
        session.out = help_text(verb, session.out_style);
    } else {
        session.json = arguments->has("--json");
        const Result<int> done = verb.run(*arguments, session);
        if (!done) {
            report(session, done.problems());
            return misses_local(*arguments) ? exit_device : exit_bad_input;
        }
        code = *done;
    }
    return deliver(session) ? code : exit_bad_input;
}

bool asks_help(std::span<const std::string> typed) {
    return typed.size() == 1 && (typed[0] == "--help" || typed[0] == "-h");
}

}  // namespace

Result<Arguments> arguments_of(const Verb& verb, std::span<const std::string> typed) {
    Result<Arguments> arguments = parse_arguments(typed, verb.flags(), verb.operand_count);
    if (!arguments) return arguments;
    if (Problems problems = take_runtime(*arguments); !problems.empty()) return problems;
    return arguments;
}

int dispatch(std::span<const std::string> typed, Session& session) {
    if (typed.empty()) {
        return fail(session, {{"", 0, "a verb is missing",
                               "see tilewright --help, or start with: tilewright advise "
                               "gpt3-2.7b --gpu h200"}});
    }
    const std::string& word = typed.front();
    if (asks_help(typed) || (word == "help" && typed.size() == 1)) session.out = overview_text(session.out_style);
    if (word == "--version" || word == "-V") session.out = "tilewright " + std::string(version) + "\n";
    if (!session.out.empty()) return deliver(session) ? exit_fine : exit_bad_input;
    if (word == "help" && typed.size() == 2) {
        if (typed[1] == "bash") session.out = bash_completion();
        if (typed[1] == "zsh") session.out = zsh_completion();
        if (typed[1] == "man") session.out = man_page();
        if (!session.out.empty()) return deliver(session) ? exit_fine : exit_bad_input;
    }
    if (word == "help" && typed.size() == 2) return dispatch(std::vector<std::string>{typed[1], "--help"}, session);
    const Verb* verb = find_verb(word);
    if (verb == nullptr) return fail(session, {unknown_verb(word)});
    const auto rest = typed.subspan(1);
    if (verb->run == nullptr && rest.size() == 1 && rest[0] == "host") return measure_host(session);
    if (verb->run == nullptr && !asks_help(rest)) {
        return run_measure_program(rest, session);
    }
    return run_verb(*verb, rest, session);
}

}  // namespace tilewright::cli
