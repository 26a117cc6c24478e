// Collectives: launch, step latency and share of the link of every protocol, all at once, since which protocol a size
// takes is part of the price. First those of one node; then, with these as they are, what a step between nodes costs
// and what of the adapters is reached.
#include "fit/solve.h"
#include "fit/steps.h"

namespace tilewright {
namespace {

constexpr std::size_t least_collectives = 60;  ///< of one node; fewer leave what is assumed
constexpr std::size_t least_far = 20;          ///< between nodes

void take(std::vector<Parameter>& parameters, Protocol& protocol) {
    if (protocol.fraction <= 0.0) return;
    parameters.emplace_back(&protocol.launch.value);
    parameters.emplace_back(&protocol.step.value);
    parameters.emplace_back(&protocol.fraction, 1.0);
}

void fit_within_node(const Observations& seen, const Device& device, Profile& profile) {
    if (seen.size() < least_collectives) return;
    CollectiveProfile& known = profile.collective;
    std::vector<Parameter> parameters = {{&known.own_part, 1.0}};
    for (Protocol* protocol : {&known.ring_low, &known.ring_bulk, &known.peer_low, &known.peer_bulk, &known.in_switch,
                               &known.one_shot, &known.two_shot}) {
        take(parameters, *protocol);
    }
    const auto errors = [&] { return log_errors(seen, device, profile); };
    const CollectiveProfile start = known;
    CollectiveProfile best = known;
    double least = HUGE_VAL;
    for (const double share : {1.0, 0.1}) {  // few bytes to peers reach a fifth of some links and a hundredth of others
        known = start;
        known.peer_low.fraction *= share;
        solve(parameters, errors);
        double off = 0.0;
        for (const double error : errors()) off += std::abs(error);
        if (off >= least) continue;
        least = off;
        best = known;
    }
    known = best;
    profile.collective_evidence = Evidence::Fitted;
}

void fit_between_nodes(const Observations& seen, const Device& device, Profile& profile) {
    if (seen.size() < least_far) return;
    std::vector<Parameter> parameters;
    for (Protocol* protocol : {&profile.collective.far_low, &profile.collective.far_bulk}) {
        protocol->fraction *= 0.5;  // so slow that the network is what bounds, and its rate moves the price
        parameters.emplace_back(&protocol->step.value);
        parameters.emplace_back(&protocol->fraction, 1.0);
    }
    solve(parameters, [&] { return log_errors(seen, device, profile); });
    profile.collective.far_samples = static_cast<double>(seen.size());
}

}  // namespace

void fit_collectives(const Observations& seen, const Device& device, Profile& profile) {
    Observations near, far;
    for (const Observation* one : seen) {
        const auto& collective = std::get<Collective>(one->op.work);
        (collective.ranks * collective.stride > device.node_size ? far : near).push_back(one);
    }
    fit_within_node(near, device, profile);
    fit_between_nodes(far, device, profile);
}

}  // namespace tilewright
