// One table says which samples are one kernel (or one call) to the lowering, of which kind, and how many times the
// tensor crosses memory where the sample does not count its bytes, as PyTorch's do not.
#include "fit/stream_samples.h"

#include <charconv>

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
    {"rmsnorm", "forward", "", StreamKind::Norm, 2},
    {"rmsnorm", "backward", "", StreamKind::NormBackward, 5},
    {"residual", "forward", "", StreamKind::Pointwise, 3},
    {"residual", "backward", "eager", StreamKind::Pointwise, 0},
    {"rotary", "forward", "fused", StreamKind::Pointwise, 2},
    {"rotary", "backward", "fused", StreamKind::Pointwise, 2},
    {"bias", "forward", "", StreamKind::Strided, 2},
    {"bias", "backward", "", StreamKind::Columns, 1},
    {"gelu", "forward", "", StreamKind::Activation, 2},
    {"gelu", "backward", "", StreamKind::Activation, 3},
    {"swiglu", "forward", "fused", StreamKind::Activation, 3},
    {"swiglu", "backward", "fused", StreamKind::Activation, 5},
    {"softmax", "forward", "", StreamKind::Softmax, 2},
    {"softmax", "backward", "", StreamKind::Softmax, 3},
    {"crossentropy", "forward", "fused", StreamKind::Loss, 2},
    {"embedding", "forward", "", StreamKind::Embedding, 2},
    {"adamw", "forward", "fused", StreamKind::Optimizer, 7},
};

/// PyTorch's cross-entropy on logits in bf16: a log-softmax; backward a zero fill and its gradient.
constexpr Known pytorch_loss[] = {{"crossentropy", "forward", "eager", StreamKind::Loss, 2},
                                  {"crossentropy", "backward", "eager", StreamKind::Loss, 4}};

bool is_pytorch(const Sample& sample) { return find_field(sample.tags, "source") == "pytorch"; }

bool fits(const Known& known, const Sample& sample) {
    return known.kind == word(sample, "kind") && known.pass == word(sample, "pass") &&
           (known.form.empty() || known.form == word(sample, "form"));
}

const Known* find(const Sample& sample) {
    for (const Known& known : pytorch_loss) {
        if (is_pytorch(sample) && fits(known, sample)) return &known;
    }
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
    stream.form = is_pytorch(sample) ? StreamForm::Eager : StreamForm::Fused;
    const double tensor = 2.0 * static_cast<double>(stream.rows) * static_cast<double>(stream.width);
    stream.read = {sample.bytes > 0.0 ? sample.bytes : known->tensors * tensor};
    if (stream.read.value <= 0.0) return;
    seen.op.work = stream;
    seen.family = "stream " + std::string(known->kind) + (known->pass == "backward" ? " backward" : "") +
                  (stream.form == StreamForm::Eager ? ", pytorch" : "");
}

}  // namespace tilewright
