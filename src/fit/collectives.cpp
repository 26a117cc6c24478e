// Collectives of one node: launch, step latency and share of the link of every protocol, all at once, since which
// protocol a size takes is part of the price.
#include "fit/solve.h"
#include "fit/steps.h"

namespace tilewright {
namespace {

constexpr std::size_t least_collectives = 60;  ///< fewer leave what is assumed

void take(std::vector<Parameter>& parameters, Protocol& protocol) {
    if (protocol.fraction <= 0.0) return;
    parameters.emplace_back(&protocol.launch.value);
    parameters.emplace_back(&protocol.step.value);
    parameters.emplace_back(&protocol.fraction, 1.0);
}

}  // namespace

void fit_collectives(const Observations& seen, const Device& device, Profile& profile) {
    if (seen.size() < least_collectives) return;
    CollectiveProfile& known = profile.collective;
    std::vector<Parameter> parameters = {{&known.own_part, 1.0}};
    for (Protocol* protocol : {&known.ring_low, &known.ring_bulk, &known.peer_low, &known.peer_bulk, &known.in_switch,
                               &known.one_shot, &known.two_shot}) {
        take(parameters, *protocol);
    }
    solve(parameters, [&] { return log_errors(seen, device, profile); });
    profile.collective_evidence = Evidence::Fitted;
}

}  // namespace tilewright
