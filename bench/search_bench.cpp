// Shapes a second through the search's tables beside the plain path, price(lower(shape)), in the same run on one core,
// in processor time: the ratio is what the tables save. A shape counts as many GEMM prices as its step has distinct
// products. The space is that of one percent of the parameters either way, so that figures of all versions are of the
// same shapes; the milliseconds are of a search with its own guards, whose space is a fraction of it.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "tilewright/read.h"
#include "tilewright/search.h"

namespace {

using namespace tilewright;

/// The median of some passes.
template <class Pass>
double median_seconds(Pass pass) {
    std::array<double, 7> times{};
    for (double& time : times) {
        const std::clock_t start = std::clock();
        pass();
        time = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    }
    std::nth_element(times.begin(), times.begin() + 3, times.end());
    return times[3];
}

/// Distinct products of a step.
double products(const OpGraph& graph) {
    std::vector<Gemm> seen;
    for (const Op& op : graph.ops) {
        const Gemm* gemm = std::get_if<Gemm>(&op.work);
        if (gemm != nullptr && std::find(seen.begin(), seen.end(), *gemm) == seen.end()) seen.push_back(*gemm);
    }
    return static_cast<double>(seen.size());
}

SearchOptions wide_space() {
    SearchOptions wide;
    wide.guards.params = {0.99, 1.01};
    wide.guards.blocks = {};
    return wide;
}

void compare(const char* model, const Pricer& pricer) {
    const Shape shape = *find_model(model);
    const SearchOptions wide = wide_space();
    double shapes = 0.0;
    const double searched =
        median_seconds([&] { shapes = static_cast<double>(search(shape, {}, pricer, wide).shapes_priced); }) / shapes;
    const double guarded = median_seconds([&] { search(shape, {}, pricer); });
    constexpr int plain_shapes = 1000;
    volatile double kept = 0.0;
    const double plain = median_seconds([&] {
                             for (int i = 0; i < plain_shapes; ++i) {
                                 Shape other = shape;
                                 other.ffn += 8 * i;
                                 kept = price(lower(other, {}), pricer).sum.time.value;
                             }
                         }) /
                         plain_shapes;
    const double gemms = products(lower(shape, {}));
    std::printf(
        "%-14s %9.0f shapes  %6.2f M shapes/s  plain %7.0f shapes/s  ratio %5.0f   %6.1f M GEMM prices/s  plain %4.2f "
        "M/s   all guards %4.0f ms\n",
        model, shapes, 1e-6 / searched, 1.0 / plain, plain / searched, 1e-6 * gemms / searched, 1e-6 * gemms / plain,
        1e3 * guarded);
}

}  // namespace

int main(int argc, char** argv) {
    const Device device = *find_device("h200");
    const Pricer pricer(device, find_profile(device));
    if (argc > 1) {  // one search, to count instructions
        const SearchResult found = search(*find_model(argv[1]), {}, pricer, wide_space());
        std::printf("%lld shapes\n", static_cast<long long>(found.shapes_priced));
        return EXIT_SUCCESS;
    }
    for (const char* model : {"gpt3-2.7b", "pythia-410m", "opt-1.3b", "llama-2-7b", "llama-3-8b", "qwen2.5-1.5b"}) {
        compare(model, pricer);
    }
    return EXIT_SUCCESS;
}
