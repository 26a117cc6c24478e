// One known_calls says which calls are one kernel to the lowering, of which kind, and how many times the tensor crosses
// memory.
#include "tilewright/codec.h"

namespace tilewright {
namespace {

using enum AttentionPass;
using enum StreamForm;

constexpr std::optional<StreamForm> any_form;

struct Known {
    std::string_view kernel;
    AttentionPass pass;
    std::optional<StreamForm> form;  ///< empty: each of them
    StreamKind kind;
    double tensors;  ///< read and written; 0: not a multiple of the tensor
};

constexpr Known known_calls[] = {
    {"layernorm", Forward, any_form, StreamKind::Norm, 2},
    {"layernorm", Backward, any_form, StreamKind::NormBackward, 5},
    {"rmsnorm", Forward, any_form, StreamKind::RmsNorm, 2},
    {"rmsnorm", Backward, any_form, StreamKind::RmsNormBackward, 5},
    {"residual", Forward, any_form, StreamKind::Pointwise, 3},
    {"residual", Backward, Eager, StreamKind::Pointwise, 0},
    {"rotary", Forward, Compiled, StreamKind::Rotary, 2},
    {"rotary", Backward, Compiled, StreamKind::Strided, 2},  // beside the values' gradient
    {"split", Backward, Compiled, StreamKind::Pointwise, 2},
    {"turn", Forward, Eager, StreamKind::Strided, 2},  // one kernel of a rotation
    {"turn", Backward, Eager, StreamKind::Strided, 2},
    {"rotary", Forward, Fused, StreamKind::Rotary, 2},
    {"rotary", Backward, Fused, StreamKind::Rotary, 2},
    {"bias", Forward, any_form, StreamKind::Strided, 2},
    {"bias", Backward, any_form, StreamKind::Columns, 1},
    {"gelu", Forward, Compiled, StreamKind::Activation, 2},
    {"gelu", Backward, Compiled, StreamKind::ActivationBackward, 3},
    {"gelu", Forward, Eager, StreamKind::Activation, 2},
    {"gelu", Forward, Fused, StreamKind::Strided, 2},  // adds a bias
    {"gelu", Backward, Eager, StreamKind::ActivationBackward, 3},
    {"gelu", Backward, Fused, StreamKind::Columns, 3},  // sums the bias's gradient
    {"swiglu", Forward, Compiled, StreamKind::Gate, 3},
    {"swiglu", Backward, Compiled, StreamKind::GateBackward, 5},
    {"swiglu", Forward, Fused, StreamKind::Gate, 3},
    {"swiglu", Backward, Fused, StreamKind::GateBackward, 5},
    {"softmax", Forward, any_form, StreamKind::Softmax, 2},
    {"softmax", Backward, any_form, StreamKind::SoftmaxBackward, 3},
    {"crossentropy", Forward, Compiled, StreamKind::Loss, 1},
    {"crossentropy", Backward, Compiled, StreamKind::LossGradient, 2},
    {"crossentropy", Forward, Eager, StreamKind::Loss, 0},          // of fp32, as those that count their bytes are
    {"crossentropy", Forward, Fused, StreamKind::LossGradient, 2},  // one kernel for both
    {"crossentropy", Backward, Eager, StreamKind::LossGradient, 0},
    {"widen", Forward, Eager, StreamKind::Widen, 3},
    {"narrow", Backward, Eager, StreamKind::Pointwise, 3},
    {"append", Forward, Eager, StreamKind::Strided, 2},
    {"append", Forward, Compiled, StreamKind::Pointwise, 2},
    {"multiply", Forward, Eager, StreamKind::Pointwise, 3},
    {"silu", Forward, Eager, StreamKind::Activation, 2},
    {"silu", Backward, Eager, StreamKind::ActivationBackward, 3},
    {"embedding", Forward, any_form, StreamKind::Embedding, 2},
    {"embedding", Backward, any_form, StreamKind::EmbeddingBackward, 2},
    {"adamw", Forward, Fused, StreamKind::Optimizer, 7},
};

bool fits(const Known& known, const StreamCall& call) {
    return known.kernel == call.kernel && known.pass == call.pass && known.form.value_or(call.form) == call.form;
}

}  // namespace

std::optional<Stream> stream_of(const StreamCall& call) {
    for (const Known& known : known_calls) {
        if (!fits(known, call)) continue;
        Stream stream;
        stream.kind = known.kind;
        stream.rows = call.rows;
        stream.width = call.width;
        stream.form = call.form;
        stream.read = {known.tensors * element_bytes(call.precision) * static_cast<double>(call.rows) *
                       static_cast<double>(call.width)};
        return stream;
    }
    return std::nullopt;
}

}  // namespace tilewright
