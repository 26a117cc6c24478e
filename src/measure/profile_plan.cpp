#include "measure/sweep.h"

#include <algorithm>

#include "measure/draw.h"
#include "measure/generate.h"

namespace tilewright::measure {
namespace {

constexpr std::uint64_t first_seed = 16;  ///< another than that of the committed samples, which judge a run

/// A set of shapes, how many of them a block takes, and under which clocks. On an H200 a block takes two to three
/// seconds: 0.7 for the clocks, 0.4 for attention, which cuDNN compiles, and the rest for short products.
struct Part {
    std::string_view set;
    std::size_t in_block;
    std::vector<ClockMode> clocks;
};

const std::vector<Part>& parts() {
    static const std::vector<Part> all = {{"gemm-clocks", 1, {ClockMode::Burst, ClockMode::Sustained}},
                                          {"attention", 1, {ClockMode::Quick}},
                                          {"gemm-quick", 48, {ClockMode::Quick}},
                                          {"stream", 10, {ClockMode::Quick}}};
    return all;
}

constexpr std::size_t blocks = 1200;  ///< more than two ranks take in half an hour

/// Above this the power limit moves the clock of an H200, and a sample takes six times as long as below: 50 ms.
constexpr double heavy_flops = 1.5e10;

struct Weighed {
    double flops;
    Case what;
};

/// Leaves out every second of the heavy ones, which the clocks are about anyway.
void thin(std::vector<Weighed>& cases) {
    bool left_out = false;
    std::erase_if(cases, [&](const Weighed& one) {
        left_out = one.flops >= heavy_flops ? !left_out : left_out;
        return left_out && one.flops >= heavy_flops;
    });
}

/// The shapes of a part in an order of no meaning, but for blocks that begin with what is heavy, so that the chip rests
/// once; each with its split.
std::vector<Weighed> drawn(const Part& part, std::uint64_t seed) {
    const std::span<const ShapeSet> sets = shape_sets();
    const auto set = std::find_if(sets.begin(), sets.end(), [&](const ShapeSet& one) { return one.name == part.set; });
    std::vector<Weighed> cases;
    for (Case& what : set->draw(static_cast<std::int64_t>(part.in_block * blocks), seed)) {
        what.tags.emplace_back("split", split_of(find_field(what.tags, "family").value_or("")));
        cases.push_back({what.op == "gemm" ? product_flops(what) : 0.0, std::move(what)});
    }
    Draw draw(seed);
    for (std::size_t i = cases.size(); i > 1; --i) std::swap(cases[i - 1], cases[draw.below(i)]);
    if (part.clocks.size() == 1) thin(cases);
    for (std::size_t at = 0; at < cases.size(); at += part.in_block) {
        const std::size_t end = std::min(at + part.in_block, cases.size());
        std::sort(cases.begin() + static_cast<std::ptrdiff_t>(at), cases.begin() + static_cast<std::ptrdiff_t>(end),
                  [](const Weighed& a, const Weighed& b) { return a.flops > b.flops; });
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
    std::vector<std::vector<Weighed>> cases;
    for (const Part& part : parts()) cases.push_back(drawn(part, first_seed + cases.size()));
    for (std::size_t block = static_cast<std::size_t>(share.rank); block < blocks;
         block += static_cast<std::size_t>(share.world)) {
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const Part& part = parts()[i];
            for (std::size_t at = block * part.in_block; at < (block + 1) * part.in_block; ++at) {
                if (at >= cases[i].size()) break;
                for (const ClockMode clock : part.clocks) jobs.push_back({cases[i][at].what, clock});
            }
        }
    }
    return jobs;
}

}  // namespace tilewright::measure
