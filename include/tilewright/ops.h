// The kernels that a shape and a workload really launch, in order, with no time in them:
// lower(Shape, Workload) -> OpGraph. Sizes are per GPU, after tensor-parallel sharding.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "tilewright/engine_ops.h"
#include "tilewright/names.h"
#include "tilewright/quantity.h"
#include "tilewright/shape.h"
#include "tilewright/workload.h"

namespace tilewright {

/// How the operands of C[m,n] = A*B are stored, C row-major. TN: A [m,k], B [n,k] (a linear layer's forward).
/// NN: A [m,k], B [k,n] (input gradient). NT: A [k,m], B [k,n] (weight gradient).
enum class Layout { TN, NN, NT };

/// What of a product's operands was in L2 before it started. Of the four, a lowered layer's products are `Input`.
enum class Reuse {
    Sampled,  ///< as in the samples that the profile was fitted to
    None,     ///< all operands come from memory
    Input,    ///< A has just been written
    Rotated,  ///< A and C stay, B is one in turn of so many copies as fill L2, at most five
    All       ///< the same operands again and again
};
template <>
inline constexpr std::array<NameTable<Reuse>, 5> names<Reuse>{{{"sampled", Reuse::Sampled},
                                                               {"none", Reuse::None},
                                                               {"input", Reuse::Input},
                                                               {"rotated", Reuse::Rotated},
                                                               {"all", Reuse::All}}};

/// A dense product; `batch` is a strided batch, or the number of groups when `grouped` (one expert each).
struct Gemm {
    Layout layout = Layout::TN;
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    std::int64_t batch = 1;
    Precision precision = Precision::Bf16;
    bool grouped = false;
    Reuse reuse = Reuse::Sampled;
    Quantization quantization = Quantization::None;  ///< B is weights of that kind
    bool quantizes = false;                          ///< the call quantises A first

    friend bool operator==(const Gemm&, const Gemm&) = default;
};

enum class AttentionPass { Forward, Backward };

/// One fused attention kernel (forward, or the whole backward).
struct Attention {
    std::int64_t batch = 1;
    std::int64_t heads = 1;
    std::int64_t kv_heads = 1;
    std::int64_t q_len = 0;
    std::int64_t kv_len = 0;
    std::int64_t head_dim = 0;
    std::int64_t v_dim = 0;   ///< 0: as head_dim
    std::int64_t window = 0;  ///< 0: full
    bool causal = true;
    AttentionPass pass = AttentionPass::Forward;
    AttentionBackend backend = AttentionBackend::Auto;  ///< Auto: as the device has it, see `specialize`
    Precision precision = Precision::Bf16;
    bool narrow_cache = false;     ///< keys and values are kept in fp8
    bool widens_cache = false;     ///< and widened to 16 bits as they are read (TensorRT-LLM's XQA kernels)
    bool writes_cache = false;     ///< the queries' own keys and values go into the cache first
    Reuse reuse = Reuse::Sampled;  ///< None: keys and values come from memory

    friend bool operator==(const Attention&, const Attention&) = default;
};

/// How a kernel walks over memory, and what it does on the way, as far as its speed depends on it.
enum class StreamKind {
    Norm,          ///< a row's moments, then the row again
    NormBackward,  ///< both gradients of a norm: along the row, and over all rows
    Pointwise,     ///< element by element, in order
    Activation,    ///< the same with an exponential each
    Strided,       ///< element by element where an operand is broadcast, transposed or a slice
    Columns,       ///< sums over all rows
    Softmax,
    Embedding,
    Loss,          ///< a row's largest element and its sum of exponentials
    LossGradient,  ///< the same, then the row again
    Optimizer,
    Rotary,   ///< pairs of elements turned by angles from a table, queries and keys at once
    RmsNorm,  ///< a row's squares only
    RmsNormBackward,
    SoftmaxBackward,
    ActivationBackward,
    Gate,  ///< an activation times a second operand, in one kernel
    GateBackward,
    EmbeddingBackward,  ///< gradients of a table's rows: words sorted, then summed by word
    Widen               ///< element by element into a wider type
};
inline constexpr std::size_t stream_kind_count = 20;

/// Whose kernel it is: one that a person wrote for this step, PyTorch's for one operator, or what torch.compile
/// launches.
enum class StreamForm { Fused, Eager, Compiled };
inline constexpr std::size_t stream_form_count = 3;

/// The kind that stands for those whose kernels are alike.
constexpr StreamKind kin_of(StreamKind kind) {
    switch (kind) {
        case StreamKind::RmsNorm: return StreamKind::Norm;
        case StreamKind::RmsNormBackward: return StreamKind::NormBackward;
        case StreamKind::SoftmaxBackward: return StreamKind::Softmax;
        case StreamKind::ActivationBackward:
        case StreamKind::Gate:
        case StreamKind::GateBackward: return StreamKind::Activation;
        default: return kind;
    }
}

/// A kernel that only streams memory. Its arithmetic is not counted, as in every published FLOP count of a transformer.
struct Stream {
    StreamKind kind = StreamKind::Pointwise;
    std::int64_t rows = 0;   ///< independent rows (tokens)
    std::int64_t width = 0;  ///< elements of a row
    Bytes read;
    Bytes written;
    StreamForm form = StreamForm::Fused;

    friend bool operator==(const Stream&, const Stream&) = default;
};

/// The ranks that a collective joins. Neighbours are first tensor, then context, then data (and expert) ranks, then
/// pipeline stages.
enum class RankGroup { Tensor, Context, Expert, Data, Pipeline };

enum class CollectiveKind { AllReduce, AllGather, ReduceScatter, AllToAll, SendReceive };

/// Which all-reduce kernels of its own an engine runs where they are faster than the library's: a GPU reads everything
/// of all others (one shot), or its own part of it and then their sums (two).
enum class OwnSums {
    Any,
    OneShot,       ///< two shots never over more than two GPUs
    SmallOneShot,  ///< nor one of more than 1 MB over four GPUs, of 500 KB over more
    None,          ///< the library's alone
};

/// What a collective of tensor ranks runs beside: the product that reads what it gathers or makes what it scatters, of
/// which the ranks do a part at a time (Userbuffers of Transformer Engine, asynchronous tensor parallelism of PyTorch);
/// or a product of the same gradient that does not wait for it. One of context ranks runs beside attention, which takes
/// a part of keys and values at a time.
enum class Alongside : std::uint8_t { Nothing, Chunks, Product };

struct Collective {
    CollectiveKind kind = CollectiveKind::AllReduce;
    Bytes bytes;  ///< of the full tensor, as nccl-tests counts it
    std::int64_t ranks = 1;
    RankGroup group = RankGroup::Tensor;
    std::int64_t stride = 1;  ///< ranks are this many GPUs apart, which decides how many share a node
    bool direct = false;      ///< by a serving engine's own all-reduce kernel where that is faster than the library
    bool eager = false;       ///< with `direct`: launched outside a graph, through a copy into the engine's buffer
    bool vllm = false;        ///< with `direct`: vLLM's kernel
    OwnSums own_sums = OwnSums::Any;           ///< with `direct`
    Alongside alongside = Alongside::Nothing;  ///< a gather: the products after it; a sum: the one before it

    friend bool operator==(const Collective&, const Collective&) = default;
};

/// Which part of the model a kernel belongs to; tables and bars group by it.
enum class Component {
    Embedding,
    Norm,
    Qkv,
    Position,
    Attention,
    Projection,
    Mlp,
    Activation,
    Residual,
    Router,
    Head,
    Loss,
    Optimizer,
    Communication
};

enum class Pass { Forward, Backward, Update, Recompute };

/// Which stretch of the model a kernel belongs to.
enum class Part : std::uint8_t { Embedding, Layer, Head, Update };

/// One kernel, launched `count` times in a step; as lowered, what `specialize` may make several of.
struct Op {
    std::string_view name;  ///< a string literal: "qkv", "mlp up", "attention score", "qkv dW", …
    Component component = Component::Mlp;
    Pass pass = Pass::Forward;
    std::int64_t count = 1;
    std::variant<Gemm, Attention, Stream, Collective, ExpertMlp, LatentAttention, Exchange> work;
    Bytes saved;  ///< activation memory one launch keeps for the backward pass
    Part part = Part::Layer;
    bool ends_layer = false;    ///< forward: the layer's own backward pass needs nothing that this kernel writes
    bool waits = false;         ///< the host reads its result before it goes on
    bool beside_batch = false;  ///< an exchange that runs beside another micro-batch's kernels

    // a product, before `specialize` has decided
    bool pads = false;       ///< the runtime copies operands into whole 16-byte rows first where that is faster
    bool adds_bias = false;  ///< such a runtime adds a bias to the rows of the result

    // a kernel that `specialize` has put in
    bool for_alignment = false;  ///< aligned sizes would spare it: all of its time is what alignment costs
    bool prepares = false;       ///< writes into the tensor that the kernel after it writes
    bool within_call = false;    ///< the call of the kernel after it launches it: the host issues one op
    std::string_view origin{};   ///< the lowered op of which it does a part; empty: it is the op itself
};

/// The kernels of one step on one GPU, in launch order (a layer's kernels once, with count = layers).
struct OpGraph {
    std::vector<Op> ops;
};

/// The whole model: embedding, this GPU's layers, head; in training also loss, backward and the optimizer. With
/// pipeline stages, this GPU is the last one. docs/lowering.md lists the kernels. Both arguments must be valid, and fit
/// each other (see `validate(shape, workload)`).
OpGraph lower(const Shape& shape, const Workload& workload);

/// What a lowered op leaves to the device.
class Choices {
public:
    /// The back end that runs this call: never Auto, and Unfused where no fused kernel takes it.
    virtual AttentionBackend backend(const Attention& call) const = 0;
    /// Whether these kernels, one after another, take less time than that one.
    virtual bool faster(std::span<const Op> kernels, const Op& than) const = 0;

protected:
    ~Choices() = default;
};

/// Whether `specialize` may make other kernels of it; most ops are what they are launched as.
bool is_open(const Op& op);

/// Every op as the kernels that it is launched as: padding, copies and unfused attention are ops of their own, and
/// nothing is left open. A specialised graph stays as it is.
OpGraph specialize(const OpGraph& graph, const Choices& choices);
void specialize(const Op& op, const Choices& choices, std::vector<Op>& kernels);  ///< appends them

/// One layer alone, without embedding, head and optimizer. With experts, a layer that has them; with a window, a layer
/// that has it.
OpGraph lower_layer(const Shape& shape, const Workload& workload);

/// Reasons why this shape cannot run in this workload (heads not divisible by tp, …), beyond those of each alone.
Problems validate(const Shape& shape, const Workload& workload);

Flops flops(const Op& op);          ///< of one launch
Bytes bytes_read(const Op& op);     ///< of one launch: each input once
Bytes bytes_written(const Op& op);  ///< of one launch: each output once
Flops total_flops(const OpGraph& graph);

/// The largest power of two of bytes, from 2 to 128, that divides every contiguous row of the operands.
int row_bytes(const Gemm& gemm);

/// Of one element of B, scales included.
double weight_bytes(const Gemm& gemm);

/// Pairs (query, key) that attention really computes: q_len * kv_len less what the causal mask and the window remove.
double attended_pairs(const Attention& attention);

/// Whether this forward kernel runs again in the backward pass, which then need not keep what it wrote.
bool is_recomputed(const Op& op, Recompute recompute);

// The words for the enumerations above; names.h says how they are looked up.
template <>
inline constexpr std::array<NameTable<Layout>, 3> names<Layout>{
    {{"TN", Layout::TN}, {"NN", Layout::NN}, {"NT", Layout::NT}}};
template <>
inline constexpr std::array<NameTable<AttentionPass>, 2> names<AttentionPass>{
    {{"forward", AttentionPass::Forward}, {"backward", AttentionPass::Backward}}};
template <>
inline constexpr std::array<NameTable<StreamForm>, stream_form_count> names<StreamForm>{
    {{"fused", StreamForm::Fused}, {"eager", StreamForm::Eager}, {"compiled", StreamForm::Compiled}}};
template <>
inline constexpr std::array<NameTable<StreamKind>, stream_kind_count> names<StreamKind>{
    {{"norm", StreamKind::Norm},
     {"norm_backward", StreamKind::NormBackward},
     {"pointwise", StreamKind::Pointwise},
     {"activation", StreamKind::Activation},
     {"strided", StreamKind::Strided},
     {"columns", StreamKind::Columns},
     {"softmax", StreamKind::Softmax},
     {"embedding", StreamKind::Embedding},
     {"loss", StreamKind::Loss},
     {"loss_gradient", StreamKind::LossGradient},
     {"optimizer", StreamKind::Optimizer},
     {"rotary", StreamKind::Rotary},
     {"rms_norm", StreamKind::RmsNorm},
     {"rms_norm_backward", StreamKind::RmsNormBackward},
     {"softmax_backward", StreamKind::SoftmaxBackward},
     {"activation_backward", StreamKind::ActivationBackward},
     {"gate", StreamKind::Gate},
     {"gate_backward", StreamKind::GateBackward},
     {"embedding_backward", StreamKind::EmbeddingBackward},
     {"widen", StreamKind::Widen}}};
template <>
inline constexpr std::array<NameTable<CollectiveKind>, 6> names<CollectiveKind>{
    {{"all_reduce", CollectiveKind::AllReduce},
     {"all_gather", CollectiveKind::AllGather},
     {"reduce_scatter", CollectiveKind::ReduceScatter},
     {"all_to_all", CollectiveKind::AllToAll},
     {"send_receive", CollectiveKind::SendReceive},
     {"alltoall", CollectiveKind::AllToAll}}};
template <>
inline constexpr std::array<NameTable<Component>, 14> names<Component>{{{"embedding", Component::Embedding},
                                                                        {"norm", Component::Norm},
                                                                        {"qkv", Component::Qkv},
                                                                        {"position", Component::Position},
                                                                        {"attention", Component::Attention},
                                                                        {"projection", Component::Projection},
                                                                        {"mlp", Component::Mlp},
                                                                        {"activation", Component::Activation},
                                                                        {"residual", Component::Residual},
                                                                        {"router", Component::Router},
                                                                        {"head", Component::Head},
                                                                        {"loss", Component::Loss},
                                                                        {"optimizer", Component::Optimizer},
                                                                        {"communication", Component::Communication}}};
template <>
inline constexpr std::array<NameTable<Pass>, 4> names<Pass>{{{"forward", Pass::Forward},
                                                             {"backward", Pass::Backward},
                                                             {"update", Pass::Update},
                                                             {"recompute", Pass::Recompute}}};
template <>
inline constexpr std::array<NameTable<RankGroup>, 5> names<RankGroup>{{{"tensor", RankGroup::Tensor},
                                                                       {"context", RankGroup::Context},
                                                                       {"expert", RankGroup::Expert},
                                                                       {"data", RankGroup::Data},
                                                                       {"pipeline", RankGroup::Pipeline}}};

/// What MFU counts, of one step on all GPUs: products, and attention as its mask needs it; three times in training
/// (forward, and twice that backward), and nothing that is computed again (Chowdhery et al. 2022, appendix B).
Flops model_flops(const Shape& shape, const Workload& workload);

/// The same of one layer, one micro-batch.
Flops layer_model_flops(const Shape& shape, const Workload& workload);

}  // namespace tilewright
