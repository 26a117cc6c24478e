// How a recommendation is told: what it gains, what the law of loss says of it, how far that reaches.
#include <fmt/format.h>

#include <algorithm>

#include "render/units.h"
#include "render/words.h"

namespace tilewright::render {

std::string loss_text(const LossChange& loss) {
    return fmt::format("{}% ({} to {})", signed_text(100.0 * loss.value), signed_text(100.0 * loss.low),
                       signed_text(100.0 * loss.high));
}

std::string loss_short_text(const LossChange& loss) {
    const std::string value = signed_text(100.0 * loss.value);
    const auto digits = value.size() - value.find('.') - 1;  // as many of what it is known to
    return fmt::format("{}±{:.{}f}%", value, 50.0 * (loss.high - loss.low), digits);
}

namespace {

std::string_view trait_text(std::string_view limit) {
    constexpr std::pair<std::string_view, std::string_view> words[] = {
        {"parameters", "the parameters"},     {"aspect", "width over depth"},        {"head", "the head size"},
        {"ratio", "the MLP ratio"},           {"kv_width", "the share of kv heads"}, {"gated", "the gate of the MLP"},
        {"parallel", "the form of the block"}};
    for (const auto& [name, text] : words) {
        if (name == limit) return text;
    }
    return limit;
}

/// What the law says of a shape, and how far it can be trusted.
std::string law_text(const Candidate& candidate) {
    const LossChange& loss = candidate.loss;
    if (!loss.known) return " What it does to loss is not known: no such model was trained.";
    const std::string reach = reach_text(loss);
    return fmt::format(" Expected change of the loss at equal tokens: {}{}{}.", loss_text(loss),
                       reach.empty() ? "" : "; ", reach);
}

/// Why another depth, or fewer parameters outside the embeddings than the guard allows, are taken.
std::string freedom_text(const Candidate& candidate) {
    constexpr double equal = -0.0025;
    const bool moves =
        std::ranges::any_of(candidate.changed, [](const auto& text) { return text.starts_with("layers"); });
    if (!moves && candidate.block_change >= equal) return "";
    const LossChange& apart = candidate.loss_beside_heads;
    return fmt::format(" Of that, width, depth and size ({} parameters outside the embeddings) make {}, which {}.",
                       change_text(candidate.block_change), loss_text(apart),
                       apart.free() ? "counts as free" : "counts as free together with the new heads");
}

/// What a speed-up is worth where size bought some of it, or was paid for.
std::string equal_size_text(const Candidate& candidate) {
    const std::string text = speedup_text(candidate.speedup_at_equal_params);
    return text == speedup_text(candidate.speedup) ? "" : fmt::format(" ({} at equal size)", text);
}

/// Those that say something, without the space before them.
std::vector<std::string> sentences(std::initializer_list<std::string> texts) {
    std::vector<std::string> said;
    for (const std::string& text : texts) {
        if (!text.empty()) said.push_back(text.substr(text.find_first_not_of(' ')));
    }
    return said;
}

/// Why the best of all was not taken, where another depth is the reason.
std::string other_depth_text(const SearchResult& found) {
    const Candidate* best = found.best();
    constexpr double worth_a_word = 1.01;
    const double taken = found.recommended ? found.recommended->gain : 1.0;
    if (best == nullptr || best->keeps_depth || best->gain < worth_a_word * taken) return "";
    return fmt::format(" Another {} might be better still ({}: {}{}), but nothing shows that it would cost no loss.{}",
                       best->loss.known ? "depth" : "depth, width or choice of experts", changes_text(*best),
                       found.objective == Objective::Loss ? "the same loss " : "",
                       gain_text(*best, found.objective) + (found.objective == Objective::Loss ? " as fast" : ""),
                       law_text(*best));
}

}  // namespace

std::string reach_text(const LossChange& loss) {
    if (loss.reaches()) return "";
    if (!loss.tried) return fmt::format("the law does not reach so far: no run varied {}", trait_text(loss.limit));
    return fmt::format("the law does not reach so far: what is known of {} is from models or values {} times away",
                       trait_text(loss.limit), loss.beyond < 100.0 ? digits3(loss.beyond) : grouped_text(loss.beyond));
}

std::string gain_text(const Candidate& candidate, Objective objective) {
    return speedup_text(objective == Objective::Loss ? candidate.to_loss : candidate.speedup);
}

std::vector<std::string> recommendation_points(const SearchResult& found) {
    if (!found.recommended) {
        return sentences(
            {"keep this shape; none of its size and depth is predicted to be better.", other_depth_text(found)});
    }
    const Candidate& best = *found.recommended;
    const std::string to_loss =
        found.objective == Objective::Loss
            ? fmt::format(", reaching the baseline's loss {} as fast ({})", speedup_text(best.to_loss),
                          speedup_interval(best.to_loss_low, best.to_loss_high))
            : "";
    return sentences(
        {fmt::format("{} {}: {} the speed ({}){}, parameters {}{}{}", best.proven() ? "take" : "try",
                     changes_text(best), speedup_text(best.speedup), speedup_interval(best.low, best.high), to_loss,
                     change_text(best.parameter_change), equal_size_text(best),
                     best.proven() ? "." : "; the interval includes no gain, so measure before you commit to it."),
         law_text(best) + freedom_text(best), other_depth_text(found)});
}

std::vector<std::string> recommendation_points(const Advice& advice) {
    std::vector<std::string> points = recommendation_points(advice.found);
    const Prediction& step = advice.prediction;
    Seconds reading;
    for (const PricedOp& priced : step.kernels.ops) {
        if (priced.cost.bound == Bound::Memory) reading += priced.total;
    }
    const double share = reading / step.kernels.sum.time;
    constexpr double nearly_all = 0.8;
    const bool reads = step.workload.phase != Phase::Train && share > nearly_all;
    if (!advice.found.recommended && reads) {
        points.push_back(
            fmt::format("{} of the time is memory's, and shapes of equal size read as many bytes: a larger --batch, "
                        "narrower --weights or a narrower --kv read fewer for a token.",
                        percent_text(share)));
    }
    return points;
}

std::string recommendation(const Advice& advice) {
    return fmt::format("{}", fmt::join(recommendation_points(advice), " "));
}

std::string learning_text(const Comparison& comparison) {
    std::string said, base = comparison.shapes.front().shape.name;
    for (std::size_t i = 1; i < comparison.learning.size(); ++i) {
        const std::optional<Learning>& learning = comparison.learning[i];
        if (!learning) continue;
        if (said.empty()) {
            said = fmt::format(
                "Expected loss: the change to {}'s at equal tokens, and the speed at which that is reached.", base);
        }
        if (!learning->loss.reaches()) {
            said += fmt::format(" Of {} {}.", comparison.shapes[i].shape.name, reach_text(learning->loss));
        }
    }
    return said;
}

void append_recommendation(std::string& out, const std::vector<std::string>& points, const Style& style) {
    append_paragraph(out, "Recommendation: " + points.front(), 2, style);
    for (std::size_t i = 1; i < points.size(); ++i) append_paragraph(out += "  ", points[i], 2, style);
}

std::string law_evidence_text() {
    const LawEvidence runs = law_evidence();
    return fmt::format(
        "Loss is by a law fitted to {} training runs of ours and {} published ones, of {} to {} parameters outside "
        "the embeddings; docs/quality.md.",
        runs.own_runs, runs.published_runs, count_text(runs.smallest), count_text(runs.largest));
}

}  // namespace tilewright::render
