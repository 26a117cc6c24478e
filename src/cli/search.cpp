// `search`: faster shapes of equal size, on one GPU or a basket of them.
#include "cli/search.h"

#include <chrono>
#include <cmath>

#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "cli/write_configs.h"
#include "render/answers.h"
#include "render/units.h"
#include "render/words.h"

namespace tilewright::cli {
namespace {

/// The question on the first GPU of --gpu, with the others beside it.
Result<SearchQuestion> ask(const Arguments& arguments, const Session& session) {
    const auto text = arguments.text("--gpu");
    const Result<std::vector<Weighted>> names = basket(text.value_or("?"));
    if (!names) return names.problems();
    if (names->size() > 1 && arguments.has("--profile")) {
        return Problem{"--profile", 0, "is given beside several GPUs", "give one GPU"};
    }
    Arguments first = arguments;
    if (text) first.flags["--gpu"] = names->front().name;
    Result<Question> question = make_question(first, arguments.operands[0], session);
    if (!question) return question.problems();
    SearchQuestion asked{std::move(*question), names->front().weight, {}, {}};
    for (std::size_t i = 1; i < names->size(); ++i) {
        const Result<FoundDevice> found = find_gpu((*names)[i].name);
        if (!found) return found.problems();
        asked.others.push_back({found->device, found->profile, (*names)[i].weight});
    }
    const Result<SearchOptions> options = search_options(arguments, asked.question.shape);
    if (!options) return options.problems();
    asked.options = *options;
    return asked;
}

Problems check_size(const Arguments& arguments, Search& search) {
    const double size = search.size_bound();
    if (const auto limit = arguments.count("--limit")) {
        if (*limit < 1) return {{"--limit", 0, "is not positive", "say --limit 1000000"}};
        search.coarsen(static_cast<double>(*limit));
        if (!std::isinf(search.size_bound())) return {};
        return {{"--limit", 0, "cannot widen the steps of this space so far", "narrow a range or fix a dimension"}};
    }
    if (size <= largest_space) return {};
    const std::string many = std::isinf(size) ? "more shapes than can be listed"
                                              : "about " + render::grouped_text(size) + " shapes, more than a billion";
    return {{"search", 0, "the space has " + many,
             "take wider steps (--step), fix a dimension (--fix), or let --limit 100000000 widen the steps"}};
}

}  // namespace

std::vector<FlagGroup> search_flags() {
    std::vector<FlagGroup> groups = search_flag_groups();
    groups.insert(groups.begin(), device_flags());
    groups.front().flags.front().help += "; several with weights: h100:0.5,a100:0.3";
    groups.push_back(output_flags());
    return groups;
}

Result<ReadySearch> ready_search(const Arguments& arguments, const Session& session) {
    Result<SearchQuestion> asked = ask(arguments, session);
    if (!asked) return asked.problems();
    const Question& question = asked->question;
    const Result<std::vector<std::string>> notes = padding_notes(question.shape, question.workload);
    if (!notes) return misfit(arguments, question);
    for (const std::string& note : *notes) warn(session, note);
    if (asked->options.budget.time && !asked->others.empty()) {
        return Problem{"--time", 0, "is given beside several GPUs", "give one GPU"};
    }
    Search prepared = prepare(*asked);
    if (Problems problems = check_size(arguments, prepared); !problems.empty()) return problems;
    return ReadySearch{std::move(*asked), std::move(prepared)};
}

Result<int> run_search(const Arguments& arguments, Session& session) {
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t threads = arguments.count("--threads").value_or(static_cast<std::int64_t>(core_count()));
    if (threads < 1 || threads > 1024) return Problem{"--threads", 0, "is not between 1 and 1024", "leave it out"};
    ConfigFolder folder;
    if (const auto path = arguments.text("--write")) {
        if (Problems problems = folder.open(*path, arguments.operands[0]); !problems.empty()) return problems;
    }
    Result<ReadySearch> ready = ready_search(arguments, session);
    if (!ready) return ready.problems();
    SearchAnswer answer = search(ready->question, ready->prepared, walk_on(static_cast<std::size_t>(threads)));
    if (Problems problems = folder.write(answer, session); !problems.empty()) return problems;
    answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    say(session, answer, render::search_json, render::search_text);
    if (interrupted()) return exit_interrupted;
    if (!answer.baseline.fits) warn(session, render::misfit_text(answer.baseline));
    const bool asked =
        arguments.has("--params") || arguments.has("--flops") || arguments.has("--time") || arguments.has("--memory");
    const bool missed = asked && answer.found.best() == nullptr;
    return answer.baseline.fits && !missed ? exit_fine : exit_findings;
}

}  // namespace tilewright::cli
