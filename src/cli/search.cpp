// `search`: faster shapes of equal size, on one GPU or a basket of them.
#include "render/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/interrupt.h"
#include "cli/request.h"
#include "cli/search_options.h"
#include "cli/search_threads.h"
#include "cli/verb.h"
#include "cli/write_configs.h"
#include "render/units.h"

namespace tilewright::cli {
namespace {

/// The request on the first GPU of --gpu, and that GPU with the others.
struct BasketRequest {
    Request request;
    std::vector<Target> targets;
    std::vector<render::WeightedGpu> gpus;
};

Result<BasketRequest> ask(const Arguments& arguments, Session& session) {
    const auto text = arguments.text("--gpu");
    const Result<std::vector<Weighted>> names = basket(text.value_or("?"));
    if (!names) return names.problems();
    Arguments first = arguments;
    if (text) first.flags["--gpu"] = names->front().name;
    Result<Request> request = make_request(first, arguments.operands[0], session);
    if (!request) return request.problems();
    BasketRequest asked{std::move(*request), {}, {}};
    const auto add = [&](const Device& device, const Pricer& pricer, double weight) {
        asked.targets.push_back({pricer, weight});
        asked.gpus.push_back({device.name, weight});
    };
    add(asked.request.device, asked.request.pricer(), names->front().weight);
    for (std::size_t i = 1; i < names->size(); ++i) {
        const Result<FoundDevice> found = find_gpu((*names)[i].name);
        if (!found) return found.problems();
        const Pricer pricer(found->device, find_profile(found->device), asked.request.workload.clock);
        add(found->device, pricer, (*names)[i].weight);
    }
    return asked;
}

/// A baseline that tensor parallelism does not divide is priced as if padded; any other misfit is refused.
Problems check_baseline(const Arguments& arguments, const Request& request, const Session& session) {
    const Problems found = validate(request.shape, request.workload);
    const bool only_tp = std::all_of(found.begin(), found.end(), [](const Problem& p) { return p.where == "tp"; });
    if (!only_tp) return misfit(arguments, request);
    for (const Problem& problem : found) warn(session, problem.what + "; the baseline is priced as if padded");
    const std::int64_t tp = request.workload.parallel.tp, ffn = request.shape.ffn;
    if (ffn % tp != 0) {
        warn(session, "ffn " + std::to_string(ffn) + " is no multiple of tp " + std::to_string(tp) +
                          "; the baseline is priced with " + std::to_string(ceil_div(ffn, tp)) + " columns a GPU");
    }
    return {};
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

Result<int> run_search(const Arguments& arguments, Session& session) {
    const auto start = std::chrono::steady_clock::now();
    Result<BasketRequest> asked = ask(arguments, session);
    if (!asked) return asked.problems();
    const Request& request = asked->request;
    const Result<SearchOptions> options = search_options(arguments, request.shape);
    if (!options) return options.problems();
    if (Problems problems = check_baseline(arguments, request, session); !problems.empty()) return problems;
    if (options->budget.time && asked->targets.size() > 1) {
        return Problem{"--time", 0, "is given beside several GPUs", "give one GPU"};
    }
    const std::int64_t threads = arguments.count("--threads").value_or(static_cast<std::int64_t>(core_count()));
    if (threads < 1 || threads > 1024) return Problem{"--threads", 0, "is not between 1 and 1024", "leave it out"};
    ConfigFolder folder;
    if (const auto path = arguments.text("--write")) {
        if (Problems problems = folder.open(*path); !problems.empty()) return problems;
    }

    Search search(request.shape, request.workload, asked->targets, *options);
    const double whole = search.size_bound();
    if (Problems problems = check_size(arguments, search); !problems.empty()) return problems;
    render::SearchReport report;
    report.baseline = predict(request, render::Scope::Model);
    report.found = run_slices(search, static_cast<std::size_t>(threads));
    report.options = *options;
    report.gpus = asked->gpus;
    const OpGraph step = lower(request.shape, request.workload);
    for (std::size_t i = 0; i < report.gpus.size(); ++i) {
        report.gpus[i].evidence = price(step, asked->targets[i].pricer).sum.evidence;
    }
    if (search.size_bound() < whole) report.wider_steps = search.steps_text();
    if (!report.wider_steps.empty()) report.found.exhaustive = false;
    if (Problems problems = folder.write(report, session); !problems.empty()) return problems;
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    session.out = arguments.has("--json") ? search_json(report) : search_text(report, session.out_style);
    return interrupted() ? exit_interrupted : exit_fine;
}

}  // namespace tilewright::cli
