// fit_kernels products DEVICE WAY TREES [anew] <ROWS: learns what the law of one way of quantising leaves over of
// public timings on one device, rows of m,n,k,latency_us; with anew its constants first. Prints the row for
// data/kernels/products.toml, and to TREES lines for data/kernels/DEVICE.trees. On stderr: points, mean, median and
// 90th percentile of the errors on whole weight shapes held out, how many lie in the intervals, and a plain roofline's
// mean.
//
// fit_kernels attention DEVICE WALK TREES [anew] <ROWS: the same of attention, rows of
// q_len,kv_len,head_dim,batch,heads,kv_heads,1 for a cache in fp8,window,causal,latency_us, head configurations held
// out. bench/fit_kernels.sh runs it for all.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "bench/fit_law.h"
#include "cost/engine_attention.h"
#include "cost/quantized.h"
#include "tilewright/read.h"

namespace {

using namespace tilewright;

constexpr BoostOptions options{.trees = 16, .rate = 0.4F};

/// A call at the profile's own price of FlashAttention-2, and what that leaves over.
struct ByFlash2 {
    EngineCall call;
    double us;
};
struct LeftOfFlash2 {
    Learnt learnt{};
    std::array<Interval, 3> by_bound{};
};

EngineFeatures features_of(const ByFlash2& timed) { return features_of(timed.call); }
double roofline_us(const ByFlash2& timed) { return roofline_us(timed.call); }
EngineTime time_of(const ByFlash2& timed, const LeftOfFlash2& law) {
    EngineTime time{};
    const double factor = law.learnt ? law.learnt->factor(1e-6 * timed.us, features_of(timed)) : 1.0;
    time.total = std::max(timed.us * factor, roofline_us(timed));
    return time;
}

/// With what its constants leave over.
template <class Law, class Case>
Law with_trees(const std::vector<fitting::Timed<Case>>& seen, Law law, const fitting::Way& way) {
    law.learnt.reset();
    std::vector<fitting::LeftOver> calls;
    for (const auto& one : seen) {
        const auto features = features_of(one.what);
        calls.push_back({{features.begin(), features.end()}, one.us, 1e-6 * time_of(one.what, law).total});
    }
    law.learnt = fitting::learnt(calls, way);
    return law;
}

/// Who asks for what: a device, a law in its file, where trees go, whether the constants are fitted too.
struct Task {
    const char *device, *law, *trees;
    bool anew;
};

template <class Law, class Case>
int fit(const Task& task, const std::vector<fitting::Timed<Case>>& seen, Law law, const std::vector<Law>& starts,
        std::span<const LawField<Law>> fields, const fitting::Way& way) {
    law.learnt.reset();
    if (task.anew) law = fitting::fitted_from(seen, fields, starts);
    const std::string title = std::string(task.device) + " | " + task.law;
    law = fitting::judged(seen, law, fields, title.c_str(),
                          [&](const auto& some, const Law& constants) { return with_trees(some, constants, way); });
    fitting::print_row(task.device, law, fields);
    return fitting::write_trees(task.trees, task.law, law.learnt->trees);
}

int fit_products(const Task& task, const Device& device) {
    const auto quantization = find_quantization(task.law);
    if (!quantization) return std::fprintf(stderr, "%s: no such way\n", task.law), 2;
    std::vector<fitting::Timed<QuantizedProduct>> seen;
    long long m, n, k;
    double us;
    while (std::scanf("%lld,%lld,%lld,%lf", &m, &n, &k, &us) == 4) {
        Gemm gemm{Layout::TN, m, n, k};
        gemm.quantization = *quantization;
        gemm.quantizes = traits_of(*quantization).quantizes;
        gemm.reuse = timed_reuse(*quantization);
        const auto kin = fitting::mixed(static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(k));
        seen.push_back({QuantizedProduct(gemm, device), us, kin});
    }
    if (seen.empty()) return 0;
    std::vector<ProductLaw> starts(4);  // libraries of many tiles, of few, of few splits, of tiles as high as A
    for (ProductLaw& start : starts) start.between = 1.02;
    starts[1].least_rows = 64.0;
    starts[1].least_columns = 128.0;
    starts[2].most_splits = 7.0;
    starts[3].follows_rows = 128.0;
    starts[3].most_splits = 1.0;
    const ProductLaw law = serving_kernels(device)->products[static_cast<std::size_t>(*quantization)];
    return fit(task, seen, law, starts, product_fields(), {product_knots, product_rising_features, options});
}

constexpr fitting::Way of_attention{engine_knots, engine_rising_features, options};

int learn_over_flash2(const Task& task, const Device& device, const std::vector<fitting::Timed<Attention>>& calls) {
    const Pricer pricer(device, find_profile(device), Clock::Burst);
    std::vector<fitting::Timed<ByFlash2>> seen;
    for (const auto& one : calls) {
        Op op;
        Attention own = one.what;
        own.backend = AttentionBackend::Flash2;
        op.work = own;
        seen.push_back({{EngineCall(one.what, device), 1e6 * pricer.burst(op).time.value}, one.us, one.kin});
    }
    const std::string title = std::string(task.device) + " | " + task.law;
    const auto learn = [](const auto& some, const LeftOfFlash2& law) { return with_trees(some, law, of_attention); };
    const LeftOfFlash2 law =
        fitting::judged(seen, LeftOfFlash2{}, std::span<const LawField<LeftOfFlash2>>{}, title.c_str(), learn);
    return fitting::write_trees(task.trees, task.law, law.learnt->trees);
}

int fit_attention(const Task& task, const Device& device) {
    std::vector<fitting::Timed<Attention>> calls;
    long long q, kv, head, batch, heads, kv_heads, fp8, window, causal;
    double us;
    while (std::scanf("%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lf", &q, &kv, &head, &batch, &heads, &kv_heads,
                      &fp8, &window, &causal, &us) == 10) {
        Attention call{batch, heads, kv_heads, q, kv, head};
        call.window = window;
        call.causal = causal != 0;
        call.narrow_cache = fp8 != 0;
        call.writes_cache = true;
        if (attention_walks[static_cast<std::size_t>(walk_of(call, device))] != task.law) continue;
        const auto kin = fitting::mixed(static_cast<std::uint64_t>(heads), static_cast<std::uint64_t>(kv_heads),
                                        static_cast<std::uint64_t>(head));
        calls.push_back({call, us, kin});
    }
    if (calls.empty()) return 0;
    std::vector<EngineAttentionLaw> starts(4);
    starts[1].packed_tokens = 1e5;
    starts[2].window_packs = starts[3].window_packs = starts[3].alone_splits = 0.1;
    const auto place = std::find(attention_walks.begin(), attention_walks.end(), task.law) - attention_walks.begin();
    const EngineAttentionLaw law = serving_kernels(device)->attention[static_cast<std::size_t>(place)];
    if (law.flash2) return learn_over_flash2(task, device, calls);
    std::vector<fitting::Timed<EngineCall>> seen;
    for (const auto& one : calls) seen.push_back({EngineCall(one.what, device), one.us, one.kin});
    return fit(task, seen, law, starts, engine_attention_fields(), of_attention);
}

}  // namespace

int main(int argc, char** argv) {
    const bool anew = argc == 6 && std::strcmp(argv[5], "anew") == 0;
    if (argc != 5 && !anew) {
        return std::fputs("usage: fit_kernels products|attention DEVICE LAW TREES [anew] <ROWS\n", stderr), 2;
    }
    const Task task{argv[2], argv[3], argv[4], anew};
    const auto device = find_device(task.device);
    if (!device) return std::fprintf(stderr, "%s: no such device\n", task.device), 2;
    if (std::strcmp(argv[1], "products") == 0) return fit_products(task, *device);
    return fit_attention(task, *device);
}
