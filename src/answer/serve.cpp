// A load served: what is asked is checked, a length of time is chosen for it, and the planner does the rest.
#include <algorithm>
#include <cmath>
#include <string>

#include "tilewright/served.h"

namespace tilewright {
namespace {

/// Arrivals past which percentiles hardly move, and those without which there are none.
constexpr double enough_requests = 30000, few_requests = 50;
constexpr std::int64_t most_planned = 1024;

std::string engines() {
    std::string names;
    for (const Runtime& runtime : runtimes()) {
        if (runtime.engine) names += (names.empty() ? "" : ", ") + runtime.name;
    }
    return names;
}

Problems check(const ServeQuestion& asked) {
    Problems problems;
    const LoadShape& load = asked.load;
    const auto refuse = [&](const char* where, const std::string& what, const std::string& fix) {
        problems.push_back({where, 0, what, fix});
    };
    if (!runtime_of(asked.question.workload.runtime).engine) {
        refuse("--runtime", std::string(name_of(asked.question.workload.runtime)) + " serves no load",
               "use one of " + engines());
    }
    if (asked.arrivals.empty() && !(load.rate > 0)) {
        refuse("--rate", "no requests arrive", "say how many a second, such as 20, or max for all at once");
    } else if (asked.arrivals.empty() && !std::isinf(load.rate) && (load.rate < 1e-6 || load.rate > 1e6)) {
        refuse("--rate", "lies between a millionth and a million", "say 20 for requests a second, or max");
    }
    if (asked.space.gpus.value_or(1) > most_planned) {
        refuse("--gpus", "a load is planned on " + std::to_string(most_planned) + " at most",
               "plan a share of the load on a share of the GPUs");
    }
    if (load.isl < 1) refuse("--isl", "a prompt has at least 1 token", "say how many, such as 2000");
    if (load.osl < 1) refuse("--osl", "an answer has at least 1 token", "say how many, such as 500");
    if (load.isl + load.osl > (1 << 24)) refuse("--isl", "is over 2^24 tokens with the answer", "use fewer");
    std::int64_t longest = load.isl + load.osl;
    for (const Request& request : asked.arrivals) longest = std::max(longest, request.isl + request.osl);
    const Shape& shape = asked.question.shape;
    if (shape.positions == Positions::Learned && shape.position_rows > 0 && longest > shape.position_rows) {
        refuse(asked.arrivals.empty() ? "--isl" : "--arrivals",
               "a request has " + std::to_string(longest) + " tokens with its answer, " + shape.name +
                   " has positions for " + std::to_string(shape.position_rows),
               "use fewer, or say --position-rows " + std::to_string(longest));
    }
    if (!(load.prefix_hits >= 0 && load.prefix_hits <= 1)) {
        refuse("--prefix-hits", "is no share between 0 and 1", "say 0.5 for half of every prompt");
    }
    if (!(asked.limits.percentile > 0 && asked.limits.percentile <= 100)) {
        refuse("--percentile", "lies between 0 and 100", "say 95");
    }
    const Speculation& drafts = asked.speculation;
    if (drafts.drafts < 0 || drafts.drafts > 64) refuse("--draft-tokens", "lies between 0 and 64", "say 3");
    if (!(drafts.acceptance >= 0 && drafts.acceptance <= 1)) {
        refuse("--acceptance", "is no share between 0 and 1", "say 0.7 for seven in ten");
    }
    return problems;
}

}  // namespace

Result<ServeAnswer> serve_load(const ServeQuestion& asked) {
    if (Problems problems = check(asked); !problems.empty()) return problems;
    ServeTask task{asked.question.shape, asked.question.workload, asked.load, asked.arrivals, asked.limits,
                   asked.space,          asked.speculation};
    if (!std::isinf(task.load.rate)) {
        task.load.duration = {
            std::clamp(task.load.duration.value, few_requests / task.load.rate, enough_requests / task.load.rate)};
    } else {
        task.load.requests = 1;  // every walk asks for as many as fill its batch
    }
    return ServeAnswer{task.shape,
                       asked.question.device,
                       asked.cluster,
                       asked.model.empty() ? task.shape.name : asked.model,
                       task.base,
                       task.load,
                       static_cast<std::int64_t>(task.arrivals.size()),
                       task.limits,
                       task.speculation,
                       plan_serving(task, asked.question.pricer()),
                       asked.hour_price,
                       asked.question.used};
}

TokenPrices token_prices(const ServePlan& plan, double hour_price) {
    constexpr double million = 1e6, seconds_per_hour = 3600;
    const double second = hour_price / seconds_per_hour;
    return {plan.gpu_s_per_input_token * second * million, plan.gpu_s_per_generated_token * second * million};
}

}  // namespace tilewright
