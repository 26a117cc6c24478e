// One table says which samples are one kernel (or one call) to the lowering, of which kind, and how many times the
// tensor crosses memory where the sample does not count its bytes, as PyTorch's do not.
#include "fit/stream_samples.h"

#include <charconv>

#include "tilewright/device_names.h"

namespace tilewright {
namespace {

struct Known {
    std::string_view kind, pass, form;  ///< of the sample; an empty form stands for any
    StreamKind stream;
    double tensors;  ///< read and written
};

constexpr Known table[] = {
    {"layernorm", "forward", "", StreamKind::Norm, 2},
    {"layernorm", "backward", "", StreamKind::NormBackward, 5},
    {"rmsnorm", "forward", "", StreamKind::RmsNorm, 2},
    {"rmsnorm", "backward", "", StreamKind::RmsNormBackward, 5},
    {"residual", "forward", "", StreamKind::Pointwise, 3},
    {"residual", "backward", "eager", StreamKind::Pointwise, 0},
    {"rotary", "forward", "compiled", StreamKind::Rotary, 2},
    {"rotary", "backward", "compiled", StreamKind::Strided, 2},  // beside the values' gradient
    {"split", "backward", "compiled", StreamKind::Pointwise, 2},
    {"turn", "forward", "eager", StreamKind::Strided, 2},  // one kernel of a rotation
    {"turn", "backward", "eager", StreamKind::Strided, 2},
    {"rotary", "forward", "fused", StreamKind::Rotary, 2},
    {"rotary", "backward", "fused", StreamKind::Rotary, 2},
    {"bias", "forward", "", StreamKind::Strided, 2},
    {"bias", "backward", "", StreamKind::Columns, 1},
    {"gelu", "forward", "compiled", StreamKind::Activation, 2},
    {"gelu", "backward", "compiled", StreamKind::ActivationBackward, 3},
    {"gelu", "forward", "eager", StreamKind::Activation, 2},
    {"gelu", "forward", "fused", StreamKind::Strided, 2},  // adds a bias
    {"gelu", "backward", "eager", StreamKind::ActivationBackward, 3},
    {"gelu", "backward", "fused", StreamKind::Columns, 3},  // sums the bias's gradient
    {"swiglu", "forward", "compiled", StreamKind::Gate, 3},
    {"swiglu", "backward", "compiled", StreamKind::GateBackward, 5},
    {"swiglu", "forward", "fused", StreamKind::Gate, 3},
    {"swiglu", "backward", "fused", StreamKind::GateBackward, 5},
    {"softmax", "forward", "", StreamKind::Softmax, 2},
    {"softmax", "backward", "", StreamKind::SoftmaxBackward, 3},
    {"crossentropy", "forward", "compiled", StreamKind::Loss, 1},
    {"crossentropy", "backward", "compiled", StreamKind::LossGradient, 2},
    {"crossentropy", "forward", "eager", StreamKind::Loss, 0},          // of fp32, as those that count their bytes are
    {"crossentropy", "forward", "fused", StreamKind::LossGradient, 2},  // one kernel for both
    {"crossentropy", "backward", "eager", StreamKind::LossGradient, 0},
    {"widen", "forward", "eager", StreamKind::Widen, 3},
    {"narrow", "backward", "eager", StreamKind::Pointwise, 3},
    {"append", "forward", "eager", StreamKind::Strided, 2},
    {"append", "forward", "compiled", StreamKind::Pointwise, 2},
    {"multiply", "forward", "eager", StreamKind::Pointwise, 3},
    {"silu", "forward", "eager", StreamKind::Activation, 2},
    {"silu", "backward", "eager", StreamKind::ActivationBackward, 3},
    {"embedding", "forward", "", StreamKind::Embedding, 2},
    {"embedding", "backward", "", StreamKind::EmbeddingBackward, 2},
    {"adamw", "forward", "fused", StreamKind::Optimizer, 7},
};

bool is_pytorch(const Sample& sample) { return find_field(sample.tags, "source") == "pytorch"; }

/// Without operands in turn (the fact `copies`) PyTorch's samples replay one kernel on tensors that stay in L2 where
/// they fit, as fast as the host can: only what is larger, or is slow with few rows, tells the kernel's own time.
bool tells(const Sample& sample, const Stream& stream) {
    constexpr double beyond_cache = 45e6;  // bytes; the L2 of an H200 holds 60
    constexpr double replay_us = 5.5;      // of a graph, at most, by the host
    if (!is_pytorch(sample) || find_field(sample.facts, "copies")) return true;
    return stream.read.value > beyond_cache || (stream.rows <= 128 && sample.time.median_us > replay_us);
}

bool fits(const Known& known, const Sample& sample) {
    return known.kind == word(sample, "kind") && known.pass == word(sample, "pass") &&
           (known.form.empty() || known.form == word(sample, "form"));
}

const Known* find(const Sample& sample) {
    for (const Known& known : table) {
        if (fits(known, sample)) return &known;
    }
    return nullptr;
}

}  // namespace

std::int64_t number(const Sample& sample, std::string_view name) {
    const std::string_view text = word(sample, name);
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::string_view word(const Sample& sample, std::string_view name) {
    return find_field(sample.sizes, name).value_or("");
}

void take_stream(const Sample& sample, Observation& seen) {
    const Known* known = find(sample);
    if (known == nullptr) return;
    Stream stream;
    stream.kind = known->stream;
    stream.rows = number(sample, "rows");
    stream.width = number(sample, "width");
    const StreamForm form = find_named<StreamForm>(word(sample, "form")).value_or(StreamForm::Fused);
    if (is_pytorch(sample)) stream.form = form == StreamForm::Compiled ? form : StreamForm::Eager;
    const double tensor = 2.0 * static_cast<double>(stream.rows) * static_cast<double>(stream.width);
    stream.read = {sample.bytes > 0.0 ? sample.bytes : known->tensors * tensor};
    if (stream.read.value <= 0.0 || !tells(sample, stream)) return;
    seen.op.work = stream;
    seen.family = "stream " + std::string(known->kind) + (known->pass == "backward" ? " backward" : "") +
                  (stream.form == StreamForm::Fused   ? ""
                   : stream.form == StreamForm::Eager ? ", pytorch"
                                                      : ", torch.compile");
}

}  // namespace tilewright
