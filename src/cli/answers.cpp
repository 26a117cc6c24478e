// The verbs that look at a shape: `predict`, `compare`, `lint` and `advise`.
#include <algorithm>

#include "cli/bulk.h"
#include "cli/captured.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/search_threads.h"
#include "cli/verb.h"
#include "files/output.h"
#include "quantity/suggest.h"
#include "read/embedded.h"
#include "render/answers.h"
#include "render/report.h"

namespace tilewright::cli {
namespace {

std::string lower_case(std::string_view text) {
    std::string lowered(text);
    std::transform(lowered.begin(), lowered.end(), lowered.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return lowered;
}

Result<int> explain(const std::string& asked, Session& session) {
    std::vector<std::string> known;
    for (const Rule& rule : rules()) {
        known.emplace_back(rule.code);
        known.emplace_back(rule.name);
        if (lower_case(asked) != lower_case(rule.code) && lower_case(asked) != rule.name) continue;
        for (const embedded::File& page : embedded::rules()) {
            if (page.name == rule.code || page.name == rule.name) session.out = page.text;
        }
        if (session.out.empty()) session.out = std::string(rule.code) + " " + std::string(rule.summary) + "\n";
        return exit_fine;
    }
    const std::string near = did_you_mean(asked, known);
    return Problem{"--explain", 0, "'" + asked + "' is no rule",
                   near.empty() ? "rules are named TW001, TW002, ..." : near};
}

}  // namespace

std::vector<FlagGroup> predict_flags() {
    return {device_flags(),
            workload_flags(),
            {"Prediction",
             {{"--scope", "layer|model", "one layer, or the whole step (model)", Kind::Choice},
              {"--why", "", "every kernel and the terms its time is made of", Kind::Switch}}},
            {"In bulk",
             {{"--from", "FILE.csv", "price every row of this file; - for stdin", Kind::Text},
              {"--output", "FILE", "write there instead of stdout", Kind::Text},
              {"--keep-going", "", "leave the columns of a bad row empty instead of stopping", Kind::Switch}}},
            shape_flags(),
            output_flags()};
}

Result<int> run_predict(const Arguments& arguments, Session& session) {
    const std::string& operand = arguments.operands[0];
    if (arguments.has("--from")) return predict_in_bulk(arguments, session);
    for (const char* flag : {"--output", "--keep-going"}) {
        if (arguments.has(flag)) return Problem{flag, 0, "is for predictions in bulk", "add --from FILE.csv"};
    }
    if (is_bulk_kind(operand)) {
        return Problem{operand, 0, "is predicted from a file",
                       "say tilewright predict " + operand + " --from FILE.csv"};
    }
    if (is_captured(operand)) return predict_captured(arguments, session);
    const Result<Question> question = make_question(arguments, operand, session);
    if (!question) return question.problems();
    if (Problems problems = misfit(arguments, *question); !problems.empty()) return problems;
    const Prediction prediction =
        predict(*question, arguments.text("--scope") == "layer" ? Scope::Layer : Scope::Model);
    if (arguments.has("--json")) {
        session.out = render::predict_json(prediction);
        return exit_fine;
    }
    session.out = render::predict_text(prediction, session.out_style);
    if (arguments.has("--why")) session.out += render::why_text(prediction, session.out_style);
    return exit_fine;
}

std::vector<FlagGroup> compare_flags() {
    FlagGroup output = output_flags();
    output.flags.insert(output.flags.begin(), {"--report", "FILE", "a page to look at, beside the answer", Kind::Text});
    return {device_flags(), workload_flags(), shape_flags(), output};
}

Result<int> run_compare(const Arguments& arguments, Session& session) {
    const bool with_itself = arguments.operands.size() == 1;
    if (with_itself && !overrides_shape(arguments)) {
        return Problem{"", 0, "there is nothing to compare with", "name another shape, or change this one: --heads 20"};
    }
    std::vector<Asked> shapes;
    if (with_itself) shapes.push_back({arguments.operands[0], Overrides::Ignore});
    for (const std::string& name : arguments.operands) shapes.push_back({name});
    const Result<std::vector<Question>> questions = make_questions(arguments, shapes, session);
    if (!questions) return questions.problems();
    const auto path = arguments.text("--report");
    if (path) {
        if (Problems bad = files::refuse_inputs(*path, arguments.operands, "--report"); !bad.empty()) return bad;
    }
    Result<files::Output> page = files::Output::open(path.value_or("-"));
    if (!page) return page.problems();
    const Comparison comparison = compare(*questions);
    if (path) {
        if (Problems bad = page->write(render::compare_html(comparison)); !bad.empty()) return bad;
        if (Problems bad = page->finish(); !bad.empty()) return bad;
    }
    session.out = arguments.has("--json") ? render::compare_json(comparison)
                                          : render::compare_text(comparison, session.out_style);
    return exit_fine;
}

std::vector<FlagGroup> lint_flags() {
    return {device_flags(),
            workload_flags(),
            {"Findings",
             {{"--fail-on", choices<Severity>(), "exit 1 from this severity on (error)", Kind::Choice},
              {"--min-cost", "SHARE", "share of the step from which a finding is a warning (0.01)", Kind::Real},
              {"--explain", "CODE", "print the page of a rule, by code or name", Kind::Text}}},
            shape_flags(),
            output_flags()};
}

Result<int> run_lint(const Arguments& arguments, Session& session) {
    if (const auto code = arguments.text("--explain")) return explain(*code, session);
    if (arguments.operands.empty())
        return Problem{"", 0, "SHAPE is missing", "say tilewright lint gpt3-2.7b --gpu h200"};
    const LintOptions options{arguments.real("--min-cost").value_or(LintOptions{}.min_cost)};
    if (options.min_cost < 0 || options.min_cost > 1) {
        return Problem{"--min-cost", 0, "is not between 0 and 1", "0.01 means one percent of the step"};
    }
    const Result<Question> question = make_question(arguments, arguments.operands[0], session);
    if (!question) return question.problems();
    const Lint found = lint(*question, options);
    session.out = arguments.has("--json") ? render::lint_json(found) : render::lint_text(found, session.out_style);
    const Severity level = arguments.choice<Severity>("--fail-on").value_or(Severity::Error);
    const bool fails = std::any_of(found.findings.begin(), found.findings.end(),
                                   [&](const Finding& finding) { return finding.severity >= level; });
    return fails ? exit_findings : exit_fine;
}

std::vector<FlagGroup> advise_flags() { return {device_flags(), workload_flags(), shape_flags(), output_flags()}; }

Result<int> run_advise(const Arguments& arguments, Session& session) {
    const Result<Question> question = make_question(arguments, arguments.operands[0], session);
    if (!question) return question.problems();
    if (Problems problems = misfit(arguments, *question); !problems.empty()) return problems;
    const Advice advice = advise(*question, walk_on(core_count()), patience);
    session.out =
        arguments.has("--json") ? render::advise_json(advice) : render::advise_text(advice, session.out_style);
    return interrupted() ? exit_interrupted : exit_fine;
}

}  // namespace tilewright::cli
