// `plan`: how to split a model over the GPUs of a cluster, to train it or to serve it.
#include <algorithm>
#include <cmath>

#include "cli/options.h"
#include "cli/verb.h"
#include "render/answers.h"

namespace tilewright::cli {
namespace {

template <class T>
void fix(const Arguments& arguments, const char* flag, std::vector<T>& list) {
    if (const auto value = arguments.count(flag)) list = {static_cast<T>(*value)};
}

Result<PlanSpace> space_of(const Arguments& arguments, const Workload& base) {
    PlanSpace space;
    fix(arguments, "--tp", space.tp);
    fix(arguments, "--pp", space.pp);
    fix(arguments, "--dp", space.dp);
    fix(arguments, "--cp", space.cp);
    fix(arguments, "--ep", space.ep);
    fix(arguments, "--batch", space.micro_batch);
    fix(arguments, "--virtual-stages", space.virtual_stages);
    fix(arguments, "--zero", space.zero_stage);
    if (const auto recompute = arguments.choice<Recompute>("--recompute")) space.recompute = {*recompute};
    space.gpus = arguments.count("--gpus").value_or(8);
    const std::int64_t keep = arguments.count("--keep").value_or(5);
    if (keep < 1) return Problem{"--keep", 0, "must be at least 1", "say how many plans to show"};
    space.keep = static_cast<std::size_t>(keep);
    if (space.gpus < 1) return Problem{"--gpus", 0, "must be at least 1", "say how many GPUs there are"};
    const Result<std::int64_t> batch =
        read_batch(arguments.text("--global-batch").value_or("4M-tokens"), base.seq, "--global-batch");
    if (!batch) return batch.problems();
    space.global_batch = *batch;
    return space;
}

constexpr const char* tried_in_plans[] = {"--micro-batches", "--sequence-parallel"};

Result<int> plan_training(const Arguments& arguments, Question question, Session& session) {
    if (Problems bad = refuse_flags(arguments, tried_in_plans, "in a plan, which finds it by itself"); !bad.empty())
        return bad;
    const Result<PlanSpace> space = space_of(arguments, question.workload);
    if (!space) return space.problems();
    const auto text = arguments.text("--tokens");
    const std::optional<double> tokens = text ? read_amount(*text) : std::nullopt;
    const std::optional<double> price = arguments.real("--price");
    if (price && *price < 0) return Problem{"--price", 0, "is negative", "say 2.5"};
    if (text && !(tokens && *tokens > 0))
        return Problem{"--tokens", 0, "'" + *text + "' is no number of tokens", "say 300B or 2T"};
    const PlanAnswer answer =
        plan({std::move(question), *space, tokens, price, arguments.text("--cluster").value_or("")});
    say(session, answer, render::plan_json, render::plan_text);
    return answer.found.plans.empty() ? exit_findings : exit_fine;
}

Result<int> plan_serving(const Arguments& arguments, Question question, Session& session) {
    Result<ServeQuestion> asked = serve_question(arguments, std::move(question));
    if (!asked) return asked.problems();
    const Result<ServeAnswer> answer = serve_load(*asked);
    if (!answer) return answer.problems();
    say(session, *answer, render::served_json, render::served_text);
    return answer->found.plans.empty() || !answer->found.plans.front().within ? exit_findings : exit_fine;
}

constexpr const char* not_of_batches[] = {
    "--gpus", "--price",  "--keep",      "--global-batch",   "--tokens",
    "--pp",   "--dp",     "--zero",      "--virtual-stages", "--micro-batches",
    "--cp",   "--master", "--recompute", "--overlap",        "--sequence-parallel"};

Result<int> plan_batches(const Arguments& arguments, const Question& question, Session& session) {
    ServingSpace space;
    if (arguments.has("--tp")) space.tp = question.workload.parallel.tp;
    if (arguments.has("--batch")) space.batch = question.workload.batch;
    const ServingAnswer answer = serve(question, space);
    say(session, answer, render::serving_json, render::serving_text);
    return answer.serving.points.empty() ? exit_findings : exit_fine;
}

}  // namespace

std::vector<FlagGroup> plan_flags() {
    return {device_flags(),
            {"Plan",
             {{"--gpus", "N", "GPUs to use (8)", Kind::Count},
              {"--global-batch", "N|N-tokens", "sequences or tokens of one step (4M-tokens)", Kind::Text},
              {"--keep", "N", "how many plans to show (5)", Kind::Count},
              {"--tokens", "N", "tokens to train on (20 for each active parameter)", Kind::Text},
              {"--price", "X", "of one GPU-hour", Kind::Real}}},
            load_flags(),
            serving_workload_flags(),
            shape_flags(),
            output_flags()};
}

Result<int> run_plan(const Arguments& arguments, Session& session) {
    Result<Question> question = make_question(arguments, arguments.operands[0], session);
    if (!question) return question.problems();
    Problems bad = check_load_flags(arguments);
    if (bad.empty()) bad = misfit(arguments, *question);
    const bool batches = !serves_load(arguments) && question->workload.phase != Phase::Train;
    if (bad.empty() && batches) bad = refuse_flags(arguments, not_of_batches, "when batches are served, not a load");
    if (!bad.empty()) return bad;
    if (serves_load(arguments)) return plan_serving(arguments, std::move(*question), session);
    if (question->workload.phase == Phase::Train) {
        if (!arguments.has("--runtime")) run_by(question->workload, RuntimeId::Megatron, arguments);
        return plan_training(arguments, std::move(*question), session);
    }
    return plan_batches(arguments, *question, session);
}

}  // namespace tilewright::cli
