// Samples as kernels: what the codec makes of their sizes, and the family by which errors are told apart.
#include <map>

#include "tilewright/codec.h"
#include "tilewright/cost.h"
#include "tilewright/fit.h"
#include "tilewright/profile.h"

namespace tilewright {
namespace {

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

std::string product_family(const Gemm& gemm) {
    const bool narrow = gemm.precision == Precision::Fp8 || gemm.precision == Precision::Tf32;
    if (narrow) return std::string(name_of(gemm.precision)) + " gemm";
    return gemm.batch > 1 ? "batched gemm" : "gemm";
}

std::string family_of(const StreamCall& call, StreamForm form) {
    return "stream " + std::string(call.kernel) + (call.pass == AttentionPass::Backward ? " backward" : "") +
           (form == StreamForm::Fused   ? ""
            : form == StreamForm::Eager ? ", pytorch"
                                        : ", torch.compile");
}

bool is_pytorch(const Sample& sample) { return find_field(sample.tags, "source") == "pytorch"; }

/// Without operands in turn (the fact `copies`) PyTorch's samples replay one kernel on tensors that stay in L2 where
/// they fit, as fast as the host can: only what is larger, or is slow with few rows, tells the kernel's own time.
bool tells(const Sample& sample, const Stream& stream) {
    constexpr double beyond_cache = 45e6;  // bytes; the L2 of an H200 holds 60
    constexpr double replay_us = 5.5;      // of a graph, at most, by the host
    if (!is_pytorch(sample) || find_field(sample.facts, "copies")) return true;
    return stream.read.value > beyond_cache || (stream.rows <= 128 && sample.time.median_us > replay_us);
}

/// The kernel of a call as it was timed: PyTorch's, or one that we wrote for it, with its bytes where they were
/// counted.
std::optional<Stream> timed_stream(const Sample& sample, const StreamCall& call) {
    std::optional<Stream> stream = stream_of(call);
    if (!stream) return std::nullopt;
    if (!is_pytorch(sample))
        stream->form = StreamForm::Fused;
    else if (stream->form == StreamForm::Fused)
        stream->form = StreamForm::Eager;
    if (sample.bytes > 0.0) stream->read = {sample.bytes};
    return stream->read.value > 0.0 && tells(sample, *stream) ? stream : std::nullopt;
}

/// FNV-1a.
std::uint64_t hash(std::string_view text) {
    std::uint64_t value = 0xcbf29ce484222325U;
    for (char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return value;
}

/// Fills in kernel, family and kin. What is several kernels to the lowering, or none, leaves the family empty.
struct Observe {
    const Sample& sample;
    Observation& seen;

    void operator()(const Gemm& gemm) const { take(gemm, product_family(gemm), kin_of(gemm)); }
    void operator()(const Attention& attention) const { take(attention, family_of(attention), kin_of(attention)); }
    void operator()(const Collective& collective) const {
        if (collective.ranks > 1) take(collective, std::string(name_of(collective.kind)), kin_of(collective));
    }
    void operator()(const StreamCall& call) const {
        const std::optional<Stream> stream = timed_stream(sample, call);
        if (!stream) return;
        const std::string family = family_of(call, stream->form);
        take(*stream, family, hash(family + '-' + std::to_string(call.width)));
    }
    void operator()(const auto&) const {}

    void take(const auto& work, std::string family, std::uint64_t kin) const {
        seen.op.work = work;
        seen.family = std::move(family);
        const auto named = find_field(sample.tags, "family");
        seen.kin = named ? hash(*named) : kin;
    }
};

}  // namespace

Observation observation_of(const Described& described) {
    const auto of = [](const auto& work, std::string family) {
        Observation seen;
        seen.op.work = work;
        seen.kin = kin_of(work);
        seen.held_out = held_out_by_kin(seen.kin);
        seen.family = std::move(family);
        return seen;
    };
    if (const auto* attention = std::get_if<Attention>(&described.work)) return of(*attention, family_of(*attention));
    if (const auto* collective = std::get_if<Collective>(&described.work))
        return of(*collective, (collective->direct ? "direct " : "") + std::string(name_of(collective->kind)));
    const Gemm& gemm = std::get<Gemm>(described.work);
    return of(gemm, std::string(name_of(gemm.precision)) + (gemm.batch > 1 ? " batched gemm" : " gemm"));
}

Result<std::vector<Observation>> observe(const std::vector<Sample>& samples) {
    std::vector<Observation> result;
    for (const Sample& sample : samples) {
        const OpKind* kind = find_op_kind(sample.op);
        const bool timed = sample.status == SampleStatus::Ok && sample.time.median_us > 0.0;
        if (!timed || kind == nullptr || kind->name == "layer") continue;
        const Result<Described> described = decode(*kind, sample.sizes, {key(sample), 0});
        if (!described) return described.problems();
        Observation seen;
        std::visit(Observe{sample, seen}, described->work);
        if (seen.family.empty()) continue;
        seen.time_s = sample.time.median_us * 1e-6;
        seen.clock_mhz = sample.clock_mhz;
        seen.power_w = sample.power_w;
        seen.mode = sample.clock;
        seen.device = sample.device;
        const auto split = find_field(sample.tags, "split");
        seen.held_out = split ? *split == "judge" : held_out_by_kin(seen.kin);
        result.push_back(std::move(seen));
    }
    return result;
}

std::vector<GpuSamples> by_gpu(std::vector<SampleFile> files) {
    std::map<std::string, GpuSamples> gpus;
    for (SampleFile& file : files) {
        for (const Run& run : file.runs) {
            GpuSamples& gpu = gpus[std::string(find_field(run.facts, "device").value_or(""))];
            if (!find_field(gpu.facts, "compute_capability")) gpu.facts = run.facts;
        }
        for (Sample& sample : file.samples) gpus[sample.device].samples.push_back(std::move(sample));
    }
    std::vector<GpuSamples> found;
    for (auto& [name, gpu] : gpus) {
        if (gpu.samples.empty()) continue;
        gpu.device = name;
        found.push_back(std::move(gpu));
    }
    return found;
}

void take_launch_costs(const std::vector<Sample>& samples, Profile& start) {
    for (const Sample& sample : samples) {
        if (sample.op != "launch" || sample.status != SampleStatus::Ok) continue;
        Seconds& cost = find_field(sample.sizes, "kind") == "graph" ? start.kernel_gap : start.host_launch;
        cost = microseconds(sample.time.median_us);
    }
}

}  // namespace tilewright
