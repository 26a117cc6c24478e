#include "measure/profile_plan.h"

#include <algorithm>

#include "measure/draw.h"
#include "measure/generate.h"

namespace tilewright::measure {
namespace {

constexpr std::uint64_t first_seed = 16;  ///< another than that of the committed samples, which judge a run

/// A set of shapes, how many of them a block takes, and under which clocks. On an H200 a block takes about a second,
/// half of it for short products: 5 minutes are some 7,000 of them, 300 with clocks, 300 attentions and 1,500 streams.
struct Part {
    std::string_view set;
    std::size_t in_block;
    std::vector<ClockMode> clocks;
};

const std::vector<Part>& parts() {
    static const std::vector<Part> all = {{"gemm-clocks", 1, {ClockMode::Burst, ClockMode::Sustained}},
                                          {"attention", 1, {ClockMode::Quick}},
                                          {"stream", 5, {ClockMode::Quick}},
                                          {"gemm-quick", 24, {ClockMode::Quick}}};
    return all;
}

constexpr std::size_t blocks = 2400;  ///< more than two ranks take in half an hour

/// The shapes of a part in an order of no meaning, each with its split.
std::vector<Case> drawn(const Part& part, std::uint64_t seed) {
    const std::span<const ShapeSet> sets = shape_sets();
    const auto set = std::find_if(sets.begin(), sets.end(), [&](const ShapeSet& one) { return one.name == part.set; });
    std::vector<Case> cases = set->draw(static_cast<std::int64_t>(part.in_block * blocks), seed);
    Draw draw(seed);
    for (std::size_t i = cases.size(); i > 1; --i) std::swap(cases[i - 1], cases[draw.below(i)]);
    for (Case& what : cases) {
        what.tags.emplace_back("split", split_of(find_field(what.tags, "family").value_or("")));
    }
    return cases;
}

/// What peak_jobs has, as far as a few seconds go.
std::vector<Job> brief_peaks() {
    std::vector<Job> jobs;
    int sustained = 0;
    for (Job& job : peak_jobs()) {
        const bool gemm = job.what.op == "gemm";
        if (gemm && (job.what.integer("m") != 8192 || job.what.integer("n") != 8192)) continue;
        if (job.clock == ClockMode::Sustained && sustained++ > 0) continue;
        jobs.push_back(std::move(job));
    }
    return jobs;
}

}  // namespace

std::vector<Job> profile_jobs(const Share& share) {
    std::vector<Job> jobs = brief_peaks();
    std::vector<std::vector<Case>> cases;
    for (const Part& part : parts()) cases.push_back(drawn(part, first_seed + cases.size()));
    for (std::size_t block = static_cast<std::size_t>(share.rank); block < blocks;
         block += static_cast<std::size_t>(share.world)) {
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const Part& part = parts()[i];
            for (std::size_t at = block * part.in_block; at < (block + 1) * part.in_block; ++at) {
                if (at >= cases[i].size()) break;
                for (const ClockMode clock : part.clocks) jobs.push_back({cases[i][at], clock});
            }
        }
    }
    return jobs;
}

}  // namespace tilewright::measure
