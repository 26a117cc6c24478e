// The text of `search`: shapes of equal size by how much they change, fastest first, why, and the one to take.
#include <fmt/format.h>

#include <algorithm>

#include "render/search.h"
#include "render/table.h"
#include "render/units.h"
#include "tilewright/device_names.h"

namespace tilewright::render {
namespace {

void append_title(std::string& out, std::string_view title, const Style& style) {
    out += "\n" + paint(title, Tone::Strong, style) + "\n";
}

/// Both ends, and between them the points that are worth a row.
std::vector<const Candidate*> thinned(const std::vector<Candidate>& front) {
    constexpr double worth_a_row = 0.005;
    std::vector<const Candidate*> points;
    for (const Candidate& point : front) {
        if (points.empty() || point.speedup > points.back()->speedup + worth_a_row) points.push_back(&point);
    }
    if (points.back() != &front.back()) points.back() = points.size() > 1 ? &front.back() : points.back();
    return points;
}

void append_front(std::string& out, const std::vector<Candidate>& front, std::string_view what, const Style& style) {
    const std::vector<const Candidate*> points = front.empty() ? std::vector<const Candidate*>{} : thinned(front);
    if (points.size() < 2) return;
    append_title(out, fmt::format("Speed against {}", what), style);
    Table table({{"speed-up", Align::Right},
                 {"params", Align::Right},
                 {"KV per token", Align::Right},
                 {"change", Align::Left, true}});
    for (const Candidate* point : points) {
        table.row({speedup_text(point->speedup), change_text(point->parameter_change), bytes_text(point->kv_per_token),
                   changes_text(*point)});
    }
    table.append_to(out, style);
}

std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
    return all;
}

std::string range_text(Between range) { return fmt::format("{:.3g}–{:.3g}", range.low, range.high); }

/// The guard of a dimension; an explicit range, or that it stays, takes its place.
void add_guard(std::vector<std::string>& guards, const Axis& axis, std::string text) {
    if (!axis.fixed && axis.low == 0 && axis.values.empty()) guards.push_back(std::move(text));
}

std::string mlp_ratio_text(const SearchReport& report) {
    const Between plain = report.options.guards.mlp_ratio;
    const Between gated{plain.low / 1.5, plain.high / 1.5};  // three matrices instead of two
    if (report.options.mlps.size() > 1) return fmt::format("{} ({} gated)", range_text(plain), range_text(gated));
    const MlpKind only = report.options.mlps.empty() ? report.baseline.shape.mlp : report.options.mlps[0];
    return range_text(only == MlpKind::Gated ? gated : plain);
}

std::string guards_text(const SearchReport& report) {
    const SearchOptions& options = report.options;
    const Guards& guards = options.guards;
    const Budget& budget = options.budget;
    std::vector<std::string> relative, own;
    if (budget.time) {
        own.push_back("step time up to " + time_text(*budget.time));
    } else if (budget.memory) {
        own.push_back("memory up to " + bytes_text(*budget.memory));
    } else if (budget.flops_per_token) {
        const Between flops = *budget.flops_per_token;
        own.push_back(range_text({flops.low / 1e9, flops.high / 1e9}) + " GFLOP per token");
    } else {
        relative.push_back("parameters " + range_text(guards.params));
        relative.push_back(fmt::format("FLOPs per token up to {:.3g}", guards.max_flops));
    }
    relative.push_back("hidden/layers " + range_text(guards.aspect));
    add_guard(relative, options.axis(Knob::Layers), fmt::format("depth from {:.3g}", guards.min_depth));
    add_guard(own, options.axis(Knob::HeadDim), "head size 64–256");
    add_guard(own, options.axis(Knob::Ffn), "ffn/hidden " + mlp_ratio_text(report));
    if (!guards.fewer_kv_heads) add_guard(own, options.axis(Knob::KvHeads), "kv heads not fewer");
    return fmt::format("Guards: {} (all over the baseline's){}{}; docs/quality.md has their sources.", joined(relative),
                       own.empty() ? "" : "; ", joined(own));
}

std::string coverage_text(const SearchReport& report) {
    const SearchResult& found = report.found;
    const std::string priced = grouped_text(static_cast<double>(found.shapes_priced));
    if (found.exhaustive && found.shapes_priced == 0) return "No shape of the space passes the guards.";
    if (found.exhaustive && found.best() == nullptr) {
        return fmt::format("All {} shapes of the space were priced, and none qualifies.", priced);
    }
    if (found.exhaustive) {
        return fmt::format("All {} shapes of the space were priced: the first free one is the optimum under the model.",
                           priced);
    }
    if (!report.wider_steps.empty()) {
        return fmt::format("A bounded walk: {} shapes in wider steps ({}); a shape between them may be faster.", priced,
                           report.wider_steps);
    }
    return fmt::format("Interrupted: {} of up to {} shapes were priced; these are the best so far.", priced,
                       grouped_text(static_cast<double>(found.shapes_in_space)));
}

std::string basket_text(const std::vector<WeightedGpu>& gpus) {
    std::string text;
    for (const WeightedGpu& gpu : gpus) {
        text += fmt::format("{}{} {:g} ({})", text.empty() ? "" : ", ", gpu.name, gpu.weight, name_of(gpu.evidence));
    }
    return fmt::format("Basket: {}; speed-ups are weighted, what a change moves most is told of {}.", text,
                       gpus.front().name);
}

/// What the best of each kind gains on each GPU.
void append_by_gpu(std::string& out, const SearchReport& report, const Style& style) {
    append_title(out, "Speed-up on each GPU", style);
    std::vector<Column> columns{{""}};
    for (const WeightedGpu& gpu : report.gpus) columns.push_back({gpu.name, Align::Right});
    Table table(columns);
    for (const auto& [kind, list] : kinds(report.found)) {
        if (list->empty()) continue;
        std::vector<Cell> cells{std::string(kind)};
        for (const double speedup : list->front().by_target) cells.emplace_back(speedup_text(speedup));
        table.row(cells);
    }
    if (!table.empty()) table.append_to(out, style);
}

/// Whether the shape is as wide or as deep as the space goes by itself, so that a larger one may be better.
bool at_the_edge(const SearchReport& report, const Shape& shape) {
    const auto reached = [&](Knob knob, std::int64_t Shape::*field) {
        const Axis& axis = report.options.axis(knob);
        return !axis.fixed && axis.low == 0 && axis.values.empty() && shape.*field >= 2 * report.baseline.shape.*field;
    };
    return reached(Knob::Hidden, &Shape::hidden) || reached(Knob::Layers, &Shape::layers);
}

/// What to take where the size is not the baseline's.
std::string other_size_text(const SearchReport& report, std::string_view which) {
    const Candidate* best = report.found.best();
    if (best == nullptr) return "none of the space will do; --hidden A..B and --layers A..B allow others.";
    return fmt::format("{}: {}, {} parameters ({}), {} the speed.{}", which, changes_text(*best),
                       count_text(static_cast<double>(best->params)), change_text(best->parameter_change),
                       speedup_text(best->speedup),
                       at_the_edge(report, best->shape)
                           ? " It lies at the edge of the space; --hidden A..B and --layers A..B widen it."
                           : "");
}

std::string advice_text(const SearchReport& report) {
    const Budget& budget = report.options.budget;
    const Between params = report.options.guards.params;
    if (budget.time || budget.memory) return other_size_text(report, "the largest within the budget");
    if (budget.flops_per_token) return other_size_text(report, "the fastest with so many FLOPs");
    const bool another = params.low > 1.0 || params.high < 1.0;
    return another ? other_size_text(report, "the fastest of that size") : recommendation(report.found);
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

std::array<std::pair<std::string_view, const std::vector<Candidate>*>, 3> kinds(const SearchResult& found) {
    return {{{"one knob", &found.one_knob}, {"two knobs", &found.two_knobs}, {"free", &found.candidates}}};
}

std::string changes_text(const Candidate& candidate) { return joined(candidate.changed); }

std::string causes_text(const Candidate& candidate) {
    std::string text;
    for (const Cause& cause : candidate.causes) {
        const bool faster = cause.speedup >= 1.0;
        text +=
            fmt::format("{}{}: {} {:.2f} times {}", text.empty() ? "" : "; ", cause.change, name_of(cause.component),
                        faster ? cause.speedup : 1.0 / cause.speedup, faster ? "faster" : "slower");
    }
    return text;
}

void append_candidates(std::string& out, const SearchResult& found, std::size_t most, const Style& style) {
    Table table({{""},
                 {"speed-up", Align::Right},
                 {"interval"},
                 {"params", Align::Right},
                 {"change and what it moves most", Align::Left, true}});
    std::vector<const Candidate*> shown;
    for (const auto& [kind, list] : kinds(found)) {
        std::size_t rows = 0;
        for (const Candidate& candidate : *list) {
            if (rows == most || listed_before(shown, candidate)) continue;
            table.row({rows++ == 0 ? std::string(kind) : "",
                       {speedup_text(candidate.speedup), candidate.proven() ? Tone::Good : Tone::Plain},
                       speedup_interval(candidate.low, candidate.high) + std::string(doubt(candidate)),
                       change_text(candidate.parameter_change),
                       causes_text(candidate)});
            shown.push_back(&candidate);
        }
    }
    if (!table.empty()) table.append_to(out, style);
}

std::string recommendation(const SearchResult& found) {
    constexpr double worth_a_change = 1.005;
    constexpr double worth_more_knobs = 1.03;  // of the better one over the simpler
    const Candidate* best = nullptr;
    for (const auto& [kind, list] : kinds(found)) {
        if (list->empty() || list->front().speedup < worth_a_change) continue;
        const Candidate& first = list->front();
        if (best == nullptr || first.speedup > worth_more_knobs * best->speedup) best = &first;
    }
    if (best == nullptr) return "keep this shape; none of equal size is predicted to be faster.";
    const bool depth = std::any_of(best->changed.begin(), best->changed.end(),
                                   [](const std::string& change) { return change.starts_with("layers "); });
    return fmt::format(
        "{} {}: {} the speed ({}), parameters {}{}{}", best->proven() ? "take" : "try", changes_text(*best),
        speedup_text(best->speedup), speedup_interval(best->low, best->high), change_text(best->parameter_change),
        best->proven() ? "." : "; the interval includes no gain, so measure before you commit to it.",
        depth ? " What another depth does to quality is disputed (docs/quality.md); --fix layers keeps it." : "");
}

std::string search_text(const SearchReport& report, const Style& style) {
    const Budget& budget = report.options.budget;
    const bool largest = budget.time || budget.memory;
    std::string out;
    append_header(out, report.baseline, style);
    append_candidates(out, report.found, report.options.keep, style);
    if (report.gpus.size() > 1) append_by_gpu(out, report, style);
    if (!largest) append_front(out, report.found.parameter_front, "a change of the parameter count", style);
    if (!largest) append_front(out, report.found.kv_front, "the KV cache", style);
    if (!out.ends_with("\n\n")) out += "\n";
    if (report.gpus.size() > 1) append_paragraph(out, basket_text(report.gpus), 2, style);
    append_paragraph(out, coverage_text(report), 2, style);
    append_paragraph(out, guards_text(report), 2, style);
    append_evidence(out, report.baseline, style);
    append_paragraph(out, "Recommendation: " + advice_text(report), 2, style);
    return out;
}

}  // namespace tilewright::render
