// One verb of the program: its help page, its flags, and the function that answers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "cli/terminal.h"

namespace tilewright::cli {

inline constexpr std::string_view version = "0.2.0";  ///< as CMakeLists.txt has it; tests/cli_test.cpp compares them

/// Runs a verb: the exit code with the answer in `session.out`, or what is wrong with what was asked.
using Run = Result<int> (*)(const Arguments& arguments, Session& session);

struct Verb {
    std::string_view name;
    std::string_view operands;  ///< as the usage line shows them
    std::string_view summary;   ///< one line
    std::string_view about;     ///< a paragraph or more, wrapped by help; paragraphs end in a line break
    std::string_view examples;  ///< commands that run as they stand in the project's folder, one a line
    OperandCount operand_count;
    std::vector<FlagGroup> (*flags)();
    Run run;
};

/// Every verb, in the order of help.
std::span<const Verb> verbs();

const Verb* find_verb(std::string_view name);

/// What was typed after a verb, checked against its flags; a runtime goes by its name.
Result<Arguments> arguments_of(const Verb& verb, std::span<const std::string> typed);

/// Runs what was typed after the program's name; the exit code.
int dispatch(std::span<const std::string> typed, Session& session);

/// The page of one verb, and of the program.
std::string help_text(const Verb& verb, const render::Style& style);
std::string overview_text(const render::Style& style);

/// docs/cli.md: all of these pages, with the flags that verbs share said once.
std::string reference_text();

/// The verbs, one file each; `flags` are those of its own and those it shares.
Result<int> run_advise(const Arguments& arguments, Session& session);
std::vector<FlagGroup> advise_flags();
Result<int> run_predict(const Arguments& arguments, Session& session);
std::vector<FlagGroup> predict_flags();
Result<int> run_lint(const Arguments& arguments, Session& session);
std::vector<FlagGroup> lint_flags();
Result<int> run_search(const Arguments& arguments, Session& session);
std::vector<FlagGroup> search_flags();
Result<int> run_prove(const Arguments& arguments, Session& session);
std::vector<FlagGroup> prove_flags();
Result<int> run_plan(const Arguments& arguments, Session& session);
std::vector<FlagGroup> plan_flags();
Result<int> run_compare(const Arguments& arguments, Session& session);
std::vector<FlagGroup> compare_flags();
Result<int> run_report(const Arguments& arguments, Session& session);
std::vector<FlagGroup> report_flags();
Result<int> run_profile(const Arguments& arguments, Session& session);
std::vector<FlagGroup> profile_flags();
Result<int> run_fit(const Arguments& arguments, Session& session);
std::vector<FlagGroup> fit_flags();
FlagGroup learning_flags();  ///< that `profile` and `fit` share
Result<int> run_reproduce(const Arguments& arguments, Session& session);
std::vector<FlagGroup> reproduce_flags();
Result<int> run_models(const Arguments& arguments, Session& session);
Result<int> run_devices(const Arguments& arguments, Session& session);
Result<int> run_runtimes(const Arguments& arguments, Session& session);
std::vector<FlagGroup> catalogue_flags();
Result<int> run_samples(const Arguments& arguments, Session& session);
std::vector<FlagGroup> samples_flags();
Result<int> run_mcp(const Arguments& arguments, Session& session);
std::vector<FlagGroup> mcp_flags();

/// Hands the rest of the command line to `tilewright-measure`; returns only when that program cannot be run.
int run_measure_program(std::span<const std::string> arguments, const Session& session);

/// Runs it and waits, what it says going to stderr; its exit code, or that of device trouble when it cannot be run.
int wait_for_measure_program(const std::vector<std::string>& arguments, const Session& session);

/// `predict KIND --from FILE.csv`: rows in, the same rows out with the prediction's columns added.
bool is_bulk_kind(std::string_view name);
Result<int> predict_in_bulk(const Arguments& arguments, Session& session);
/// Flags that mean nothing where each row says what it is.
Problems refuse_for_rows(const Arguments& arguments, std::string_view kind);

/// `predict GRAPH.json`, a file that tilewright_capture wrote.
bool is_captured(const std::string& operand);
Result<int> predict_captured(const Arguments& arguments, Session& session);

/// `compare SHAPE --gpu A,B,…`: which GPU to use.
bool names_several_gpus(const Arguments& arguments);
Result<int> run_compare_gpus(const Arguments& arguments, Session& session);

/// What a shell and `man` read, made from the table of verbs and flags; `cmake --install` puts it where they look.
std::string bash_completion();
std::string zsh_completion();
std::string man_page();  ///< roff, section 1

}  // namespace tilewright::cli
