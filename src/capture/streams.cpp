// Captured ops that stream memory, as the kernels of PyTorch that compute them. What decides among these is read in
// aten/native/cuda of PyTorch 2.11: a pointwise kernel loads whole words where all operands lie alike in memory,
// converts as it goes where types differ, and computes an offset for every element otherwise.
#include <algorithm>
#include <iterator>

#include "capture/tensors.h"

namespace tilewright::capture {
namespace {

Stream stream(StreamKind kind, const CapturedTensor& shaped, Bytes read, Bytes written) {
    const std::int64_t width = last_size(shaped);
    return {kind, std::max<std::int64_t>(1, elements(shaped) / width), width, read, written, StreamForm::Eager};
}

/// The operand that has most elements.
const CapturedTensor* largest(const Operands& operands) {
    const CapturedTensor* found = nullptr;
    for (const auto* list : {&operands.outputs(), &operands.inputs()}) {
        for (const CapturedTensor* tensor : *list) {
            if (found == nullptr || elements(*tensor) > elements(*found)) found = tensor;
        }
    }
    return found;
}

/// How a pointwise kernel walks over these operands; `whole` where all lie alike.
StreamKind walk_of(const Operands& operands, StreamKind whole) {
    const CapturedTensor* model = operands.outputs().empty() ? nullptr : operands.outputs().front();
    if (model == nullptr) return whole;
    bool converts = false;
    for (const auto* list : {&operands.inputs(), &operands.outputs()}) {
        for (const CapturedTensor* tensor : *list) {
            if (elements(*tensor) <= 1) continue;
            if (!is_dense(*tensor) || tensor->sizes != model->sizes) return StreamKind::Strided;
            if (tensor->strides != model->strides && !(is_contiguous(*tensor) && is_contiguous(*model))) {
                return StreamKind::Strided;
            }
            converts = converts || bytes_of(tensor->type) < bytes_of(model->type);
        }
    }
    return converts ? StreamKind::Widen : whole;
}

void pointwise(const Operands& operands, StreamKind whole, Kernels& kernels) {
    const CapturedTensor* shaped = largest(operands);
    if (shaped == nullptr || elements(*shaped) < 1) return;
    append_stream(operands, stream(walk_of(operands, whole), *shaped, operands.read(), operands.written()), kernels);
}

/// A result filled with a value.
void fill(const Operands& operands, Kernels& kernels) {
    for (const CapturedTensor* tensor : operands.outputs()) {
        append_stream(operands, stream(StreamKind::Pointwise, *tensor, {}, {distinct_bytes(*tensor)}), kernels);
    }
}

/// A result filled with zeros, into part of which the operand is copied.
void fill_and_copy(const Operands& operands, Kernels& kernels) {
    fill(operands, kernels);
    if (operands.inputs().empty()) return;
    const CapturedTensor& part = *operands.inputs().front();
    const Bytes bytes{distinct_bytes(part)};
    append_stream(operands, stream(StreamKind::Strided, part, bytes, bytes), kernels);
}

/// A copy of the first operand, into which the kernel of the op in place writes.
void copy_and_write(const Operands& operands, Kernels& kernels) {
    if (operands.inputs().empty() || operands.outputs().empty()) return;
    if (!operands.name().ends_with('_')) {
        const CapturedTensor& from = *operands.inputs().front();
        const Bytes bytes{distinct_bytes(from)};
        append_stream(operands, stream(StreamKind::Pointwise, from, bytes, bytes), kernels);
    }
    pointwise(operands, StreamKind::Strided, kernels);
}

/// Whole words where every operand is contiguous. Otherwise each operand has its share of the chip, however small it
/// is, and a thread loads an element at a time: 0.62 TB/s of an H200 for the largest operand (gpt2 and opt of
/// data/captures under the profiler), of which a strided kernel's bytes are 2.2 times as fast.
void cat(const Operands& operands, Kernels& kernels) {
    constexpr double slower = 2.2;
    if (operands.outputs().empty()) return;
    const CapturedTensor& to = *operands.outputs().front();
    double most = 0;
    bool whole = is_contiguous(to);
    for (const CapturedTensor* from : operands.inputs()) {
        if (elements(*from) == 0) continue;
        most = std::max(most, distinct_bytes(*from));
        whole = whole && is_contiguous(*from);
    }
    const Bytes largest_part{slower * most};
    append_stream(operands,
                  whole ? stream(StreamKind::Pointwise, to, operands.read(), operands.written())
                        : stream(StreamKind::Strided, to, largest_part, largest_part),
                  kernels);
}

/// Sums and their like: along rows, or over them where the last dimension stays.
void reduce(const Operands& operands, Kernels& kernels) {
    if (operands.inputs().empty()) return;
    const CapturedTensor& from = *operands.inputs().front();
    if (elements(from) < 1) return;
    const std::vector<std::int64_t> dims = operands.integers(1);
    const auto rank = static_cast<std::int64_t>(from.sizes.size());
    const bool along_rows = dims.empty() || std::any_of(dims.begin(), dims.end(),
                                                        [&](std::int64_t dim) { return dim == -1 || dim == rank - 1; });
    const StreamKind kind = along_rows ? StreamKind::RmsNorm : StreamKind::Columns;  // a norm's first half
    append_stream(operands, stream(kind, from, operands.read(), operands.written()), kernels);
}

/// A kernel of whole rows: norms, softmax, the loss. The gradients of a norm's weights read both operands again.
template <StreamKind kind, int reads = 1>
void whole_rows(const Operands& operands, Kernels& kernels) {
    const CapturedTensor* shaped = largest(operands);
    if (shaped == nullptr || elements(*shaped) < 1) return;
    append_stream(operands, stream(kind, *shaped, operands.read() * reads, operands.written()), kernels);
}

/// Rows of a table by an index; those that are asked for again are at hand.
void look_up(const Operands& operands, Kernels& kernels) {
    if (operands.outputs().empty() || operands.inputs().empty()) return;
    const CapturedTensor& taken = *operands.outputs().front();
    const double written = distinct_bytes(taken), table = distinct_bytes(*operands.inputs().front());
    append_stream(operands, stream(StreamKind::Embedding, taken, {std::min(written, table)}, {written}), kernels);
}

/// Gradients of a table: a zeroed one, then rows sorted and summed by index.
void look_up_backward(const Operands& operands, Kernels& kernels) {
    fill(operands, kernels);
    if (operands.inputs().empty()) return;
    const CapturedTensor& gradient = *operands.inputs().front();
    const Bytes bytes{distinct_bytes(gradient)};
    append_stream(operands, stream(StreamKind::EmbeddingBackward, gradient, bytes, bytes), kernels);
}

/// Fused AdamW reads parameter, gradient and two moments and writes all but the gradient.
void adamw(const Operands& operands, Kernels& kernels) {
    const double bytes = operands.read().value;
    double count = 0;
    for (const CapturedTensor* tensor : operands.inputs()) count += static_cast<double>(elements(*tensor));
    append_stream(operands,
                  {StreamKind::Optimizer,
                   std::max<std::int64_t>(1, static_cast<std::int64_t>(count / 4)),
                   1,
                   {bytes},
                   {0.75 * bytes},
                   StreamForm::Eager},
                  kernels);
}

/// The loss reads one element a row.
void loss_forward(const Operands& operands, Kernels& kernels) {
    const CapturedTensor* probabilities = operands.tensor(0);
    if (probabilities == nullptr || elements(*probabilities) < 1) return;
    const double read =
        static_cast<double>(elements(*probabilities) / last_size(*probabilities)) * 32;  // a sector each
    append_stream(operands, {StreamKind::Pointwise, 1, 1, {read}, {4.0}, StreamForm::Eager}, kernels);
}

struct Entry {
    std::string_view name;
    void (*lower)(const Operands&, Kernels&);
};

template <StreamKind kind>
void each(const Operands& operands, Kernels& kernels) {
    pointwise(operands, kind, kernels);
}
constexpr auto plain = each<StreamKind::Pointwise>;
constexpr auto activation = each<StreamKind::Activation>;
constexpr auto activation_backward = each<StreamKind::ActivationBackward>;

/// In order of the name; names that end in "_" write into their first operand and are found without it.
constexpr Entry table[] = {
    {"_foreach_add", plain},
    {"_fused_adam", adamw},
    {"_fused_adamw", adamw},
    {"_fused_rms_norm", whole_rows<StreamKind::RmsNorm>},
    {"_fused_rms_norm_backward", whole_rows<StreamKind::RmsNormBackward, 2>},
    {"_log_softmax", whole_rows<StreamKind::Loss>},
    {"_log_softmax_backward_data", whole_rows<StreamKind::LossGradient>},
    {"_safe_softmax", whole_rows<StreamKind::Softmax>},
    {"_softmax", whole_rows<StreamKind::Softmax>},
    {"_softmax_backward_data", whole_rows<StreamKind::SoftmaxBackward>},
    {"_to_copy", plain},
    {"abs", plain},
    {"add", plain},
    {"addcdiv", plain},
    {"addcmul", plain},
    {"amax", reduce},
    {"amin", reduce},
    {"any", reduce},
    {"arange", fill},
    {"argmax", reduce},
    {"argmin", reduce},
    {"bernoulli", plain},
    {"bitwise_and", plain},
    {"bitwise_not", plain},
    {"bitwise_or", plain},
    {"cat", cat},
    {"clamp", plain},
    {"clamp_min", plain},
    {"clone", plain},
    {"constant_pad_nd", fill_and_copy},
    {"copy", plain},
    {"cos", plain},
    {"div", plain},
    {"elu", activation},
    {"embedding", look_up},
    {"embedding_dense_backward", look_up_backward},
    {"eq", plain},
    {"erf", activation},
    {"exp", activation},
    {"fill", fill},
    {"floor_divide", plain},
    {"full", fill},
    {"full_like", fill},
    {"gather", look_up},
    {"ge", plain},
    {"gelu", activation},
    {"gelu_backward", activation_backward},
    {"gt", plain},
    {"hardtanh", plain},
    {"index", look_up},
    {"index_put", copy_and_write},
    {"index_select", look_up},
    {"isnan", plain},
    {"le", plain},
    {"leaky_relu", plain},
    {"log", activation},
    {"logical_and", plain},
    {"logical_not", plain},
    {"logical_or", plain},
    {"lt", plain},
    {"masked_fill", copy_and_write},
    {"max", reduce},
    {"maximum", plain},
    {"mean", reduce},
    {"min", reduce},
    {"minimum", plain},
    {"mse_loss", reduce},
    {"mul", plain},
    {"native_dropout", plain},
    {"native_dropout_backward", plain},
    {"native_group_norm", whole_rows<StreamKind::Norm>},
    {"native_group_norm_backward", whole_rows<StreamKind::NormBackward, 2>},
    {"native_layer_norm", whole_rows<StreamKind::Norm>},
    {"native_layer_norm_backward", whole_rows<StreamKind::NormBackward, 2>},
    {"ne", plain},
    {"neg", plain},
    {"new_full", fill},
    {"new_ones", fill},
    {"new_zeros", fill},
    {"nll_loss_backward", fill},  // zero but for one element a row
    {"nll_loss_forward", loss_forward},
    {"normal", fill},
    {"ones", fill},
    {"ones_like", fill},
    {"pow", plain},
    {"rand", fill},
    {"randint", fill},
    {"randn", fill},
    {"reciprocal", plain},
    {"relu", plain},
    {"repeat", each<StreamKind::Strided>},
    {"rsqrt", plain},
    {"rsub", plain},
    {"scalar_tensor", fill},
    {"scatter", copy_and_write},
    {"scatter_add", copy_and_write},
    {"select_backward", fill_and_copy},
    {"sigmoid", activation},
    {"sigmoid_backward", activation_backward},
    {"silu", activation},
    {"silu_backward", activation_backward},
    {"sin", plain},
    {"slice_backward", fill_and_copy},
    {"sqrt", plain},
    {"stack", each<StreamKind::Strided>},
    {"sub", plain},
    {"sum", reduce},
    {"tanh", activation},
    {"tanh_backward", activation_backward},
    {"threshold_backward", activation_backward},
    {"tril", plain},
    {"triu", plain},
    {"uniform", fill},
    {"var_mean", reduce},
    {"where", plain},
    {"zero", fill},
    {"zeros", fill},
    {"zeros_like", fill},
};
constexpr bool before(const Entry& a, const Entry& b) { return a.name < b.name; }
static_assert(std::is_sorted(std::begin(table), std::end(table), before));

}  // namespace

bool lower_stream(const Operands& operands, Kernels& kernels) {
    std::string_view name = operands.name();
    if (name.ends_with('_')) name.remove_suffix(1);
    const auto found = std::lower_bound(std::begin(table), std::end(table), Entry{name, nullptr}, before);
    if (found == std::end(table) || found->name != name) return false;
    found->lower(operands, kernels);
    return true;
}

}  // namespace tilewright::capture
