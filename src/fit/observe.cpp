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

/// A hash of three numbers.
std::uint64_t mixed(std::int64_t a, std::int64_t b, std::int64_t c) {
    auto value = static_cast<std::uint64_t>(a) * 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 29) ^ static_cast<std::uint64_t>(b)) * 0xbf58476d1ce4e5b9U;
    return (value ^ (value >> 32) ^ static_cast<std::uint64_t>(c)) * 0x94d049bb133111ebU;
}

}  // namespace

std::uint64_t kin_of(const Gemm& gemm) { return mixed(gemm.n, gemm.k, static_cast<std::int64_t>(gemm.layout)); }

std::uint64_t kin_of(const Attention& attention) {
    return mixed(attention.heads, attention.kv_heads, attention.head_dim);
}

std::uint64_t kin_of(const Collective& collective) {
    return mixed(static_cast<std::int64_t>(collective.bytes.value), collective.ranks,
                 static_cast<std::int64_t>(collective.kind));
}

std::string family_of(const Attention& attention) {
    const bool decode = attention.q_len == 1 && attention.kv_len > 1;
    return std::string(name_of(attention.backend)) + " " + (decode ? "decode" : std::string(name_of(attention.pass)));
}

namespace {

/// FNV-1a.
std::uint64_t hash(std::string_view text) {
    std::uint64_t value = 0xcbf29ce484222325U;
    for (char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return value;
}

/// The family that the sweep named; else what the op says, or a stream's kernel and width.
std::uint64_t kin_of(const Sample& sample, const Observation& seen) {
    if (const auto family = find_field(sample.tags, "family")) return hash(*family);
    if (const Gemm* gemm = std::get_if<Gemm>(&seen.op.work)) return kin_of(*gemm);
    if (const Attention* attention = std::get_if<Attention>(&seen.op.work)) return kin_of(*attention);
    if (const Collective* collective = std::get_if<Collective>(&seen.op.work)) return kin_of(*collective);
    return hash(seen.family + '-' + std::string(word(sample, "width")));
}

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
        seen.kin = kin_of(sample, seen);
        const auto split = find_field(sample.tags, "split");
        seen.held_out = split ? *split == "judge" : held_out_by_kin(seen.kin);
        result.push_back(std::move(seen));
    }
    return result;
}

}  // namespace tilewright
