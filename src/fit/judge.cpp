#include "fit/judge.h"

#include "tilewright/device_names.h"

namespace tilewright {
namespace {

constexpr std::array<std::string_view, 4> op_words{"gemm", "attention", "stream", "collective"};

std::size_t op_of(const Op& op) { return op.work.index(); }

std::string times(std::initializer_list<std::int64_t> sizes) {
    std::string text;
    for (std::int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
    return text;
}

std::string name_of_work(const Gemm& gemm) {
    return std::string(name_of(gemm.layout)) + ' ' + times({gemm.m, gemm.n, gemm.k}) +
           (gemm.batch > 1 ? " batch " + std::to_string(gemm.batch) : "") + ' ' + std::string(name_of(gemm.precision));
}

std::string name_of_work(const Attention& a) {
    return "batch " + std::to_string(a.batch) + ", heads " + std::to_string(a.heads) + '/' +
           std::to_string(a.kv_heads) + " of " + std::to_string(a.head_dim) + ", " + times({a.q_len, a.kv_len}) +
           (a.causal ? " causal" : "");
}

std::string name_of_work(const Stream& stream) { return times({stream.rows, stream.width}); }
std::string name_of_work(const Collective& collective) {
    return std::to_string(static_cast<std::int64_t>(collective.bytes.value)) + " bytes, " +
           std::to_string(collective.ranks) + " ranks";
}

std::string alignment_of(const Op& op) {
    const Gemm* gemm = std::get_if<Gemm>(&op.work);
    if (gemm == nullptr) return "";
    const int bytes = row_bytes(*gemm);
    return bytes < 4 ? "rows of 2 bytes" : bytes < 16 ? "rows of 4 or 8 bytes" : "rows of whole 16 bytes";
}

}  // namespace

Judge::Judge(const std::vector<Observation>& seen, const Device& device, const Profile& profile)
    : sustained_(device, profile, Clock::Sustained), burst_(sustained_.at(Clock::Burst)) {
    std::array<Observations, op_words.size()> fitted;
    for (const Observation& one : seen) {
        if (!one.held_out) fitted[op_of(one.op)].push_back(&one);
    }
    for (const Observations& of_op : fitted) simple_.emplace_back(of_op, device);
}

const SimpleModels& Judge::simple(const Op& op) const { return simple_[op_of(op)]; }

Judged Judge::kernel(const Observation& one) const {
    return {std::string(op_words[op_of(one.op)]),
            one.family,
            std::string(name_of(one.mode)),
            alignment_of(one.op),
            std::visit([](const auto& work) { return name_of_work(work); }, one.op.work),
            one.time_s,
            price_of(one, sustained_),
            simple(one.op).times(one.op)};
}

Judged Judge::layer(const TimedLayer& layer) const {
    const Pricer& pricer = layer.mode == ClockMode::Sustained ? sustained_ : burst_;
    Judged judged{"layer",    layer.kernel, std::string(name_of(layer.mode)), "",
                  layer.name, layer.time_s, price(layer.graph, pricer).sum,   {}};
    for (const Op& op : layer.graph.ops) {
        const SimpleTimes one = simple(op).times(op);
        const auto count = static_cast<double>(op.count);
        judged.simple.sheet += one.sheet * count;
        judged.simple.constant += one.constant * count;
        judged.simple.roofline += one.roofline * count;
    }
    return judged;
}

std::vector<Judged> Judge::kernels(const std::vector<Observation>& seen, Split split) const {
    std::vector<Judged> result;
    for (const Observation& one : seen) {
        if (one.held_out == (split == Split::HeldOut)) result.push_back(kernel(one));
    }
    return result;
}

}  // namespace tilewright
