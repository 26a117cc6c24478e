// The software that runs a step, as data: what it joins, the kernels of every step beside the products, what issuing
// them costs the host, and what it holds beside tensors. data/runtimes has the files, docs/runtimes.md their fields.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/ops.h"
#include "tilewright/result.h"
#include "tilewright/workload.h"

namespace tilewright {

/// How a step beside the products is launched.
enum class Fusion {
    Apart,    ///< a kernel for every operator
    Joined,   ///< one kernel, or part of the stream that follows
    Epilogue  ///< no kernel: the product before does it
};
/// Which kernels write what a product with one fp8 scale reads in fp8; after the others a kernel quantises.
enum class Fp8Writers { None, Inner, All };  ///< inner: attention and activations, not norms
template <>
inline constexpr std::array<NameTable<Fp8Writers>, 3> names<Fp8Writers>{
    {{"none", Fp8Writers::None}, {"inner", Fp8Writers::Inner}, {"all", Fp8Writers::All}}};
template <>
inline constexpr std::array<NameTable<Fusion>, 3> names<Fusion>{
    {{"apart", Fusion::Apart}, {"joined", Fusion::Joined}, {"epilogue", Fusion::Epilogue}}};
template <>
inline constexpr std::array<NameTable<OwnSums>, 4> names<OwnSums>{{{"any", OwnSums::Any},
                                                                   {"one_shot", OwnSums::OneShot},
                                                                   {"small_one_shot", OwnSums::SmallOneShot},
                                                                   {"none", OwnSums::None}}};

/// Which tokens of a prompt get logits when serving.
enum class Logits { All, Last };
template <>
inline constexpr std::array<NameTable<Logits>, 2> names<Logits>{{{"all", Logits::All}, {"last", Logits::Last}}};

/// What runs attention that is not asked for by name: a fused kernel that knows the mask is causal, one that is given
/// the mask and computes the whole square, or PyTorch's batched products in fp32.
enum class AttentionForm { Fused, Masked, Unfused, Math };
template <>
inline constexpr std::array<NameTable<AttentionForm>, 4> names<AttentionForm>{{{"fused", AttentionForm::Fused},
                                                                               {"masked", AttentionForm::Masked},
                                                                               {"unfused", AttentionForm::Unfused},
                                                                               {"math", AttentionForm::Math}}};

/// The steps whose kernels a runtime may list; what is listed replaces what the fields of `RuntimeTraits` imply.
enum class ListedStep {
    RmsNorm,          ///< rows x width of the norm
    LayerNorm,        ///< the same
    Rotary,           ///< of queries and of keys, where positions turn them; tokens x heads, tokens x kv heads
    Query,            ///< between product and rotation: scaling, copies; tokens x heads
    Key,              ///< the same; tokens x kv heads
    Value,            ///< the same
    Qkv,              ///< after one product for all three; tokens x all heads
    Cache,            ///< keys and values into the cache; tokens of the cache x kv heads
    DecodeCache,      ///< the same when decoding
    AttentionOutput,  ///< tokens x heads
    Activation,       ///< of a plain MLP; tokens x its width
    Gate,             ///< of a gated one
    Bias,             ///< after every product with a bias; tokens x its result
    Start,            ///< masks, positions and rotary tables before the layers; one token
    DecodeStart,      ///< the same when decoding
    Embedding,        ///< after the look-up; tokens x hidden
    Logits,           ///< after the head; tokens x vocabulary
    Loss,             ///< the same, in training
    Router,           ///< after its product; tokens x experts
    Permute,          ///< tokens into expert order; routed tokens x hidden
    ExpertGate,       ///< of a gated expert; routed tokens x its width
    Combine,          ///< back from it; routed tokens x hidden
    Sample,           ///< after the logits, in decode; sequences x vocabulary
    Weights,          ///< before a product and after its gradient: casts; its weights
    Input,            ///< before a product that reads a norm's output, and after its gradient; tokens x width
    Residual,         ///< an addition to the stream; tokens x hidden
    Sum               ///< backward: of the gradients of two readers of a tensor; tokens x width
};
inline constexpr std::size_t listed_step_count = 27;
template <>
inline constexpr std::array<NameTable<ListedStep>, listed_step_count> names<ListedStep>{
    {{"rms_norm", ListedStep::RmsNorm},
     {"layer_norm", ListedStep::LayerNorm},
     {"rotary", ListedStep::Rotary},
     {"query", ListedStep::Query},
     {"key", ListedStep::Key},
     {"value", ListedStep::Value},
     {"qkv", ListedStep::Qkv},
     {"cache", ListedStep::Cache},
     {"decode_cache", ListedStep::DecodeCache},
     {"attention_output", ListedStep::AttentionOutput},
     {"activation", ListedStep::Activation},
     {"gate", ListedStep::Gate},
     {"bias", ListedStep::Bias},
     {"start", ListedStep::Start},
     {"decode_start", ListedStep::DecodeStart},
     {"embedding", ListedStep::Embedding},
     {"logits", ListedStep::Logits},
     {"loss", ListedStep::Loss},
     {"router", ListedStep::Router},
     {"permute", ListedStep::Permute},
     {"expert_gate", ListedStep::ExpertGate},
     {"combine", ListedStep::Combine},
     {"sample", ListedStep::Sample},
     {"weights", ListedStep::Weights},
     {"input", ListedStep::Input},
     {"residual", ListedStep::Residual},
     {"sum", ListedStep::Sum}}};

/// One line of such a list. Traffic is in units of the tensor that the step works on.
struct StepKernel {
    StreamKind kind = StreamKind::Pointwise;
    double reads = 0, writes = 0;
    double keeps = 0;  ///< of what it writes, for the backward pass
    std::int64_t times = 1;
    bool waits = false;  ///< the host reads its result before it goes on

    friend bool operator==(const StepKernel&, const StepKernel&) = default;
};

/// The kernels of a step in the order of launch.
struct StepKernels {
    std::vector<StepKernel> forward, backward;

    friend bool operator==(const StepKernels&, const StepKernels&) = default;
};

/// What lowering asks of a runtime. docs/lowering.md has the traffic of each step by runtime.
struct RuntimeTraits {
    StreamForm form = StreamForm::Eager;   ///< whose streaming kernels
    Fusion residual = Fusion::Apart;       ///< additions to the residual stream; joined: in the norm that follows
    Fusion gradient_sums = Fusion::Apart;  ///< of a tensor's readers; joined: the products accumulate, epilogue: where
                                           ///< replicas reduce, too
    Fusion activation = Fusion::Apart;
    Fusion rotary = Fusion::Apart;     ///< and laying the gradients of q, k and v side by side
    Fusion cache = Fusion::Apart;      ///< new keys and values into the cache
    Fusion scores = Fusion::Apart;     ///< of unfused attention: the mask; epilogue: no heads are expanded either
    Fusion embedding = Fusion::Apart;  ///< learned positions; epilogue: a tied table's gradient goes to the head's
    Fusion loss = Fusion::Apart;       ///< apart: on logits widened to fp32; epilogue: one kernel for both passes
    Fusion experts = Fusion::Apart;    ///< tokens in and out of expert order
    bool norms_read_again = true;      ///< the gradient of a norm's weights is a kernel that reads again
    bool bias_gradients = true;        ///< sums over rows in kernels of their own
    bool pads_products = false;        ///< operands are copied into whole 16-byte rows where that is faster
    bool widens_rows = false;          ///< wide results have rows of whole 128 bytes: no epilogue adds a bias
    bool joins_qkv = true;             ///< one product for queries, keys and values
    bool joins_gate = false;           ///< one product for both halves of a gated MLP
    bool joins_expert_gate = false;    ///< the same in experts
    bool weights_by_input = false;     ///< stored [in, out]: the layouts of products change places
    bool dropout = false;              ///< drops what a half adds to the stream, in training, unless told not to
    bool deepep = false;               ///< in training, tokens go to their experts by DeepEP, else by an all-to-all
    std::int64_t deepep_units = 20;    ///< that copy tokens then
    bool asynchronous = false;         ///< tensor ranks exchange a gradient beside the products that do not need it
    bool cache_turns = false;          ///< the kernel that writes the cache turns queries and keys, too
    Fp8Writers writes_fp8 = Fp8Writers::None;
    bool gathers_experts = false;  ///< decode copies the weights of each token's experts, then multiplies
    Logits logits = Logits::All;   ///< of a prompt
    AttentionForm attention = AttentionForm::Fused;
    AttentionForm grouped_attention = AttentionForm::Fused;  ///< where several query heads share a key head
    MasterWeights master = MasterWeights::None;              ///< that training keeps unless told otherwise
    double spread = 1.0;             ///< within which nine in ten steps are known, beside the prices of their kernels
    double expert_spread = 1.0;      ///< the same of models of experts, where it is larger
    std::int64_t forward_views = 0;  ///< ops of a layer that the host runs and that launch nothing
    std::int64_t backward_views = 0;
    std::array<std::optional<StepKernels>, listed_step_count> steps;

    const StepKernels* listed(ListedStep step) const {
        const auto& list = steps[static_cast<std::size_t>(step)];
        return list ? &*list : nullptr;
    }

    friend bool operator==(const RuntimeTraits&, const RuntimeTraits&) = default;
};

/// What issuing costs the host, on the machine it was measured on. All zero where kernels are replayed as a graph.
struct HostCosts {
    Seconds forward, forward_view;    ///< an op that launches a kernel, one that does not
    Seconds backward, backward_view;  ///< the same in the backward pass
    Seconds update_tensor;            ///< of the optimizer, a parameter tensor
    Seconds step;                     ///< what a training step takes beside its ops: Python between them
    Seconds prompt, token;            ///< the same of a prompt's pass, and of a decoded token
    double spread = 1.0;              ///< between the fast and the slow moments of such machines: 90% lie within
    bool waits_each_step = false;     ///< a step begins when the one before it is done

    friend bool operator==(const HostCosts&, const HostCosts&) = default;
};

/// Memory beside tensors.
struct MemoryBeside {
    Bytes context;     ///< of the driver and the libraries
    Bytes workspace;   ///< of the matrix library, which the framework counts
    double slack = 0;  ///< of what comes and goes in a step, that the allocator holds and cannot hand out
    double held = 0;   ///< tensors T h e that variables of the program hold while a layer serves; 0: nothing is held
    bool prompt_cache = true;   ///< keys and values of a prompt are kept
    bool with_prompt = false;   ///< decoding comes after the prompt's pass in one program, and needs its memory
    bool wide_weights = false;  ///< fp32 master weights are the model's own: forward runs under autocast

    friend bool operator==(const MemoryBeside&, const MemoryBeside&) = default;
};

/// Sequences and tokens of a step that an engine's own benchmark sets for a model.
struct BenchSteps {
    std::string model;  ///< by its name
    std::int64_t tp = 1;
    std::int64_t length = 0;  ///< of a request, prompt and answer; 0: any
    std::int64_t max_batch = 0, chunk = 0;

    friend bool operator==(const BenchSteps&, const BenchSteps&) = default;
};

/// What an engine that batches continuously is set to, unless told otherwise; docs/serving.md.
struct Engine {
    double memory_share = 1;       ///< of the GPU's memory, for weights, activations and the cache together
    double free_share = 1;         ///< of what these leave, for the cache
    std::int64_t block = 16;       ///< tokens of a block of the cache
    std::int64_t max_batch = 256;  ///< sequences of a step
    std::int64_t chunk = 8192;     ///< tokens of a step, prompts included
    bool sizes_steps = false;      ///< both follow from memory and lengths when everything comes at once (bench_limits)
    std::vector<BenchSteps> bench_steps;  ///< of models for which they are listed instead
    bool whole_prompts = false;           ///< in steps so sized no prompt is split
    bool windows = true;           ///< a window that all layers have is used, and layers with one keep no more than it
    bool expert_launches = false;  ///< with int4 weights every expert has kernels of its own
    ExpertLibrary expert_library = ExpertLibrary::Usual;  ///< whose kernels experts run on
    bool gathers_tokens = false;  ///< every GPU gets all tokens for its experts, instead of those that chose them
    bool own_fp8 = false;  ///< its vendor's checkpoints of Qwen3 are run, with a scale a tensor, not Qwen's in blocks
    bool own_requests = false;  ///< GPUs that share experts may have requests of their own within tensor parallelism
    bool widens_cache = false;  ///< decoding widens an fp8 cache as it is read, so that only its bytes take time
    OwnSums own_sums = OwnSums::Any;  ///< the all-reduce kernels of its own that run
    std::int64_t decode_group = 0;    ///< of query heads, the only number that shares keys when decoding; 0: any
    bool pads_batches = false;        ///< decoding replays graphs of a few sizes (graph_batch)
    std::int64_t turns_beyond = 0;    ///< GPUs of the experts beyond which two half batches run in turn; 0: never
    Seconds prompt_step, step;  ///< that the GPU waits between steps: for one with prompts, for one that decodes only
    Seconds sequence;           ///< the same, for each sequence of the step
    double spread = 1;          ///< within which 90% of published figures lie beside their kernels' own interval

    friend bool operator==(const Engine&, const Engine&) = default;
};

struct Runtime {
    std::string name;
    std::string title;                      ///< what it is, in a few words
    std::string version;                    ///< of the software that is described
    std::string source;                     ///< where the description comes from
    std::string rests_on;                   ///< "measured here", or "read from its source and documentation"
    RuntimeTraits traits;                   ///< of a model whose family is not named below
    std::optional<RuntimeTraits> autocast;  ///< with fp32 weights (`MasterWeights::Fp32`)
    HostCosts host;
    MemoryBeside memory;
    std::optional<Engine> engine;  ///< empty: it serves no load

    struct Family {
        std::string name;
        RuntimeTraits traits;
        std::optional<RuntimeTraits> autocast;

        friend bool operator==(const Family&, const Family&) = default;
    };
    std::vector<Family> families;  ///< classes that launch other kernels

    friend bool operator==(const Runtime&, const Runtime&) = default;
};

/// One line of a runtime's file: the key with its sections ("family.gpt2.gate.forward") and the value without quotes.
struct RuntimeEntry {
    std::string_view key, value;
    int line = 0;
};

/// The runtime that the lines describe, or every problem with its line.
Result<Runtime> read_runtime(std::span<const RuntimeEntry> entries, std::string_view name, const std::string& where);

/// A runtime of the table.
const Runtime& runtime_of(RuntimeId id);

/// Those built in, and whatever was added.
std::span<const Runtime> runtimes();

/// Adds a user's own, before anything is asked of it. One of the same name is replaced, built in or not.
RuntimeId add_runtime(Runtime runtime);

/// By name; also "eager" and "compiled".
std::optional<RuntimeId> find_runtime(std::string_view name);

/// The copy of the parameters that the workload's runtime trains with unless told otherwise.
MasterWeights usual_master(const Workload& workload);

/// The workload with fp8 as the checkpoints have it that its engine runs: DeepSeek-V3's, Kimi-K2's and Qwen3's are
/// scaled in blocks.
Workload as_published(const Shape& shape, Workload workload);

/// What lowering follows for this family of models.
const RuntimeTraits& traits_of(const Workload& workload, std::string_view family = {});

}  // namespace tilewright
