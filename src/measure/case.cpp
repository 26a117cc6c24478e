// What of the codec's tables this program runs, and rows checked against it.
#include "measure/case.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tilewright::measure {
namespace {

/// The columns that this program takes, in the order of a sample's sizes, each with what it is when a row leaves it out
/// where that is not as the codec has it.
struct Family {
    std::string_view op, columns;
};

constexpr Family families[] = {
    {"gemm", "layout=TN m n k batch=1 dtype"},
    {"attention", "batch=1 heads kv_heads q_len kv_len head_dim causal=1 pass=forward backend=cudnn dtype"},
    {"stream", "kind pass form rows width dtype"},
    {"bandwidth", "kind=copy bytes"},
    {"launch", "kind=graph"},
    {"collective", "kind=all_reduce bytes ranks=0"},
};

constexpr std::array<std::string_view, 4> matrix_types = {"bf16", "fp16", "tf32", "fp8"};
constexpr std::array<std::string_view, 2> vector_types = {"bf16", "fp16"};
constexpr std::array<std::string_view, 1> attentions = {"cudnn"};
constexpr std::array<std::string_view, 2> forms = {"eager", "fused"};
constexpr std::array<std::string_view, 11> kernels = {"layernorm", "rmsnorm",      "gelu",   "swiglu",
                                                      "residual",  "bias",         "rotary", "softmax",
                                                      "embedding", "crossentropy", "adamw"};

/// Where this program runs fewer words than the codec knows.
struct Fewer {
    std::string_view op, column;
    std::span<const std::string_view> words;
};

constexpr Fewer fewer[] = {
    {"gemm", "dtype", matrix_types},
    {"attention", "backend", attentions},
    {"attention", "dtype", vector_types},
    {"stream", "kind", kernels},
    {"stream", "form", forms},
    {"stream", "dtype", vector_types},
};

/// "batch=1" of an op, as a column.
Column taken(std::string_view op, std::string_view item) {
    const std::size_t equals = std::min(item.find('='), item.size());
    Column column = *find_op_kind(op)->find(item.substr(0, equals));
    if (equals < item.size()) column.fallback = item.substr(equals + 1);
    if (column.fallback == "0") column.least = 0;
    for (const Fewer& one : fewer) {
        if (one.op == op && one.column == column.name) column.words = one.words;
    }
    return column;
}

CaseKind kind_of(const Family& family) {
    CaseKind kind{family.op, {}};
    for (std::string_view rest = family.columns; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        kind.columns.push_back(taken(family.op, rest.substr(0, end)));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return kind;
}

/// The word a row uses for a column: `precision` is understood where the family says `dtype`, and the other way round.
std::string_view find_value(const Fields& row, const Column& column) {
    std::optional<std::string_view> value = find_field(row, column.name);
    if (!value && column.name == "dtype") value = find_field(row, "precision");
    if (!value && column.name == "precision") value = find_field(row, "dtype");
    return value.value_or("").empty() ? column.fallback : *value;
}

}  // namespace

const std::vector<CaseKind>& case_kinds() {
    static const std::vector<CaseKind> kinds = [] {
        std::vector<CaseKind> made;
        for (const Family& family : families) made.push_back(kind_of(family));
        return made;
    }();
    return kinds;
}

const CaseKind* find_case_kind(std::string_view op) {
    const auto& kinds = case_kinds();
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const CaseKind& kind) { return kind.op == op; });
    return found == kinds.end() ? nullptr : &*found;
}

std::int64_t Case::integer(std::string_view column) const {
    const std::string_view text = word(column);
    double value = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return static_cast<std::int64_t>(value);
}

std::string_view Case::word(std::string_view column) const { return find_field(sizes, column).value_or(""); }

Result<Case> make_case(std::string_view op, const Fields& row, const std::string& where, int line) {
    const CaseKind* kind = find_case_kind(op);
    if (kind == nullptr) return Problem{where, line, "no op is called '" + std::string(op) + "'", ""};
    Case made{std::string(op), {}, {}};
    Problems problems;
    for (const Column& column : kind->columns) {
        const std::string_view value = find_value(row, column);
        if (!parse_cell(column, value)) problems.push_back(refusal(column, value, {where, line}));
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
