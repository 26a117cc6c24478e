// The price of a kernel that streams memory: its bytes at the bandwidth that its kind reaches, what each row takes
// beside them and one row the thread block that walks it, after starting it and filling the chip; then what of that was
// learnt to be wrong by how long it takes, and of ours by shape.
#include "cost/correction.h"
#include "cost/explain.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

constexpr std::int64_t word_elements = 8;  ///< elements of two bytes in 16 bytes
constexpr double half_full = 768.0;        ///< bytes a unit of which a kernel is half of `fill` (docs/cost.md)

/// How many times longer rows take than whole ones. Those of a compiled concatenation are whole where they are blocks
/// of 1024 elements, and half so where they are half blocks; those of PyTorch's norms where they are words of 8 bytes
/// (docs/notebook, PyTorch's kernels).
double ragged_of(const Stream& stream, const StreamKernel& kernel) {
    if (stream.form == StreamForm::Compiled && stream.kind == StreamKind::Strided) {
        if (stream.width % compiled_row == 0) return 1.0;
        return stream.width % (compiled_row / 2) == 0 ? kernel.ragged : kernel.ragged * kernel.ragged;
    }
    const bool norm = kin_of(stream.kind) == StreamKind::Norm || kin_of(stream.kind) == StreamKind::NormBackward;
    const std::int64_t word = norm && stream.form == StreamForm::Eager ? word_elements / 2 : word_elements;
    return stream.width % word == 0 ? 1.0 : kernel.ragged;
}

/// Seconds of one row beside its bytes. PyTorch's norms leave rows that are no whole words to two other kernels, a
/// block of 512 threads a row each, of which a unit holds four (layer_norm_kernel.cu; rows of 570 to 3,195 elements on
/// an H200, which take 7.5 to 17 ns each).
double row_of(const Stream& stream, const StreamKernel& kernel, const Device& device) {
    constexpr double odd_row_s = 2.9e-6, at_once = 4.0;
    const double ragged = ragged_of(stream, kernel);
    const bool norm = kin_of(stream.kind) == StreamKind::Norm && stream.form == StreamForm::Eager;
    if (norm && ragged > 1.0) return odd_row_s / (at_once * static_cast<double>(device.units));
    return kernel.row.value * ragged;
}

/// Bytes that a kernel goes over again where rows are longer than it can keep: all of them; a compiled norm one operand
/// and the result, by blocks of 2048 elements whose last is masked (PyTorch 2.11,
/// torch/_inductor/runtime/triton_heuristics.py). Without a mask Welford's recurrence takes half as long
/// (docs/notebook, PyTorch's kernels).
double bytes_again(const Stream& stream, double bytes) {
    if (stream.form != StreamForm::Compiled || kin_of(stream.kind) != StreamKind::Norm) return bytes;
    constexpr std::int64_t block = 2 * compiled_row;
    const bool unmasked = stream.kind == StreamKind::Norm && stream.width % block == 0;
    const std::int64_t bytes_of_element = unmasked ? 2 : 4;
    const std::int64_t walked = ceil_div(stream.width, block) * block;
    return static_cast<double>(stream.rows) * static_cast<double>(bytes_of_element * walked);
}

/// PyTorch's kernels without vector loads take as long for an element of four bytes as for one of two: the instructions
/// around it bound them (8,192 x 2,048 broadcast products on an H200: 51 us in bf16, 54 in fp32).
double strided_bytes(const Stream& stream, double bytes) {
    const bool by_element = stream.form == StreamForm::Eager && stream.kind == StreamKind::Strided;
    const double each = bytes / (static_cast<double>(stream.rows) * static_cast<double>(stream.width));
    const bool four_in_four_out = each > 7.9 && each < 8.1;
    return by_element && four_in_four_out ? 0.5 * bytes : bytes;
}

}  // namespace

KernelClass class_of(const Stream& stream) {
    if (stream.form != StreamForm::Fused) return KernelClass::EagerStream;
    switch (kin_of(stream.kind)) {
        case StreamKind::Norm:
        case StreamKind::NormBackward:
        case StreamKind::Columns:
        case StreamKind::Softmax:
        case StreamKind::Loss:
        case StreamKind::LossGradient: return KernelClass::RowStream;
        default: return KernelClass::Stream;
    }
}

Cost Pricer::burst(const Stream& stream) const {
    const StreamKernel& kernel = profile().stream.of(stream.form)[static_cast<std::size_t>(stream.kind)];
    const double bytes = (stream.read + stream.written).value;
    const double memory = bytes * ready_->seconds_per_byte;
    const double again = static_cast<double>(stream.width) > kernel.once ? kernel.again - 1.0 : 0.0;
    const double moved = strided_bytes(stream, bytes) + again * bytes_again(stream, bytes);
    const double reached = std::max(memory, moved * ready_->seconds_per_byte / kernel.fraction);
    const double ragged = ragged_of(stream, kernel);
    const double streamed = reached * ragged + row_of(stream, kernel, device()) * static_cast<double>(stream.rows);
    const double walk = kernel.element.value * static_cast<double>(stream.width) * ragged;
    const double walked = std::max(streamed, walk) + kernel.exposed * std::min(streamed, walk);
    const double filled = bytes / (bytes + half_full * static_cast<double>(device().units));
    const double total = walked + kernel.launch.value + kernel.fill.value * filled;

    Explanation explanation;
    explanation.reach(Term::Roofline, memory);
    explanation.reach(Term::Memory, reached);
    explanation.reach(Term::Alignment, reached * ragged);
    explanation.reach(Term::Occupancy, walked);
    explanation.reach(Term::Launch, total);
    const Bound bound = reached * ragged < 0.5 * total ? Bound::Latency : Bound::Memory;
    Cost cost = explanation.finish(bound, profile().stream_evidence, interval(profile(), class_of(stream), bound));
    cost.clocked = {walked - memory};
    double time = std::max(memory, total * kernel.learnt.factor(total));
    if (stream.form == StreamForm::Fused) {
        const SharedCorrection& learnt = profile().stream.learnt[static_cast<std::size_t>(kin_of(stream.kind))];
        time = std::max(memory, time * learnt.factor(time, stream_features(stream)));
    }
    if (time != total) move_to(cost, time);
    keep_low(cost, profile().bandwidth_fraction);
    cost.energy_j = profile().power.stream.value * memory;
    return cost;
}

}  // namespace tilewright
