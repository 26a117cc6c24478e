// The verbs that look at a shape: `predict`, `compare` and `advise`.
#include "render/answers.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/search.h"
#include "cli/verb.h"
#include "files/output.h"
#include "render/report.h"

namespace tilewright::cli {
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
    if (Problems problems = cannot_run(arguments, *question); !problems.empty()) return problems;
    const Prediction prediction =
        predict(*question, arguments.text("--scope") == "layer" ? Scope::Layer : Scope::Model);
    const bool why = arguments.has("--why");
    say(session, prediction, render::predict_json, [&](const Prediction& shown, const render::Style& style) {
        return render::predict_text(shown, style) + (why ? render::why_text(shown, style) : "");
    });
    return exit_fine;
}

std::vector<FlagGroup> compare_flags() {
    FlagGroup output = output_flags();
    output.flags.insert(output.flags.begin(), {"--report", "FILE", "a page to look at, beside the answer", Kind::Text});
    FlagGroup device = device_flags();
    device.flags.front().help += "; several, or all, for one shape: which one to use";
    device.flags.push_back({"--price", "NAME=X,...", "of one GPU-hour, beside several GPUs: h100=2.5", Kind::Text});
    return {device, workload_flags(), shape_flags(), output};
}

Result<int> run_compare(const Arguments& arguments, Session& session) {
    if (names_several_gpus(arguments)) return run_compare_gpus(arguments, session);
    if (arguments.has("--price"))
        return Problem{"--price", 0, "is for several GPUs", "say --gpu h100,h200 or --gpu all"};
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
    say(session, comparison, render::compare_json, render::compare_text);
    return exit_fine;
}

Problems cannot_run(const Arguments& arguments, const Question& question) {
    Problems problems = misfit(arguments, question);
    const Parallelism& ranks = question.workload.parallel;
    const std::int64_t gpus = ranks.dp * ranks.cp * ranks.tp;
    if (ranks.ep > gpus) {
        problems.push_back(
            {"--ep", 0,
             std::to_string(ranks.ep) + " GPUs cannot share experts where dp, cp and tp make " + std::to_string(gpus),
             "say --dp or --tp as well"});
    }
    return problems;
}

std::vector<FlagGroup> advise_flags() { return {device_flags(), workload_flags(), shape_flags(), output_flags()}; }

Result<int> run_advise(const Arguments& arguments, Session& session) {
    const Result<Question> question = make_question(arguments, arguments.operands[0], session);
    if (!question) return question.problems();
    if (Problems problems = cannot_run(arguments, *question); !problems.empty()) return problems;
    const Advice advice = advise(*question, walk_on(core_count()), patience);
    say(session, advice, render::advise_json, render::advise_text);
    if (interrupted()) return exit_interrupted;
    return advice.prediction.fits ? exit_fine : exit_findings;
}

}  // namespace tilewright::cli
