// The columns of each family, and rows checked against them.
#include "measure/case.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tilewright::measure {
namespace {

constexpr std::array gemm_columns = {
    Column{"layout", "TN", "TN|NN|NT", "how A and B are stored"},
    Column{"m", "", "", "rows of C"},
    Column{"n", "", "", "columns of C"},
    Column{"k", "", "", "the dimension summed over"},
    Column{"batch", "1", "", "strided batch"},
    Column{"dtype", "bf16", "bf16|fp16|tf32|fp8", "operand type; sums are fp32"},
};

constexpr std::array attention_columns = {
    Column{"batch", "1", "", "sequences"},
    Column{"heads", "", "", "query heads"},
    Column{"kv_heads", "", "", "key and value heads"},
    Column{"q_len", "", "", "query tokens of a sequence"},
    Column{"kv_len", "", "", "key tokens of a sequence"},
    Column{"head_dim", "", "", "size of one head"},
    Column{"causal", "1", "0|1", "1: a query sees only keys up to its own place"},
    Column{"pass", "forward", "forward|backward", "backward is all of it, without the forward"},
    Column{"backend", "cudnn", "cudnn|unfused", "unfused: batched GEMM, masked softmax, batched GEMM"},
    Column{"dtype", "bf16", "bf16|fp16", "type of q, k, v"},
};

constexpr std::array stream_columns = {
    Column{"kind", "", "layernorm|rmsnorm|gelu|swiglu|residual|bias|rotary|softmax|embedding|crossentropy|adamw",
           "which kernel"},
    Column{"pass", "forward", "forward|backward", "of the kernel"},
    Column{"form", "eager", "eager|fused", "fused: with its usual neighbours (residual + norm, bias + gelu, …)"},
    Column{"rows", "", "", "tokens; for adamw 1"},
    Column{"width", "", "", "elements of a row; for adamw the parameters"},
    Column{"dtype", "bf16", "bf16|fp16", "element type"},
};

constexpr std::array bandwidth_columns = {
    Column{"kind", "copy", "copy|read", "copy counts bytes read and bytes written"},
    Column{"bytes", "", "", "of one buffer; never rotated, so small ones stay in L2"},
};

constexpr std::array launch_columns = {
    Column{"kind", "graph", "graph|eager", "an empty kernel queued in a graph, or launched by the host one by one"},
};

constexpr std::array layer_columns = {
    Column{"hidden", "", "", "model width"},
    Column{"heads", "", "", "query heads"},
    Column{"kv_heads", "", "", "key and value heads"},
    Column{"head_dim", "0", "", "0: hidden / heads"},
    Column{"ffn", "", "", "MLP width"},
    Column{"mlp", "gelu", "gelu|swiglu", "kind of MLP"},
    Column{"block", "sequential", "sequential|parallel", "form of the block"},
    Column{"norm", "layer", "layer|rms", "kind of norm"},
    Column{"phase", "train", "train|prefill|decode", "what is run"},
    Column{"pass", "train", "forward|train", "train: forward and backward"},
    Column{"batch", "", "", "sequences"},
    Column{"seq", "", "", "tokens of a sequence; in decode, of the KV cache"},
    Column{"precision", "bf16", "bf16|fp16", "of activations and weights"},
    Column{"runtime", "compiled", "eager|compiled|ideal", "how pointwise ops are fused"},
    Column{"attention", "auto", "auto|cudnn|unfused", "attention back end"},
    Column{"tp", "1", "", "of how many tensor ranks; more than one is emulated by one rank's shard"},
};

constexpr std::array collective_columns = {
    Column{"kind", "all_reduce", "all_reduce|all_gather|reduce_scatter|all_to_all|send_receive", "which collective"},
    Column{"bytes", "", "", "of the full tensor, as nccl-tests counts"},
    Column{"ranks", "0", "", "0: all that there are; another number is refused"},
};

constexpr std::array kinds = {
    CaseKind{"gemm", gemm_columns},
    CaseKind{"attention", attention_columns},
    CaseKind{"stream", stream_columns},
    CaseKind{"layer", layer_columns},
    CaseKind{"bandwidth", bandwidth_columns},
    CaseKind{"launch", launch_columns},
    CaseKind{"collective", collective_columns},
};

constexpr std::int64_t largest = std::int64_t{1} << 40;

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > largest) return std::nullopt;
    return value;
}

bool is_one_of(std::string_view word, std::string_view words) {
    while (!words.empty()) {
        const std::size_t bar = std::min(words.find('|'), words.size());
        if (words.substr(0, bar) == word) return true;
        words.remove_prefix(std::min(bar + 1, words.size()));
    }
    return false;
}

/// The word a row uses for a column: `precision` is understood where the family says `dtype`, and the other way round.
std::optional<std::string_view> find_value(const Fields& row, std::string_view column) {
    if (const auto value = find_field(row, column)) return value;
    if (column == "dtype") return find_field(row, "precision");
    if (column == "precision") return find_field(row, "dtype");
    return std::nullopt;
}

std::string fault_of(const Column& column, std::string_view value) {
    const std::string name(column.name);
    if (value.empty()) return name + " is missing";
    if (!column.words.empty() && !is_one_of(value, column.words)) {
        return name + " is '" + std::string(value) + "', not one of " + std::string(column.words);
    }
    const std::int64_t least = column.fallback == "0" ? 0 : 1;
    if (column.words.empty() && whole_number(value).value_or(-1) < least)
        return name + " is '" + std::string(value) + "', not a whole number from " + std::to_string(least);
    return "";
}

}  // namespace

std::span<const CaseKind> case_kinds() { return kinds; }

const CaseKind* find_case_kind(std::string_view op) {
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const CaseKind& kind) { return kind.op == op; });
    return found == kinds.end() ? nullptr : &*found;
}

std::int64_t Case::integer(std::string_view column) const {
    return whole_number(find_field(sizes, column).value_or("0")).value_or(0);
}

std::string_view Case::word(std::string_view column) const { return find_field(sizes, column).value_or(""); }

Result<Case> make_case(std::string_view op, const Fields& row, const std::string& where, int line) {
    const CaseKind* kind = find_case_kind(op);
    if (kind == nullptr) return Problem{where, line, "no op is called '" + std::string(op) + "'", ""};
    Case made{std::string(op), {}, {}};
    Problems problems;
    for (const Column& column : kind->columns) {
        std::string_view value = find_value(row, column.name).value_or("");
        if (value.empty()) value = column.fallback;
        if (std::string fault = fault_of(column, value); !fault.empty()) problems.push_back({where, line, fault, ""});
        made.sizes.emplace_back(column.name, value);
    }
    if (!problems.empty()) return problems;
    for (const auto& [name, value] : row) {
        const bool known = find_field(made.sizes, name) || name == "dtype" || name == "precision";
        if (!known) made.tags.emplace_back(name, value);
    }
    return made;
}

}  // namespace tilewright::measure
