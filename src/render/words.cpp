// How values are told, wherever they are.
#include "render/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "render/table.h"
#include "render/units.h"
#include "tilewright/cost.h"
#include "tilewright/plan.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

std::string parallel_text(const Workload& workload) {
    const Parallelism& parallel = workload.parallel;
    std::string text;
    const auto add = [&](const char* name, std::int64_t ways) {
        if (ways > 1) text += fmt::format(", {} {}", name, ways);
    };
    add("tp", parallel.tp);
    add("pp", parallel.pp);
    add("dp", parallel.dp);
    add("cp", parallel.cp);
    add("ep", parallel.ep);
    if (parallel.etp > 0) text += fmt::format(", etp {}", parallel.etp);
    if (parallel.zero_stage > 0) text += fmt::format(", ZeRO {}", parallel.zero_stage);
    if (workload.micro_batches > 1) text += fmt::format(", {} micro-batches", workload.micro_batches);
    return text;
}

std::string length_text(const Workload& workload) {
    const std::int64_t cached = workload.kv_len > 0 ? workload.kv_len : workload.seq;
    const Prompts& prompts = workload.prompts;
    std::string text = fmt::format("{} × 1 token after {}", workload.batch, cached);
    if (prompts.count > 0) {
        text +=
            fmt::format(" with {} tokens of {} prompt{}", prompts.tokens, prompts.count, prompts.count > 1 ? "s" : "");
        if (prompts.cached > 0) text += fmt::format(" over {}", prompts.cached);
    }
    if (workload.phase == Phase::Decode) return text;
    text = fmt::format("{} × {} tokens", workload.batch, workload.seq);
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
    std::string operator()(const ExpertMlp& mlp) const {
        return fmt::format("{}×{}×{} to {} of {} over {}", mlp.tokens, mlp.hidden, mlp.ffn, mlp.active, mlp.experts,
                           mlp.ranks);
    }
    std::string operator()(const LatentAttention& attention) const {
        return fmt::format("{}·{} heads {}×{}×{}", attention.batch, attention.heads, attention.q_len, attention.kv_len,
                           attention.head_dim);
    }
    std::string operator()(const Exchange& exchange) const {
        return fmt::format("{} over {}", bytes_text({payload_bytes(exchange)}), exchange.ranks);
    }
};

Tone tone_of(Severity severity) {
    switch (severity) {
        case Severity::Error: return Tone::Bad;
        case Severity::Warning: return Tone::Caution;
        case Severity::Info: return Tone::Dim;
    }
    return Tone::Plain;
}

std::string cost_text(const Finding& finding) {
    if (finding.cost.value == 0.0) return "";
    return fmt::format("costs {}, {} of the step", time_text(finding.cost), percent_text(finding.share));
}

/// What of the gain is the finding's, where that is not about all: a model of another size, or two faults at once.
std::string removes_text(const Fix& fix) {
    constexpr double about = 0.05;
    if (fix.removes.value <= 0 || std::abs(fix.removes / fix.gain - 1.0) <= about) return "";
    const bool other_faults = fix.parameter_change == 0 && fix.removes < fix.gain;
    if (other_faults) return fmt::format(" ({} of that is this fault)", time_text(fix.removes));
    return fmt::format(" ({}{} at equal work)", fix.gain.value < 0 ? "saves " : "", time_text(fix.removes));
}

/// "ffn 3072"; "2 of 8 experts of ffn 14336".
std::string mlp_text(const Shape& shape) {
    if (!shape.experts) return fmt::format("ffn {}", shape.ffn);
    const Experts& experts = *shape.experts;
    const std::string shared =
        experts.shared_ffn > 0 ? fmt::format(" beside a shared one of {}", experts.shared_ffn) : "";
    return fmt::format("{} of {} experts of ffn {}{}", experts.active, experts.count, experts.ffn, shared);
}

/// Beside an interval that does not lie above one.
std::string_view doubt(const Candidate& candidate) {
    return candidate.proven() ? "" : candidate.high < 1.0 ? " slower" : " not proven";
}

bool listed_before(const std::vector<const Candidate*>& shown, const Candidate& candidate) {
    return std::any_of(shown.begin(), shown.end(),
                       [&](const Candidate* other) { return other->changed == candidate.changed; });
}

}  // namespace

std::string throughput_unit(const Workload& workload) {
    const std::int64_t gpus = gpu_count(workload.parallel);
    return gpus == 1 ? "tokens/s" : fmt::format("tokens/s on {} GPUs", gpus);
}

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

std::string host_bound_text(const Prediction& prediction) {
    std::string text =
        fmt::format("The host bounds this step: the GPU idles {}.", percent_text(prediction.idle / prediction.time));
    std::string helps;
    for (const HostRemedy& remedy : prediction.remedies) {
        helps += fmt::format("{}{} {:.2f}x", helps.empty() ? "" : ", ", remedy.what, remedy.speedup);
    }
    return helps.empty() ? text : text + " What helps, in tokens a second: " + helps + ".";
}

std::string formats_text(const Workload& workload) {
    const Formats& formats = workload.formats;
    std::string text(precision_word(workload));
    if (formats.weights && workload.phase != Phase::Train) text += " weights";
    if (formats.activations) text += fmt::format(", {} activations", name_of(*formats.activations));
    return formats.kv ? fmt::format("{}, {} cache", text, name_of(*formats.kv)) : text;
}

std::string workload_text(const Workload& workload) {
    return fmt::format("{}{}, {}, {}, {}, attention {}, {} clock{}", name_of(workload.phase),
                       workload.forward_only ? " forward" : "", length_text(workload), formats_text(workload),
                       name_of(workload.runtime), name_of(workload.attention), name_of(workload.clock),
                       parallel_text(workload));
}

std::string evidence_text(Evidence evidence) { return fmt::format("{} ({})", name_of(evidence), meaning(evidence)); }

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

std::string fix_text(const Fix& fix) {
    std::string text = fmt::format("{} {} -> {}", fix.dimension, fix.from, fix.to);
    if (fix.gain.value > 0) text += " saves " + time_text(fix.gain);
    if (fix.gain.value < 0) text += " costs " + time_text(fix.gain * -1.0);
    text += removes_text(fix);
    if (fix.other_work && fix.gain.value != 0) text += " at equal work, the step then takes " + time_text(fix.step);
    if (fix.parameter_change != 0) text += ", " + signed_count_text(fix.parameter_change) + " parameters";
    return text;
}

std::string changes_text(const Candidate& candidate) { return joined(candidate.changed); }

std::string causes_text(const Candidate& candidate) {
    std::string text;
    for (const Cause& cause : candidate.causes) {
        const bool faster = cause.speedup >= 1.0;
        const double times = faster ? cause.speedup : 1.0 / cause.speedup;
        text += fmt::format("{}{}: {} ", text.empty() ? "" : "; ", cause.change, name_of(cause.component));
        text += times < 1.005 ? "as fast" : fmt::format("{:.2f} times {}", times, faster ? "faster" : "slower");
    }
    return text;
}

std::string fastest_text(const Comparison& comparison) {
    const Prediction& base = comparison.shapes.front();
    const Prediction& fastest = comparison.shapes[comparison.fastest];
    if (comparison.fastest == 0) return fmt::format("{} is the fastest.", fastest.shape.name);
    const double size = static_cast<double>(fastest.params.total) / static_cast<double>(base.params.total);
    return fmt::format("{} is the fastest: {} the speed of {}, parameters {}.", fastest.shape.name,
                       speedup_text(fastest.tokens_per_s / base.tokens_per_s), base.shape.name,
                       change_text(size - 1.0));
}

std::string takeover_text(const Serving::Limit& limit) {
    if (limit.compute_batch == 0) return "never: reading weights and cache takes longer";
    return fmt::format("from batch {}{}", limit.compute_batch,
                       limit.compute_batch > limit.full_batch ? ", which does not fit" : "");
}

void append_title(std::string& out, std::string_view title, const Style& style) {
    out += "\n" + paint(title, Tone::Strong, style) + "\n";
}

std::array<std::pair<std::string_view, Bytes>, 12> memory_lines(const Memory& memory) {
    return {{{"weights", memory.weights},
             {"gradients", memory.gradients},
             {"optimizer", memory.optimizer},
             {"activations", memory.activations},
             {"logits", memory.logits},
             {"kv cache", memory.kv_cache},
             {"workspace", memory.workspace},
             {"allocated", memory.allocated},
             {"context", memory.context},
             {"communication", memory.communication},
             {"slack", memory.slack},
             {"total", memory.total}}};
}

std::string room_text(const Device& device) {
    return fmt::format("{} that may be used of {}", bytes_text(room(device)), bytes_text(device.memory));
}

std::string misfit_text(const Prediction& prediction) {
    std::string text;
    if (prediction.memory.total > room(prediction.device)) {
        text = fmt::format("Does not fit: {} needed, {} has {}. Lower --batch, or raise --tp or --pp.",
                           bytes_text(prediction.memory.total), prediction.device.name, room_text(prediction.device));
    }
    for (const std::string& note : prediction.notes) {
        text += fmt::format("{}Cannot run: {}.", text.empty() ? "" : " ", note);
    }
    return text;
}

std::string_view priced_text(const Prediction& prediction) {
    if (prediction.scope == Scope::Layer) return "layer";
    return prediction.split ? "micro-batch on one GPU" : "step";
}

void append_header(std::string& out, const Prediction& prediction, const Style& style) {
    const Shape& shape = prediction.shape;
    const ParameterCount& params = prediction.params;
    out += paint(shape.name, Tone::Strong, style) + " on " + paint(prediction.device.name, Tone::Strong, style) +
           paint(" (" + prediction.device.full_name + ")", Tone::Dim, style) + "\n";
    std::string size = count_text(static_cast<double>(params.total)) + " parameters";
    if (params.active != params.total) size += ", " + count_text(static_cast<double>(params.active)) + " active";
    append_paragraph(
        out,
        fmt::format("{} · {} layers, hidden {}, {} heads of {}, {} kv, {}, vocab {}", size, shape.layers, shape.hidden,
                    shape.heads, shape.head_dim, shape.kv_heads, mlp_text(shape), shape.vocab),
        2, style);
    append_paragraph(out, workload_text(prediction.workload), 2, style);
    out += "\n";
}

void append_evidence(std::string& out, const Prediction& prediction, const Style& style) {
    append_paragraph(out,
                     fmt::format("Evidence: {}; 90% interval {}.", evidence_text(prediction.kernels.sum.evidence),
                                 interval_text(prediction.low, prediction.high)),
                     2, style);
    for (const std::string& file : prediction.used) append_paragraph(out, "Used: " + file, 2, style);
}

void append_finding(std::string& out, const Finding& finding, const Style& style) {
    const std::string label(name_of(finding.severity));
    const int indent = 2 + 8 + 6;  // under the text that follows the severity and the code
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    out += "  " + paint(label, tone_of(finding.severity), style) + std::string(8 - label.size(), ' ') +
           std::string(finding.code) + " ";
    append_paragraph(out, finding.quantity, indent, style);
    std::vector<std::string> details = {cost_text(finding)};
    if (!finding.kernels.empty()) details.push_back("slows: " + joined(finding.kernels));
    for (const Fix& fix : finding.fixes) details.push_back("fix: " + fix_text(fix));
    for (const std::string& detail : details) {
        if (detail.empty()) continue;
        out += margin;
        append_paragraph(out, detail, indent + 2, style);
    }
}

void append_candidates(std::string& out, const SearchResult& found, std::size_t most, const Style& style) {
    const bool by_loss = found.objective == Objective::Loss;
    std::vector<Column> columns{{""}, {"speed-up", Align::Right}, {"interval"}, {"params", Align::Right}};
    if (by_loss) columns.insert(columns.end(), {{"loss", Align::Right}, {"to loss", Align::Right}});
    columns.push_back({"change and what it moves most", Align::Left, true});
    Table table(columns);
    std::vector<const Candidate*> shown;
    for (const auto& [kind, list] : kinds(found)) {
        std::size_t rows = 0;
        for (const Candidate& candidate : list) {
            if (rows == most || listed_before(shown, candidate)) continue;
            std::vector<Cell> cells{rows++ == 0 ? std::string(kind) : "",
                                    {speedup_text(candidate.speedup), candidate.proven() ? Tone::Good : Tone::Plain},
                                    speedup_interval(candidate.low, candidate.high) + std::string(doubt(candidate)),
                                    change_text(candidate.parameter_change)};
            if (by_loss) {
                cells.emplace_back(loss_short_text(candidate.loss));
                cells.emplace_back(speedup_text(candidate.to_loss));
            }
            cells.emplace_back(causes_text(candidate));
            table.row(cells);
            shown.push_back(&candidate);
        }
    }
    if (!table.empty()) table.append_to(out, style);
}

void append_step(std::string& out, const Step& step, const Style& style) {
    std::vector<std::pair<std::string_view, StepShare>> shares;
    for (const auto& [name, term] : names<StepTerm>) {
        const StepShare share = step.term(term);
        if (share.exposed.value + share.hidden.value > 0.0) shares.emplace_back(name, share);
    }
    std::stable_sort(shares.begin(), shares.end(),
                     [](const auto& a, const auto& b) { return a.second.exposed > b.second.exposed; });
    Table table({{"term of the step"}, {"time", Align::Right}, {"share", Align::Right}, {"hidden", Align::Right}});
    for (const auto& [name, share] : shares) {
        table.row({std::string(name), time_text(share.exposed), percent_text(share.exposed / step.time),
                   share.hidden.value > 0.0 ? time_text(share.hidden) : "-"});
    }
    table.row({{"step", Tone::Strong}, {time_text(step.time), Tone::Strong}, "100%", ""});
    table.append_to(out, style);
    out += "\n";
}

}  // namespace tilewright::render
