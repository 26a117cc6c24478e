// The inner loop of tilewright.gemm.
#include "gemm.h"

#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "tilewright/answer.h"
#include "tilewright/codec.h"

namespace tilewright::python {
namespace {

constexpr std::string_view names_of_sizes[] = {"m", "n", "k", "batch"};

/// The first size that is out of bounds, or lengths that differ.
Problems check(const Products& products) {
    const OpKind& kind = *find_op_kind("gemm");
    const std::size_t count = products.sizes[0].size();
    if (products.out.size() != count * std::size(gemm_columns)) return {{"out", 0, "has not the length of m", ""}};
    for (std::size_t column = 0; column < products.sizes.size(); ++column) {
        const std::string name(names_of_sizes[column]);
        const std::span<const std::int64_t> sizes = products.sizes[column];
        if (sizes.size() != count) return {{name, 0, "has not the length of m", "give arrays of one length"}};
        const Column& bounds = *kind.find(name);
        for (std::size_t i = 0; i < count; ++i) {
            if (sizes[i] >= bounds.least && sizes[i] <= bounds.most) continue;
            return {{name + "[" + std::to_string(i) + "]", 0, std::to_string(sizes[i]) + " is out of bounds",
                     "use " + std::to_string(bounds.least) + " to " + std::to_string(bounds.most)}};
        }
    }
    return {};
}

/// As a file's rows are priced: a product in fp8 quantises what it reads.
void price_all(const Products& products, const Gemm& like, const Pricer& pricer) {
    double* out = products.out.data();
    const auto& [m, n, k, batch] = products.sizes;
    Described row;
    Gemm& gemm = row.work.emplace<Gemm>(like);
    for (std::size_t i = 0; i < m.size() && !cli::interrupted(); ++i) {
        gemm.m = m[i];
        gemm.n = n[i];
        gemm.k = k[i];
        gemm.batch = batch[i];
        const Cost cost = price_row(row, pricer).cost;
        for (const double value : {cost.time.value, cost.low.value, cost.high.value, cost.waves,
                                   static_cast<double>(cost.tile_m), static_cast<double>(cost.tile_n)}) {
            *out++ = value;
        }
    }
}

}  // namespace

Problems price(const Products& products, const std::vector<std::string>& flags, const std::string& layout) {
    const Result<cli::Arguments> arguments = cli::arguments_of(*cli::find_verb("predict"), flags);
    if (!arguments) return arguments.problems();
    if (Problems bad = cli::refuse_for_rows(*arguments, "gemm"); !bad.empty()) return bad;
    const std::optional<Layout> stored = find_named<Layout>(layout);
    if (!stored) return {{"layout", 0, layout + " is no layout", "use TN, NN or NT"}};
    if (Problems bad = check(products); !bad.empty()) return bad;
    const Result<cli::FoundDevice> device = cli::device_of(*arguments);
    if (!device) return device.problems();
    Workload workload;
    cli::apply_workload_flags(*arguments, workload);
    Gemm gemm;
    gemm.layout = *stored;
    gemm.precision = workload.precision;
    price_all(products, gemm, Pricer(device->device, device->profile, workload.clock));
    return {};
}

}  // namespace tilewright::python
