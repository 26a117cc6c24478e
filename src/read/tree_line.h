// A tree of a residual as a line: 15 of feature:threshold, then 16 leaves (src/render/profile_files.h writes it).
#pragma once

#include <charconv>
#include <cmath>
#include <string_view>

#include "tilewright/correction.h"

namespace tilewright::read {

/// Whether the line is a tree whose features are below `features`; if so, it is in `out`.
inline bool tree_of(std::string_view text, Tree& out, std::size_t features) {
    const char* at = text.data();
    const char* end = at + text.size();
    const auto take = [&](auto& value) {
        while (at < end && (*at == ' ' || *at == ':')) ++at;
        const auto result = std::from_chars(at, end, value);
        at = result.ptr;
        return result.ec == std::errc{};
    };
    for (std::size_t i = 0; i < out.feature.size(); ++i) {
        if (!take(out.feature[i]) || out.feature[i] >= features) return false;
        if (!take(out.threshold[i]) || !(out.threshold[i] >= 0.0F)) return false;
    }
    for (float& leaf : out.leaf) {
        if (!take(leaf) || !std::isfinite(leaf)) return false;
    }
    return at == end;
}

/// What the constants of a law of engines' kernels leave over on a device that was timed, as data/kernels/DEVICE.trees
/// has it; made once by each thread.
Learnt learnt_of(std::string_view device, std::string_view law, const Knots& knots);

}  // namespace tilewright::read
