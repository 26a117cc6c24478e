// The text of `search`: shapes of equal size by how much they change, fastest first, why, and the one to take.
#include <fmt/format.h>
#include <cmath>

#include <algorithm>

#include "render/answers.h"
#include "render/table.h"
#include "render/units.h"
#include "render/words.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

/// Both ends, and between them the points that are worth a row.
std::vector<const Candidate*> thinned(const std::vector<Candidate>& front) {
    constexpr double worth_a_row = 0.005;
    std::vector<const Candidate*> points;
    for (const Candidate& point : front) {
        if (points.empty() || point.gain > points.back()->gain + worth_a_row) points.push_back(&point);
    }
    if (points.back() != &front.back()) points.back() = points.size() > 1 ? &front.back() : points.back();
    return points;
}

void append_front(std::string& out, const std::vector<Candidate>& front, std::string_view what, const Style& style,
                  Objective objective) {
    const std::vector<const Candidate*> points = front.empty() ? std::vector<const Candidate*>{} : thinned(front);
    if (points.size() < 2) return;
    const bool by_loss = objective == Objective::Loss;
    append_title(out, fmt::format("{} against {}", by_loss ? "Time to the baseline's loss" : "Speed", what), style);
    Table table({{by_loss ? "to loss" : "speed-up", Align::Right},
                 {"params", Align::Right},
                 {"KV per token", Align::Right},
                 {"change", Align::Left, true}});
    for (const Candidate* point : points) {
        table.row({gain_text(*point, objective), change_text(point->parameter_change), bytes_text(point->kv_per_token),
                   changes_text(*point)});
    }
    table.append_to(out, style);
}

std::string range_text(Between range) { return fmt::format("{:.4g}–{:.4g}", range.low, range.high); }

/// The guard of a dimension; an explicit range, or that it stays, takes its place.
void add_guard(std::vector<std::string>& guards, const tilewright::Axis& axis, std::string text) {
    if (axis.is_free()) guards.push_back(std::move(text));
}

std::string mlp_ratio_text(const SearchAnswer& answer) {
    const Between plain = answer.options.guards.mlp_ratio;
    const Between gated{plain.low / 1.5, plain.high / 1.5};  // three matrices instead of two
    if (answer.options.mlps.size() > 1) return fmt::format("{} ({} gated)", range_text(plain), range_text(gated));
    const MlpKind only = answer.options.mlps.empty() ? answer.baseline.shape.mlp : answer.options.mlps[0];
    return range_text(only == MlpKind::Gated ? gated : plain);
}

std::string guards_text(const SearchAnswer& answer) {
    const SearchOptions& options = answer.options;
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
        const bool equal_size = guards.params.low <= 1.0 && guards.params.high >= 1.0;
        relative.push_back("parameters " + range_text(guards.params));
        if (equal_size) {
            const Shape& shape = answer.baseline.shape;
            const char* more = shape.experts            ? " (of experts also those that a token visits)"
                               : LossLaw(shape).known() ? " (fewer where the law of loss calls the change free)"
                                                        : "";
            relative.push_back("outside the embeddings " + range_text(guards.blocks) + more);
        }
        relative.push_back(fmt::format("FLOPs per token at most {:.3g}", guards.max_flops));
    }
    relative.push_back("hidden/layers " + range_text(guards.aspect));
    add_guard(relative, options.axis(Knob::Layers), fmt::format("layers at least {:.3g}", guards.min_depth));
    add_guard(own, options.axis(Knob::HeadDim), "head size 64–256");
    add_guard(own, options.axis(Knob::Ffn), "ffn/hidden " + mlp_ratio_text(answer));
    const bool trains = answer.baseline.workload.phase == Phase::Train;
    add_guard(
        relative, options.axis(Knob::KvHeads),
        fmt::format("{} at least {:.3g}", trains ? "width of k and v over hidden" : "KV cache of a token", guards.kv));
    return fmt::format("Guards, over the baseline's: {}.{} docs/quality.md has their sources.", joined(relative),
                       own.empty() ? "" : fmt::format(" Others: {}.", joined(own)));
}

/// The kind under which the best of all is listed: a change of one knob is listed there alone.
std::string_view kind_of_best(const SearchResult& found) {
    for (const auto& [kind, list] : kinds(found)) {
        if (!list.empty() && list.front().changed == found.best()->changed) return kind;
    }
    return "free";
}

/// Whether another host than the one assumed makes another speed-up.
bool host_matters(const Candidate& one) { return std::abs(one.expected / one.speedup - 1.0) > 1e-3; }
constexpr std::string_view by_part = ", by one micro-batch on one GPU";  ///< which is what is walked
constexpr std::string_view on_the_mean = ", averaged over hosts faster and slower than the one shown";

std::string coverage_text(const SearchAnswer& answer) {
    const SearchResult& found = answer.found;
    const std::string priced = grouped_text(static_cast<double>(found.shapes_priced));
    if (found.exhaustive && found.shapes_priced == 0) return "No shape of the space passes the guards.";
    if (found.exhaustive && found.best() == nullptr) {
        const bool within = answer.options.budget.time || answer.options.budget.memory;
        return fmt::format("All {} shapes of the space were priced, and none {}.", priced,
                           within ? "keeps within the budget" : "gains anything");
    }
    if (found.exhaustive) {
        const Budget& budget = answer.options.budget;
        const std::string_view best = budget.time || budget.memory ? "is the largest that fits, by the model"
                                      : found.objective == Objective::Loss
                                          ? "reaches the baseline's loss soonest, by the model and the law"
                                          : "is the fastest by the model";
        return fmt::format("All {} shapes of the space were priced{}. The first under \"{}\" {}{}{}.", priced,
                           answer.baseline.split ? by_part : "", kind_of_best(found), best,
                           host_matters(*found.best()) ? on_the_mean : "",
                           answer.options.exact || budget.time || budget.memory
                               ? ""
                               : "; round sizes are preferred where they cost no more than 0.3%");
    }
    if (!answer.wider_steps.empty()) {
        return fmt::format("A bounded walk: {} shapes in wider steps ({}); a shape between them may be faster.", priced,
                           answer.wider_steps);
    }
    return fmt::format("Interrupted: {} of up to {} shapes were priced; these are the best so far.", priced,
                       grouped_text(static_cast<double>(found.shapes_in_space)));
}

std::string basket_text(const std::vector<WeightedGpu>& gpus) {
    std::string text;
    for (const WeightedGpu& gpu : gpus) {
        text += fmt::format("{}{} {:g} ({})", text.empty() ? "" : ", ", gpu.name, gpu.weight, name_of(gpu.evidence));
    }
    return fmt::format("Basket: {}. Speed-ups are weighted means; what a change moves most is that on {}.", text,
                       gpus.front().name);
}

/// What the best of each kind gains on each GPU.
void append_by_gpu(std::string& out, const SearchAnswer& answer, const Style& style) {
    append_title(out, "Speed-up on each GPU", style);
    std::vector<Column> columns{{""}};
    for (const WeightedGpu& gpu : answer.gpus) columns.push_back({gpu.name, Align::Right});
    Table table(columns);
    for (const auto& [kind, list] : kinds(answer.found)) {
        if (list.empty()) continue;
        std::vector<Cell> cells{std::string(kind)};
        for (const double speedup : list.front().by_target) cells.emplace_back(speedup_text(speedup));
        table.row(cells);
    }
    if (!table.empty()) table.append_to(out, style);
}

/// What to take where the size is not the baseline's.
std::string other_size_text(const SearchAnswer& answer, std::string_view which) {
    const Candidate* best = answer.found.best();
    if (best == nullptr) return "none of the space will do; --hidden A..B and --layers A..B allow others.";
    return fmt::format(
        "{}: {}, {} parameters ({}), {} the speed.{}", which, changes_text(*best),
        count_text(static_cast<double>(best->params)), change_text(best->parameter_change), speedup_text(best->speedup),
        answer.at_the_edge ? " It lies at the edge of the space; --hidden A..B and --layers A..B widen it." : "");
}

std::vector<std::string> advice_points(const SearchAnswer& answer) {
    const Budget& budget = answer.options.budget;
    const Between params = answer.options.guards.params;
    if (budget.time || budget.memory) return {other_size_text(answer, "the largest within the budget")};
    if (budget.flops_per_token) return {other_size_text(answer, "the fastest with so many FLOPs")};
    const bool another = params.low > 1.0 || params.high < 1.0;
    if (another) return {other_size_text(answer, "the fastest of that size")};
    return recommendation_points(answer.found);
}

}  // namespace

std::string search_text(const SearchAnswer& answer, const Style& style) {
    const Budget& budget = answer.options.budget;
    const bool largest = budget.time || budget.memory;
    std::string out;
    append_header(out, answer.baseline, style);
    append_candidates(out, answer.found, answer.options.keep, style);
    if (answer.gpus.size() > 1) append_by_gpu(out, answer, style);
    if (!largest)
        append_front(out, answer.found.parameter_front, "a change of the parameter count", style,
                     answer.found.objective);
    if (!largest) append_front(out, answer.found.kv_front, "the KV cache", style, answer.found.objective);
    if (!out.ends_with("\n\n")) out += "\n";
    if (answer.gpus.size() > 1) append_paragraph(out, basket_text(answer.gpus), 2, style);
    append_paragraph(out, coverage_text(answer), 2, style);
    append_paragraph(out, guards_text(answer), 2, style);
    if (answer.found.objective == Objective::Loss) append_paragraph(out, law_evidence_text(), 2, style);
    append_evidence(out, answer.baseline, style);
    append_recommendation(out, advice_points(answer), style);
    return out;
}

}  // namespace tilewright::render
