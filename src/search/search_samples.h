// What tests of the search share: a small baseline, a GPU with a power limit, every shape of a space.
#pragma once

#include <initializer_list>
#include <vector>

#include "cost/fixtures.h"
#include "search/rank.h"
#include "shape/shape_samples.h"
#include "tilewright/search.h"

namespace tilewright {

/// A small one, so that its space can be listed.
inline Shape small() { return gpt_of(512, 6, 8, 5003); }

inline Pricer on(const Device& device) {
    Profile profile = assumed_profile(device);
    profile.power.idle = {100};  // a limit that training meets
    profile.power.matrix = {900};
    profile.power.memory = {200};
    profile.power.stream = {200};
    return {device, profile};
}

/// Without a host, so that every kernel counts.
inline Workload graphs() {
    Workload workload;
    workload.runtime = RuntimeId::PyTorchGraphs;
    return workload;
}

inline SearchOptions only(std::initializer_list<Knob> knobs) {
    SearchOptions options;
    for (Axis& axis : options.axes) axis.fixed = true;
    for (const Knob knob : knobs) options.axis(knob).fixed = false;
    return options;
}

inline walk::Setting setting_of(const space::Space& space, const std::vector<Target>& targets) {
    walk::Setting setting{space, targets, {}, total_flops(lower(space.baseline(), space.workload())).value / 8192.0};
    for (const auto& [pace, share] : walk::paces(space.workload())) {
        walk::Hosts& hosts = setting.hosts.emplace_back(walk::Hosts{pace, {}});
        for (const Target& target : targets) {
            hosts.factors.push_back(share /
                                    price(lower(space.baseline(), space.workload()), target.pricer).sum.time.value);
        }
    }
    return setting;
}

/// Every shape of the slices that passes the guard on parameters, each with its variant.
template <class Visit>
void list(const space::Space& space, Visit visit) {
    for (const space::Slice& slice : space.slices()) {
        for (std::size_t set = 0; set < slice.heads.size(); ++set) {
            for (const std::int64_t layers : slice.layers) {
                for (std::size_t words = 0; words < slice.vocab.size(); ++words) {
                    const space::Range range = space.widths(slice, set, words, layers);
                    for (std::size_t width = range.first; width < range.last; ++width) {
                        Shape shape = slice.with(slice.heads[set]);
                        shape.layers = layers;
                        shape.vocab = slice.vocab[words];
                        space::set_width(shape, slice.variant, slice.ffn[width]);
                        visit(shape, slice.variant);
                    }
                }
            }
        }
    }
}

}  // namespace tilewright
