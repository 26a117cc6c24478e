// Samples as kernels: the sizes by name, the family by which errors are told apart.
#include "fit/stream_samples.h"
#include "tilewright/cost_names.h"
#include "tilewright/device_names.h"
#include "tilewright/fit.h"

namespace tilewright {
namespace {

Precision precision_of(const Sample& sample) {
    return find_named<Precision>(word(sample, "dtype")).value_or(Precision::Bf16);
}

void take_gemm(const Sample& sample, Observation& seen) {
    Gemm gemm;
    gemm.layout = find_named<Layout>(word(sample, "layout")).value_or(Layout::TN);
    gemm.m = number(sample, "m");
    gemm.n = number(sample, "n");
    gemm.k = number(sample, "k");
    gemm.batch = number(sample, "batch");
    gemm.precision = precision_of(sample);
    seen.family = gemm.batch > 1 ? "batched gemm" : "gemm";
    if (gemm.precision == Precision::Fp8 || gemm.precision == Precision::Tf32) {
        seen.family = std::string(name_of(gemm.precision)) + " gemm";
    }
    seen.op.work = gemm;
}

void take_attention(const Sample& sample, Observation& seen) {
    Attention attention;
    attention.batch = number(sample, "batch");
    attention.heads = number(sample, "heads");
    attention.kv_heads = number(sample, "kv_heads");
    attention.q_len = number(sample, "q_len");
    attention.kv_len = number(sample, "kv_len");
    attention.head_dim = number(sample, "head_dim");
    attention.causal = number(sample, "causal") != 0;
    attention.pass = word(sample, "pass") == "backward" ? AttentionPass::Backward : AttentionPass::Forward;
    attention.backend = find_named<AttentionBackend>(word(sample, "backend")).value_or(AttentionBackend::Auto);
    attention.precision = precision_of(sample);
    seen.family = family_of(attention);
    seen.op.work = attention;
}

void take_collective(const Sample& sample, Observation& seen) {
    Collective collective;
    collective.kind = find_named<CollectiveKind>(word(sample, "kind")).value_or(CollectiveKind::AllReduce);
    collective.bytes = {sample.bytes};
    collective.ranks = number(sample, "ranks");
    seen.family = std::string(name_of(collective.kind));
    seen.op.work = collective;
}

/// One in four, by a hash of three numbers.
bool one_in_four(std::int64_t a, std::int64_t b, std::int64_t c) {
    auto mixed = static_cast<std::uint64_t>(a) * 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ (mixed >> 29) ^ static_cast<std::uint64_t>(b)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 32) ^ static_cast<std::uint64_t>(c)) * 0x94d049bb133111ebU;
    return ((mixed >> 40) & 3U) == 0;
}

}  // namespace

bool held_out_by_shape(const Gemm& gemm) { return one_in_four(gemm.n, gemm.k, static_cast<std::int64_t>(gemm.layout)); }

std::string family_of(const Attention& attention) {
    const bool decode = attention.q_len == 1 && attention.kv_len > 1;
    return std::string(name_of(attention.backend)) + " " + (decode ? "decode" : std::string(name_of(attention.pass)));
}

bool held_out_by_shape(const Attention& attention) {
    return one_in_four(attention.heads, attention.kv_heads, attention.head_dim);
}

bool held_out_by_shape(const Collective& collective) {
    return one_in_four(static_cast<std::int64_t>(collective.bytes.value), collective.ranks,
                       static_cast<std::int64_t>(collective.kind));
}

namespace {

bool held_out_by_shape(const Stream&) { return false; }

}  // namespace

std::vector<Observation> observe(const std::vector<Sample>& samples) {
    std::vector<Observation> result;
    for (const Sample& sample : samples) {
        Observation seen;
        if (sample.status != SampleStatus::Ok || sample.time.median_us <= 0.0) continue;
        if (sample.op == "gemm") take_gemm(sample, seen);
        if (sample.op == "attention") take_attention(sample, seen);
        if (sample.op == "stream") take_stream(sample, seen);
        if (sample.op == "collective" && number(sample, "ranks") > 1) take_collective(sample, seen);
        if (seen.family.empty()) continue;
        seen.time_s = sample.time.median_us * 1e-6;
        seen.clock_mhz = sample.clock_mhz;
        seen.power_w = sample.power_w;
        seen.mode = sample.clock;
        const auto split = find_field(sample.tags, "split");
        seen.held_out = split ? *split == "judge"
                              : std::visit([](const auto& work) { return held_out_by_shape(work); }, seen.op.work);
        result.push_back(std::move(seen));
    }
    return result;
}

}  // namespace tilewright
