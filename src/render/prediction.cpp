// Grouping of a priced step, and the lines that text answers share.
#include "render/prediction.h"

#include <fmt/format.h>

#include <algorithm>

#include "render/style.h"
#include "render/units.h"
#include "tilewright/cost_names.h"
#include "tilewright/device_names.h"

namespace tilewright::render {
namespace {

std::string parallel_text(const Parallelism& parallel) {
    std::string text;
    const auto add = [&](const char* name, std::int64_t ways) {
        if (ways > 1) text += fmt::format(", {} {}", name, ways);
    };
    add("tp", parallel.tp);
    add("pp", parallel.pp);
    add("dp", parallel.dp);
    add("cp", parallel.cp);
    add("ep", parallel.ep);
    if (parallel.zero_stage > 0) text += fmt::format(", ZeRO {}", parallel.zero_stage);
    return text;
}

std::string length_text(const Workload& workload) {
    const std::int64_t cached = workload.kv_len > 0 ? workload.kv_len : workload.seq;
    if (workload.phase == Phase::Decode) return fmt::format("{} × 1 token after {}", workload.batch, cached);
    std::string text = fmt::format("{} × {} tokens", workload.batch, workload.seq);
    if (workload.kv_len > 0) text += fmt::format(" over {}", workload.kv_len);
    return text;
}

/// What each grade of evidence is worth, in words.
std::string_view meaning(Evidence evidence) {
    switch (evidence) {
        case Evidence::Measured: return "on this GPU";
        case Evidence::Fitted: return "to measurements of this GPU";
        case Evidence::Transferred: return "from a related GPU by data sheet";
        case Evidence::Assumed: return "data-sheet and published constants where this GPU was not measured";
    }
    return "";
}

}  // namespace

std::vector<ComponentCost> by_component(const GraphCost& cost) {
    std::vector<ComponentCost> parts;
    for (const PricedOp& priced : cost.ops) {
        auto found = std::find_if(parts.begin(), parts.end(),
                                  [&](const auto& part) { return part.component == priced.op.component; });
        if (found == parts.end()) found = parts.insert(parts.end(), ComponentCost{priced.op.component, {}, {}});
        found->time += priced.total;
        for (std::size_t i = 0; i < term_count; ++i) {
            found->terms[i] += priced.cost.terms[i] * static_cast<double>(priced.op.count);
        }
    }
    std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
    return parts;
}

std::vector<PricedOp> slowest(const GraphCost& cost, std::size_t keep) {
    std::vector<PricedOp> ops = cost.ops;
    std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.total > b.total; });
    if (ops.size() > keep) ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(keep), ops.end());
    return ops;
}

double tokens_per_step(const Workload& workload) {
    const auto batch = static_cast<double>(workload.batch);
    return workload.phase == Phase::Decode ? batch : batch * static_cast<double>(workload.seq);
}

double tokens_per_second(const Prediction& prediction) {
    return tokens_per_step(prediction.workload) / prediction.step.sum.time.value;
}

std::string throughput_unit(const Workload& workload) {
    const Parallelism& parallel = workload.parallel;
    const std::int64_t gpus = parallel.tp * parallel.pp * parallel.cp;
    return gpus == 1 ? "tokens/s" : fmt::format("tokens/s on {} GPUs", gpus);
}

bool host_bound(const Prediction& prediction) {
    return prediction.workload.runtime == Runtime::Eager && prediction.step.host_time > prediction.step.sum.time;
}

bool fits(const Prediction& prediction) { return prediction.memory.total <= prediction.device.memory; }

std::string losses_text(const std::array<Seconds, term_count>& terms, Seconds time, double least) {
    std::vector<std::pair<double, Term>> lost;
    for (const auto& [word, term] : names<Term>) {
        const double share = terms[static_cast<std::size_t>(term)] / time;
        if (term != Term::Roofline && share >= least) lost.emplace_back(share, term);
    }
    std::stable_sort(lost.begin(), lost.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (const auto& [share, term] : lost) {
        text += fmt::format("{}{} {:.0f}%", text.empty() ? "" : ", ", name_of(term), 100.0 * share);
    }
    return text.empty() ? "-" : text;
}

std::string workload_text(const Workload& workload) {
    return fmt::format("{}{}, {}, {}, {}, attention {}, {} clock{}", name_of(workload.phase),
                       workload.forward_only ? " forward" : "", length_text(workload), name_of(workload.precision),
                       name_of(workload.runtime), name_of(workload.attention), name_of(workload.clock),
                       parallel_text(workload.parallel));
}

void append_header(std::string& out, const Prediction& prediction, const Style& style) {
    const Shape& shape = prediction.shape;
    const ParameterCount& params = prediction.params;
    out += paint(shape.name, Tone::Strong, style) + " on " + paint(prediction.device.name, Tone::Strong, style) +
           paint(" (" + prediction.device.full_name + ")", Tone::Dim, style) + "\n";
    std::string size = count_text(static_cast<double>(params.total)) + " parameters";
    if (params.active != params.total) size += ", " + count_text(static_cast<double>(params.active)) + " active";
    append_paragraph(out,
                     fmt::format("{} · {} layers, hidden {}, {} heads of {}, {} kv, ffn {}, vocab {}", size,
                                 shape.layers, shape.hidden, shape.heads, shape.head_dim, shape.kv_heads,
                                 shape.experts ? shape.experts->ffn : shape.ffn, shape.vocab),
                     2, style);
    append_paragraph(out, workload_text(prediction.workload), 2, style);
    out += "\n";
}

std::string evidence_text(Evidence evidence) { return fmt::format("{} ({})", name_of(evidence), meaning(evidence)); }

void append_evidence(std::string& out, const Prediction& prediction, const Style& style) {
    const Cost& sum = prediction.step.sum;
    append_paragraph(
        out,
        fmt::format("Evidence: {}; 90% interval {}.", evidence_text(sum.evidence), interval_text(sum.low, sum.high)), 2,
        style);
    for (const std::string& file : prediction.used) append_paragraph(out, "Used: " + file, 2, style);
}

}  // namespace tilewright::render
