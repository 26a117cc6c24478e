// The columns of every kind of op. Their order is that of a sample's sizes, so new ones come last.
#include <algorithm>

#include "ops/columns.h"
#include "ops/engine_columns.h"
#include "shape/defaults.h"
#include "tilewright/quantity.h"

namespace tilewright {
namespace {

using namespace columns;

constexpr std::string_view of_mlp = "as `mlp` implies";
constexpr About dtype{"dtype", "", "bf16", "of the operands; products are summed in fp32"};

constexpr Column clock_column = [] {
    Column column;
    column.name = "clock";
    column.type = ColumnType::Word;
    column.fallback = "sustained";
    column.help = "settled under this load, or rested to the top";
    column.words = words_of<Clock>;
    column.set = [](Described& d, double value) { d.clock = from_number<Clock>(value); };
    column.get = [](const Described& d) { return to_number(d.clock); };
    return column;
}();

/// Words of a product's operands: precisions, then ways to multiply by quantised weights, of which fp8 is said already.
constexpr std::size_t plain_words = names<Precision>.size();
constexpr std::size_t skipped_ways = 2;  // none, fp8
constexpr auto product_words = [] {
    std::array<std::string_view, plain_words + quantization_count - skipped_ways> words{};
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = i < plain_words ? names<Precision>[i].first : quantizations[i - plain_words + skipped_ways].name;
    }
    return words;
}();

/// Of the matrix units that multiply: those of int8 and fp4 take operands as those of fp8 do.
void set_product_dtype(Described& d, double value) {
    const auto place = static_cast<std::size_t>(value);
    Gemm& gemm = std::get<Gemm>(d.work);
    gemm.quantization = Quantization::None;
    gemm.quantizes = false;
    if (place < plain_words) return void(gemm.precision = from_number<Precision>(value));
    gemm.quantization = static_cast<Quantization>(place - plain_words + skipped_ways);
    gemm.quantizes = traits_of(gemm.quantization).quantizes;
    const bool half = traits_of(gemm.quantization).arithmetic == Arithmetic::Half;
    gemm.precision = half ? Precision::Bf16 : Precision::Fp8;
}

double get_product_dtype(const Described& d) {
    const Gemm& gemm = std::get<Gemm>(d.work);
    const auto way = static_cast<std::size_t>(gemm.quantization);
    return way < skipped_ways ? to_number(gemm.precision) : static_cast<double>(way - skipped_ways + plain_words);
}

constexpr Column product_dtype = [] {
    Column column;
    column.name = "dtype";
    column.type = ColumnType::Word;
    column.fallback = "bf16";
    column.help =
        "of the operands, summed in fp32; or how B's weights are quantised: `_wo` weights only; in bulk the quantising "
        "of A is included, except of `fp8_static`";
    column.words = product_words;
    column.set = set_product_dtype;
    column.get = get_product_dtype;
    return column;
}();

constexpr std::array gemm_columns = {
    word<Layout, &Gemm::layout>({"layout", "", "",
                                 "`TN`: A is [m,k], B is stored [n,k] (a linear layer's forward; attention score). "
                                 "`NN`: A [m,k], B [k,n] (input gradient; attention over value). `NT`: A is stored "
                                 "[k,m], B [k,n] (weight gradient)"}),
    count<&Gemm::m>({"m", "", "", "rows of C"}),
    count<&Gemm::n>({"n", "", "", "columns of C"}),
    count<&Gemm::k>({"k", "", "", "the dimension summed over"}),
    count<&Gemm::batch>({"batch", "", "", "products in a strided batch"}),
    product_dtype,
    clock_column,
    word<Reuse, &Gemm::reuse>(
        {"reuse", "", "sampled",
         "what L2 holds before: `none`; `input`: A; `rotated`: A, C and, of up to five copies that fill L2, one of B; "
         "`all`; `sampled`: as in the profile's samples"}),
};

constexpr std::array<std::string_view, 2> cache_words = {"bf16", "fp8"};

constexpr std::array attention_columns = {
    count<&Attention::batch>({"batch", "sequences", "", "sequences at a time"}),
    count<&Attention::heads>({"heads", "", "", "query heads"}),
    count<&Attention::kv_heads>({"kv_heads", "", "", "key and value heads; divides `heads`"}),
    count<&Attention::q_len>({"q_len", "tokens", "", "query tokens of a sequence"}),
    count<&Attention::kv_len>({"kv_len", "tokens", "", "key tokens of a sequence"}),
    count<&Attention::head_dim>({"head_dim", "elements", "", "size of one head"}),
    flag<&Attention::causal>({"causal", "", "", "1: a query sees only keys up to its own place"}),
    word<AttentionPass, &Attention::pass>({"pass", "", "", "`backward` is all of it, without the forward"}),
    word<AttentionBackend, &Attention::backend>(
        {"backend", "", "",
         "`unfused`: batched product, masked softmax, batched product; `engine`: the serving engines' kernel, which "
         "`cache_write` or `kv_dtype` fp8 also mean beside `auto`, `cudnn` or `flash2`"}),
    word<Precision, &Attention::precision>(dtype),
    clock_column,
    count<&Attention::window>({"window", "tokens", "0", "keys that a query sees at most; 0: all"}, 0),
    either<cache_words, &Attention::narrow_cache>(
        {"kv_dtype", "", "bf16", "of the cache; `fp8` is what serving engines run"}),
    flag<&Attention::writes_cache>(
        {"cache_write", "", "0", "1: as serving engines run it, with the new keys and values written to the cache"}),
};

constexpr std::array<std::string_view, 18> stream_kernels = {
    "layernorm",    "rmsnorm", "gelu", "swiglu",   "residual", "bias",  "rotary", "softmax", "embedding",
    "crossentropy", "adamw",   "silu", "multiply", "append",   "widen", "narrow", "split",   "turn"};

constexpr Column long_rows(Column column) {
    column.most = std::int64_t{1} << 40;
    return column;
}

constexpr std::array stream_columns = {
    literal<stream_kernels, &StreamCall::kernel>({"kind", "", "", "which kernel"}),
    word<AttentionPass, &StreamCall::pass>({"pass", "", "forward", "of the kernel"}),
    word<StreamForm, &StreamCall::form>(
        {"form", "", "eager",
         "`fused`: with its usual neighbours (residual and norm, bias and gelu, …); `compiled`: by torch.compile"}),
    long_rows(count<&StreamCall::rows>({"rows", "tokens", "", "independent rows; for adamw 1"})),
    long_rows(count<&StreamCall::width>({"width", "elements", "", "of a row; for adamw the parameters"})),
    word<Precision, &StreamCall::precision>({"dtype", "", "bf16", "of the elements"}),
};

constexpr std::array<std::string_view, 8> libraries = {"nccl",
                                                       "direct",
                                                       "NCCL",
                                                       "TRTLLM",
                                                       "SGLang_CustomAllReduce_graph",
                                                       "vLLM_custom_graph",
                                                       "SGLang_CustomAllReduce_eager",
                                                       "vLLM_custom_eager"};

void set_library(Described& d, double value) {
    const std::string_view word = libraries[static_cast<std::size_t>(value)];
    Collective& collective = std::get<Collective>(d.work);
    collective.direct = word != "nccl" && word != "NCCL";
    collective.eager = word.ends_with("eager");
    collective.vllm = word.starts_with("vLLM");
    collective.own_sums = word == "TRTLLM" ? OwnSums::OneShot : OwnSums::Any;
}

double get_library(const Described& d) {
    const Collective& collective = std::get<Collective>(d.work);
    const double of_vllm = collective.vllm ? 1.0 : 0.0;
    if (collective.own_sums != OwnSums::Any) return 3.0;
    return collective.eager ? 6.0 + of_vllm : collective.vllm ? 5.0 : collective.direct ? 1.0 : 0.0;
}

constexpr std::array collective_columns = {
    also(word<CollectiveKind, &Collective::kind>({"kind", "", "", "which collective"}), "op"),
    amount<&Collective::bytes, &Bytes::value>({"bytes", "bytes", "", "of the full tensor, as nccl-tests counts"}),
    also(count<&Collective::ranks>({"ranks", "GPUs", "", "that take part"}), "batch"),
    count<&Collective::stride>({"stride", "GPUs", "1", "between two ranks"}),
    also(with(either<libraries, &Collective::direct>({"library", "", "nccl",
                                                      "`direct`: a serving engine's own all-reduce; public tables name "
                                                      "the kernel, `_eager` outside a graph"}),
              set_library, get_library),
         "kernel"),
};

constexpr std::array<std::string_view, 2> passes = {"train", "forward"};

void set_mlp(Described& d, double value) { set_style(std::get<Stack>(d.work).shape, from_number<MlpKind>(value)); }

void set_block(Described& d, double value) {
    Shape& shape = std::get<Stack>(d.work).shape;
    shape.block = from_number<BlockForm>(value);
    shape.norms.per_layer = shape.block == BlockForm::Parallel ? 1 : 2;
}

double get_pass(const Described& d) {
    const Workload& workload = std::get<Stack>(d.work).workload;
    return workload.forward_only || workload.phase != Phase::Train ? 1.0 : 0.0;
}

constexpr Column stack_precision = [] {
    Column column;
    column.name = "precision";
    column.type = ColumnType::Word;
    column.help = "of weights and activations; in serving also how weights are quantised";
    column.words = precision_words;
    column.set = [](Described& d, double value) {
        set_precision(std::get<Stack>(d.work).workload, precision_words[static_cast<std::size_t>(value)]);
    };
    column.get = [](const Described& d) {
        const std::string_view word = precision_word(std::get<Stack>(d.work).workload);
        return static_cast<double>(std::find(precision_words.begin(), precision_words.end(), word) -
                                   precision_words.begin());
    };
    return column;
}();

/// Both a layer's and a model's; see `without`.
constexpr std::array stack_columns = {
    count<&Stack::shape, &Shape::hidden>({"hidden", "elements", "", "width of the model"}),
    count<&Stack::shape, &Shape::heads>({"heads", "", "", "query heads"}),
    count<&Stack::shape, &Shape::kv_heads>({"kv_heads", "", "", "key and value heads"}),
    count<&Stack::shape, &Shape::head_dim>({"head_dim", "elements", "0", "0: `hidden / heads`"}, 0),
    count<&Stack::shape, &Shape::ffn>({"ffn", "elements", "", "width of the MLP"}),
    with(word<MlpKind, &Stack::shape, &Shape::mlp>(
             {"mlp", "", "",
              "`gelu`: GPT style, with layer norms, biases, learned positions and a tied head; `swiglu`: Llama style, "
              "with RMS norms, rotary positions, no biases and a head of its own"}),
         set_mlp),
    with(word<BlockForm, &Stack::shape, &Shape::block>({"block", "", "", "`parallel` has one norm"}), set_block),
    word<NormKind, &Stack::shape, &Shape::norms, &Norms::kind>({"norm", "", of_mlp, "kind of norm"}),
    word<Phase, &Stack::workload, &Workload::phase>({"phase", "", "", "what is run"}),
    with(either<passes, &Stack::workload, &Workload::forward_only>(
             {"pass", "", "train", "`train`: forward and backward; where `phase` is not `train`, only `forward`"}),
         nullptr, get_pass),
    count<&Stack::workload, &Workload::batch>({"batch", "sequences", "", "sequences at a time"}),
    count<&Stack::workload, &Workload::seq>({"seq", "tokens", "", "of a sequence; in decode, of the KV cache"}),
    stack_precision,
    word<RuntimeId, &Stack::workload, &Workload::runtime>({"runtime", "", "", "how pointwise ops are fused"}),
    word<AttentionBackend, &Stack::workload, &Workload::attention>({"attention", "", "", "attention back end"}),
    count<&Stack::workload, &Workload::parallel, &Parallelism::tp>({"tp", "GPUs", "1", "tensor parallel degree"}),
    flag<&Stack::shape, &Shape::tied>({"tied", "", of_mlp, "1: the head shares the embedding's weights"}),
    count<&Stack::workload, &Workload::kv_len>({"kv_len", "tokens", "0", "attended to; 0: as the phase implies"}, 0),
    word<Positions, &Stack::shape, &Shape::positions>({"positions", "", of_mlp, "kind of positions"}),
    count<&Stack::shape, &Shape::layers>({"layers", "", "", "layers of the model"}),
    count<&Stack::shape, &Shape::vocab>({"vocab", "", "", "rows of the embedding as stored"}),
    clock_column,
};

template <std::size_t Left, std::size_t All>
constexpr std::array<Column, All - Left> without(const std::array<Column, All>& all,
                                                 const std::array<std::string_view, Left>& names) {
    std::array<Column, All - Left> some;
    std::copy_if(all.begin(), all.end(), some.begin(), [&](const Column& column) {
        return std::find(names.begin(), names.end(), column.name) == names.end();
    });
    return some;
}

constexpr auto layer_columns = without<2>(stack_columns, {"layers", "vocab"});
constexpr auto model_columns = without<1>(stack_columns, {"pass"});

constexpr std::array<std::string_view, 2> moves = {"copy", "read"};
constexpr std::array<std::string_view, 2> launchers = {"graph", "eager"};

constexpr std::array bandwidth_columns = {
    literal<moves, &Probe::kind>({"kind", "", "", "`copy` counts bytes read and bytes written"}),
    amount<&Probe::bytes, &Bytes::value>(
        {"bytes", "bytes", "", "of one buffer; never rotated, so small ones stay in L2"}),
};

constexpr std::array launch_columns = {
    literal<launchers, &Probe::kind>(
        {"kind", "", "", "an empty kernel queued in a graph, or launched by the host one by one"}),
};

/// No memory holds more elements than this, and a price of fewer overflows nothing.
void limit_elements(Reading& reading, const std::string& matrix, CheckedCount elements) {
    constexpr std::int64_t most = std::int64_t{1} << 50;
    const std::optional<std::int64_t> count = elements.value();
    if (!count || *count > most) reading.report(matrix + " has more than 2^50 elements", "make the sizes smaller");
}

void finish_gemm(Described& described, Reading& reading) {
    const Gemm& gemm = std::get<Gemm>(described.work);
    limit_elements(reading, "A", CheckedCount(gemm.m * gemm.k) * gemm.batch);
    limit_elements(reading, "B", CheckedCount(gemm.n * gemm.k) * gemm.batch);
    limit_elements(reading, "C", CheckedCount(gemm.m * gemm.n) * gemm.batch);
}

void finish_attention(Described& described, Reading& reading) {
    Attention& attention = std::get<Attention>(described.work);
    const bool served = attention.writes_cache || attention.narrow_cache;
    if (served && (attention.backend == AttentionBackend::Unfused || attention.backend == AttentionBackend::Flash1))
        reading.refuse("backend", "auto or engine, as no engine runs this one over its cache");
    if (served) attention.backend = AttentionBackend::Engine;
    if (attention.backend == AttentionBackend::Engine && attention.pass == AttentionPass::Backward)
        reading.refuse("pass", "forward, as engines have nothing else");
    if (attention.heads % attention.kv_heads != 0)
        reading.refuse("kv_heads", "a divisor of heads, " + std::to_string(attention.heads));
    const CheckedCount sequences = CheckedCount(attention.batch) * attention.heads;
    limit_elements(reading, "the product of queries and keys",
                   sequences * attention.q_len * std::max(attention.kv_len, attention.head_dim));
    limit_elements(reading, "the keys", sequences * attention.kv_len * attention.head_dim);
}

/// A learned position table holds as many rows as the row at hand needs.
void finish_stack(Described& described, Reading& reading) {
    auto& [shape, workload, whole] = std::get<Stack>(described.work);
    workload.clock = described.clock;
    derive_sizes(shape);
    if (shape.positions == Positions::Learned) shape.position_rows = std::max(workload.seq, workload.kv_len);
    reading.adopt(validate(shape));
    reading.adopt(validate(workload));
    if (reading.clean()) reading.adopt(validate(shape, workload));
}

void finish_layer(Described& described, Reading& reading) {
    auto& [shape, workload, whole] = std::get<Stack>(described.work);
    shape.layers = 1;
    shape.vocab = workload.parallel.tp;  // the smallest that tensor parallelism can split
    if (workload.phase != Phase::Train) {
        if (reading.given("pass") && !workload.forward_only) reading.refuse("pass", "forward where phase is not train");
        workload.forward_only = false;
    }
    finish_stack(described, reading);
}

template <class Work>
Described start_with(const Workload& defaults) {
    Work work;
    if constexpr (requires { work.precision; }) work.precision = defaults.precision;
    return {work, defaults.clock};
}

template <bool Whole>
Described start_stack(const Workload& defaults) {
    return {Stack{{}, defaults, Whole}, defaults.clock};
}

constexpr std::array kinds = {
    OpKind{"gemm", "one product C[m,n] = A·B, C row-major", gemm_columns, start_with<Gemm>, finish_gemm},
    OpKind{"attention", "one fused kernel", attention_columns, start_with<Attention>, finish_attention},
    OpKind{"stream", "one call that streams memory", stream_columns, start_with<StreamCall>, nullptr},
    OpKind{"collective", "one collective", collective_columns, start_with<Collective>, nullptr},
    OpKind{"layer", "a layer without embedding and head", layer_columns, start_stack<false>, finish_layer},
    OpKind{"model", "a whole model, in training with loss and a fused AdamW step", model_columns, start_stack<true>,
           finish_stack},
    OpKind{"bandwidth", "memory read, or read and written", bandwidth_columns, start_with<Probe>, nullptr},
    OpKind{"launch", "a kernel that does nothing", launch_columns, start_with<Probe>, nullptr},
    OpKind{"moe", "the routed experts of a layer on one GPU, as serving engines run them", moe_columns,
           start_with<ExpertMlp>, finish_moe},
    OpKind{"mla", "the core of latent attention with rotation and writing the cache", mla_columns,
           start_with<LatentCall>, finish_mla},
    OpKind{"alltoall", "dispatch or combine of experts' tokens by DeepEP", alltoall_columns, start_with<Exchange>,
           finish_alltoall},
};

}  // namespace

std::span<const OpKind> op_kinds() { return kinds; }

const OpKind* find_op_kind(std::string_view name) {
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const OpKind& kind) { return kind.name == name; });
    return found == kinds.end() ? nullptr : &*found;
}

}  // namespace tilewright
