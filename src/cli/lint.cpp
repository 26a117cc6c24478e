// `lint`: one shape, or the files of a repository as a gate of CI.
#include <algorithm>

#include "cli/files.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "files/output.h"
#include "quantity/suggest.h"
#include "read/embedded.h"
#include "read/files.h"
#include "render/answers.h"
#include "render/gate.h"
#include "render/json.h"

namespace tilewright::cli {
namespace {

std::string lower_case(std::string_view text) {
    std::string lowered(text);
    std::transform(lowered.begin(), lowered.end(), lowered.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return lowered;
}

Result<int> explain(const std::string& asked, const Arguments& arguments, Session& session) {
    std::vector<std::string> known;
    for (const Rule& rule : rules()) {
        known.emplace_back(rule.code);
        known.emplace_back(rule.name);
        if (lower_case(asked) != lower_case(rule.code) && lower_case(asked) != rule.name) continue;
        for (const embedded::File& page : embedded::rules()) {
            if (page.name == rule.code || page.name == rule.name) session.out = page.text;
        }
        if (session.out.empty()) session.out = std::string(rule.code) + " " + std::string(rule.summary) + "\n";
        if (arguments.has("--json")) {
            render::JsonWriter json;
            json.object().field("schema", "tilewright.rule/1").field("code", rule.code).field("name", rule.name);
            session.out = json.field("page", session.out).end().take();
        }
        return exit_fine;
    }
    const std::string near = did_you_mean(asked, known);
    return Problem{"--explain", 0, "'" + asked + "' is no rule",
                   near.empty() ? "rules are named TW001, TW002, ..." : near};
}

/// The baseline of --baseline; none when it is about to be written.
Result<std::vector<FindingIdentity>> baseline_of(const Arguments& arguments) {
    const auto path = arguments.text("--baseline");
    if (arguments.has("--write-baseline") && !path) {
        return Problem{"--write-baseline", 0, "does not say where to", "add --baseline FILE"};
    }
    std::vector<FindingIdentity> baseline;
    if (!path || arguments.has("--write-baseline")) return baseline;
    const Result<std::string> bytes = read_whole(*path);
    if (!bytes) return bytes.problems();
    const auto rows = read::read_baseline(*bytes, *path);
    if (!rows) return rows.problems();
    for (const read::BaselineRow& row : *rows) baseline.push_back({row.rule, row.file, row.key});
    return baseline;
}

/// Where a file states its sizes; a name of the catalogue, and stdin, have no such places.
GateSource source_of(const Arguments& arguments, const std::string& name) {
    GateSource source{name, is_file(name), {}};
    if (!source.is_file) return source;
    Result<FoundShape> found = find_shape(name, assume_of(arguments));
    if (found) source.places = std::move(found->file.places);
    return source;
}

/// Every file linted, or the problems of all of them.
Result<Gate> gate_of(const Arguments& arguments, LintOptions options, const Session& session) {
    const Result<std::vector<FindingIdentity>> baseline = baseline_of(arguments);
    const Result<std::vector<std::string>> names = expand_patterns(arguments.operands);
    if (!baseline) return baseline.problems();
    if (!names) return names.problems();
    Gate gate;
    gate.fail_on = arguments.choice<Severity>("--fail-on").value_or(Severity::Error);
    Problems problems;
    for (const std::string& name : *names) {
        const Result<Question> question = make_question(arguments, name, session);
        for (const Problem& problem : question ? Problems{} : question.problems()) {
            if (std::find(problems.begin(), problems.end(), problem) == problems.end()) problems.push_back(problem);
        }
        if (question) gate.files.push_back(gate_file(lint(*question, options), source_of(arguments, name), *baseline));
    }
    if (!problems.empty()) return problems;
    return gate;
}

std::string rendered(const Gate& gate, const std::string& format, const Session& session) {
    const bool alone = gate.files.size() == 1;
    if (format == "json") return alone ? render::lint_json(gate.files[0].lint) : render::gate_json(gate);
    if (format == "sarif") return render::gate_sarif(gate, version);
    if (format == "github") return render::gate_github(gate);
    if (format == "junit") return render::gate_junit(gate);
    return render::gate_text(gate, session.out_style);
}

}  // namespace

std::vector<FlagGroup> lint_flags() {
    return {device_flags(),
            workload_flags(),
            {"Findings",
             {{"--fail-on", choices<Severity>(), "exit 1 from this severity on (error)", Kind::Choice},
              {"--min-cost", "SHARE", "share of the step from which a finding is a warning (0.01)", Kind::Real},
              {"--format", "text|json|sarif|github|junit", "for people, or for a CI system (text)", Kind::Choice},
              {"--baseline", "FILE", "findings that are known: only others fail", Kind::Text},
              {"--write-baseline", "", "write the findings of today to --baseline", Kind::Switch},
              {"--explain", "CODE", "print the page of a rule, by code or name", Kind::Text}}},
            shape_flags(),
            output_flags()};
}

Result<int> run_lint(const Arguments& arguments, Session& session) {
    if (const auto code = arguments.text("--explain")) return explain(*code, arguments, session);
    if (arguments.operands.empty())
        return Problem{"", 0, "SHAPE is missing", "say tilewright lint gpt3-2.7b --gpu h200"};
    const LintOptions options{arguments.real("--min-cost").value_or(LintOptions{}.min_cost)};
    if (options.min_cost < 0 || options.min_cost > 1) {
        return Problem{"--min-cost", 0, "is not between 0 and 1", "0.01 means one percent of the step"};
    }
    const std::string format = arguments.text("--format").value_or(arguments.has("--json") ? "json" : "text");
    if (arguments.has("--json") && format != "json") {
        return Problem{"--json", 0, "is given beside --format " + format, "give one of them"};
    }
    const Result<Gate> gate = gate_of(arguments, options, session);
    if (!gate) return gate.problems();
    session.out = rendered(*gate, format, session);
    if (session.both) session.other = rendered(*gate, format == "json" ? "text" : "json", session);
    if (arguments.has("--write-baseline")) {
        const Problems bad = files::write_file(*arguments.text("--baseline"), render::baseline_json(identities(*gate)));
        if (!bad.empty()) return bad;
        return exit_fine;
    }
    return gate->fails() ? exit_findings : exit_fine;
}

}  // namespace tilewright::cli
