// fit_kernels products DEVICE WAY <ROWS: fits the law of one way of quantising on one device to public timings, rows of
// m,n,k,latency_us, and prints the row for data/kernels/products.toml. On stderr: points, mean, median and 90th
// percentile of the errors on whole weight shapes held out, how many lie in the intervals, and a plain roofline's mean.
// fit_kernels attention DEVICE WALK TREES <ROWS: the same of attention, rows of
// q_len,kv_len,head_dim,batch,heads,kv_heads, 1 for a cache in fp8,window,causal,latency_us, head configurations held
// out; what the constants leave over goes to a file of trees, for data/kernels/DEVICE.trees. `learnt` keeps the
// constants that are built in. bench/fit_kernels.sh runs it for all.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "bench/fit_law.h"
#include "cost/engine_attention.h"
#include "cost/quantized.h"
#include "fit/boost.h"
#include "render/profile_files.h"
#include "tilewright/read.h"

namespace {

using namespace tilewright;

int fit_products(const char* name, const char* way) {
    const auto device = find_device(name);
    const auto quantization = find_quantization(way);
    if (!device || !quantization) return std::fprintf(stderr, "%s, %s: no such device or way\n", name, way), 2;
    std::vector<fitting::Timed<QuantizedProduct>> seen;
    long long m, n, k;
    double us;
    while (std::scanf("%lld,%lld,%lld,%lf", &m, &n, &k, &us) == 4) {
        Gemm gemm{Layout::TN, m, n, k};
        gemm.quantization = *quantization;
        gemm.quantizes = traits_of(*quantization).quantizes;
        gemm.reuse = timed_reuse(*quantization);
        const auto kin = fitting::mixed(static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(k));
        seen.push_back({QuantizedProduct(gemm, *device), us, kin});
    }
    if (seen.empty()) return 0;
    const std::string title = std::string(name) + " | " + way;
    std::vector<ProductLaw> starts(4);  // libraries of many tiles, of few, of few splits, of tiles as high as A
    for (ProductLaw& start : starts) start.between = 1.02;
    starts[1].least_rows = 64.0;
    starts[1].least_columns = 128.0;
    starts[2].most_splits = 7.0;
    starts[3].follows_rows = 128.0;
    starts[3].most_splits = 1.0;
    const auto as_it_is = [](const auto&, const ProductLaw& law) { return law; };
    const auto law = fitting::judged(seen, fitting::fitted_from(seen, product_fields(), starts), product_fields(),
                                     title.c_str(), as_it_is);
    fitting::print_row(name, law, product_fields());
    return 0;
}

/// What the constants leave over, by trees that rise with queries, keys and sequences.
EngineAttentionLaw learnt(const std::vector<fitting::Timed<EngineCall>>& seen, EngineAttentionLaw law) {
    law.learnt.trees.clear();
    BoostRows rows;
    rows.trends.assign(engine_feature_count, Trend::Free);
    std::fill_n(rows.trends.begin(), engine_rising_features, Trend::Rising);
    rows.knots = static_cast<int>(law.learnt.knots);
    for (const auto& one : seen) {
        const double us = time_of(one.what, law).total, left_over = std::log(one.us / us);
        const EngineFeatures features = features_of(one.what);
        rows.features.insert(rows.features.end(), features.begin(), features.end());
        rows.targets.push_back(static_cast<float>(std::clamp(left_over, -Correction::limit, Correction::limit)));
        rows.places.push_back(static_cast<float>(law.learnt.place(1e-6 * us)));
    }
    law.learnt.trees = boost(rows, {.trees = 16, .rate = 0.4F});
    return law;
}

/// With trees' lines behind their walk for data/kernels/DEVICE.trees. The constants are those built in, or fitted anew.
int fit_attention(const char* name, const char* walk, const char* trees, bool anew) {
    const auto device = find_device(name);
    if (!device) return std::fprintf(stderr, "%s: no such device\n", name), 2;
    std::vector<fitting::Timed<EngineCall>> seen;
    long long q, kv, head, batch, heads, kv_heads, fp8, window, causal;
    double us;
    while (std::scanf("%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lf", &q, &kv, &head, &batch, &heads, &kv_heads,
                      &fp8, &window, &causal, &us) == 10) {
        Attention call{batch, heads, kv_heads, q, kv, head};
        call.window = window;
        call.causal = causal != 0;
        call.narrow_cache = fp8 != 0;
        call.writes_cache = true;
        if (attention_walks[static_cast<std::size_t>(walk_of(call, *device))] != walk) continue;
        const auto kin = fitting::mixed(static_cast<std::uint64_t>(heads), static_cast<std::uint64_t>(kv_heads),
                                        static_cast<std::uint64_t>(head));
        seen.push_back({EngineCall(call, *device), us, kin});
    }
    if (seen.empty()) return 0;
    const std::string title = std::string(name) + " | " + walk;
    std::vector<EngineAttentionLaw> starts(4);
    starts[1].packed_tokens = 1e5;
    starts[2].window_packs = starts[3].window_packs = starts[3].alone_splits = 0.1;
    const auto place = std::find(attention_walks.begin(), attention_walks.end(), walk) - attention_walks.begin();
    EngineAttentionLaw law = serving_kernels(*device)->attention[static_cast<std::size_t>(place)];
    if (law.flash2 && !anew) return 0;
    law.learnt.trees.clear();
    if (anew) law = fitting::fitted_from(seen, engine_attention_fields(), starts);
    law = fitting::judged(seen, law, engine_attention_fields(), title.c_str(), learnt);
    fitting::print_row(name, law, engine_attention_fields());
    std::FILE* out = std::fopen(trees, "w");
    if (out == nullptr) return std::perror(trees), 2;
    for (const Tree& tree : law.learnt.trees) std::fprintf(out, "%s %s\n", walk, render::tree_line(tree).c_str());
    return std::fclose(out) == 0 ? 0 : 2;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 4 && std::strcmp(argv[1], "products") == 0) return fit_products(argv[2], argv[3]);
    const bool anew = argc == 5 && std::strcmp(argv[1], "attention") == 0;
    if (anew || (argc == 5 && std::strcmp(argv[1], "learnt") == 0))
        return fit_attention(argv[2], argv[3], argv[4], anew);
    return std::fputs("usage: fit_kernels products DEVICE WAY, or attention|learnt DEVICE WALK TREES, <ROWS\n", stderr),
           2;
}
