// `lint`: findings, their exit code, and the pages of the rules.
#include <algorithm>

#include "cli/options.h"
#include "cli/request.h"
#include "cli/verb.h"
#include "read/embedded.h"
#include "read/suggest.h"
#include "render/answers.h"

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
    const std::string near = read::did_you_mean(asked, known);
    return Problem{"--explain", 0, "'" + asked + "' is no rule",
                   near.empty() ? "rules are named TW001, TW002, ..." : near};
}

}  // namespace

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

}  // namespace tilewright::cli
