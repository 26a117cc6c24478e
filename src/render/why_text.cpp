// The text of `predict --why`: each kernel as it is launched, then the terms its time is made of.
#include <fmt/format.h>

#include <algorithm>

#include "render/predict.h"
#include "render/table.h"
#include "render/units.h"
#include "tilewright/cost_names.h"
#include "tilewright/device_names.h"

namespace tilewright::render {
namespace {

/// Sizes in as few columns as they can be read in.
struct SizeText {
    std::string operator()(const Gemm& gemm) const {
        const std::string many = gemm.batch > 1 ? fmt::format("{}·", gemm.batch) : "";
        return fmt::format("{} {}{}×{}×{}", name_of(gemm.layout), many, gemm.m, gemm.n, gemm.k);
    }
    std::string operator()(const Attention& attention) const {
        return fmt::format("{}·{} heads {}×{}×{}", attention.batch, attention.heads, attention.q_len, attention.kv_len,
                           attention.head_dim);
    }
    std::string operator()(const Stream& stream) const {
        return fmt::format("{}×{} {}", stream.rows, stream.width, bytes_text(stream.read + stream.written));
    }
    std::string operator()(const Collective& collective) const {
        return fmt::format("{} over {}", bytes_text(collective.bytes), collective.ranks);
    }
};

void append_kernels(std::string& out, const GraphCost& step, const Style& style) {
    Table table({{"kernel"},
                 {"n", Align::Right},
                 {"size", Align::Left, true},
                 {"tile", Align::Right},
                 {"waves", Align::Right},
                 {"each", Align::Right},
                 {"bound"}});
    for (const PricedOp& priced : step.ops) {
        table.row({kernel_text(priced.op), std::to_string(priced.op.count), size_text(priced.op),
                   tile_text(priced.cost), priced.cost.waves > 0 ? fmt::format("{:.2f}", priced.cost.waves) : "-",
                   time_text(priced.cost.time), std::string(name_of(priced.cost.bound))});
    }
    out +=
        paint("Kernels as launched (size: batch·m×n×k, queries×keys×head size; tile/split of k)", Tone::Strong, style) +
        "\n";
    table.append_to(out, style);
    out += "\n";
}

/// The terms that are not zero throughout.
std::vector<Term> terms_in(const GraphCost& step) {
    std::vector<Term> used;
    for (const auto& [word, term] : names<Term>) {
        const auto spends = [which = term](const PricedOp& priced) { return priced.cost.term(which).value != 0.0; };
        if (std::any_of(step.ops.begin(), step.ops.end(), spends)) used.push_back(term);
    }
    return used;
}

/// Column titles short enough for 80 columns.
std::string_view short_name(Term term) {
    if (term == Term::Alignment) return "align";
    if (term == Term::Occupancy) return "occup.";
    return name_of(term);
}

void append_terms(std::string& out, const GraphCost& step, const Style& style) {
    const TimeUnit unit = time_unit(step.sum.time);
    const std::vector<Term> terms = terms_in(step);
    std::vector<Column> columns = {{"kernel", Align::Left, true}};
    for (const Term term : terms) columns.push_back({std::string(short_name(term)), Align::Right});
    columns.push_back({"total", Align::Right});
    Table table(columns);
    const auto cell = [&](Seconds time) {
        std::string text = fmt::format("{:.3f}", time.value / unit.seconds);
        return text == "0.000" || text == "-0.000" ? "-" : text;
    };
    for (const PricedOp& priced : slowest(step, step.ops.size())) {
        std::vector<Cell> row = {kernel_text(priced.op)};
        for (const Term term : terms)
            row.emplace_back(cell(priced.cost.term(term) * static_cast<double>(priced.op.count)));
        row.emplace_back(cell(priced.total));
        table.row(std::move(row));
    }
    std::vector<Cell> last = {Cell("sum", Tone::Strong)};
    for (const Term term : terms) last.emplace_back(cell(step.sum.term(term)), Tone::Strong);
    last.emplace_back(cell(step.sum.time), Tone::Strong);
    table.row(std::move(last));
    out += paint(fmt::format("What the time is made of ({} of the step; terms add up to the total)", unit.name),
                 Tone::Strong, style) +
           "\n";
    table.append_to(out, style);
}

}  // namespace

std::string kernel_text(const Op& op) {
    return op.for_alignment ? fmt::format("{}: {}", op.origin, op.name) : std::string(op.name);
}

std::string size_text(const Op& op) { return std::visit(SizeText{}, op.work); }

std::string tile_text(const Cost& cost) {
    if (cost.tile_m == 0) return "-";
    std::string text = fmt::format("{}×{}", cost.tile_m, cost.tile_n);
    if (cost.split_k > 1) text += fmt::format("/{}", cost.split_k);
    return text;
}

std::string why_text(const Prediction& prediction, const Style& style) {
    std::string out = "\n";
    append_kernels(out, prediction.step, style);
    append_terms(out, prediction.step, style);
    return out;
}

}  // namespace tilewright::render
