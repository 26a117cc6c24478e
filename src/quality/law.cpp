// ln(loss) is a sum of terms, zero at the usual shape, whose weights bench/quality/law.py fits with their covariance. A
// change is the difference of two shapes' terms; its interval is the weights', how far another study's slopes may lie
// from those of the studies fitted, and how far shapes lie off the terms. The noise of a run is no part of it.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tilewright/quality.h"

namespace tilewright {
namespace {

/// A term, its weight, and which sizes the runs have that vary it; zeros where none does.
struct FittedTerm {
    std::string_view name;
    double weight;
    double smallest, largest;
};

/// Which values of a term's trait runs of about one size tried: ln of that over the usual one.
struct FittedRange {
    std::string_view term;
    double size;
    double low, high;
};

struct FittedRuns {
    int own, published;
    double study;    ///< standard deviation of a study's own slope with width over depth
    double shape;    ///< how far a shape lies off the terms: standard deviation of ln(loss)
    double student;  ///< half a 90% interval in standard deviations
};

#include "../../data/quality/law.inc"

enum Place { Aspect, Aspect2, Head = 4, Ratio = 7, KvWidth = 9, Gated, Parallel, Params };
constexpr std::size_t count = std::size(fitted_terms);
static_assert(count == 14 && std::size(fitted_covariance) == count * count);
static_assert(fitted_terms[Head].name == "head" && fitted_terms[Ratio].name == "ratio" &&
              fitted_terms[Gated].name == "gated" && fitted_terms[count - 1].name == "parameters^2");

constexpr double usual_aspect = 64.0, usual_head = 64.0, usual_ratio = 4.0, usual_params = 2e7;

double square(double x) { return x * x; }
double over(std::int64_t a, std::int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

/// What counts as a difference: rounding of sizes does not.
constexpr double nothing = 0.02;

/// Loss against parameters and tokens as Besiroglu et al. 2024 (arXiv 2404.10102) refit Hoffmann et al. 2022: the
/// exponent of the tokens at 20 of them per parameter, where their sum is about as large a model's as its data's.
/// Beyond the runs it stays, as the slope with the parameters does: apart, they would make a percent of size worth
/// three of tokens to a model of 176 B, where that law has it worth one.
double token_exponent(double params) {
    constexpr double floor = 1.8172, a = 482.01, alpha = 0.3478, b = 2085.43, beta = 0.3658, per_parameter = 20.0;
    const double by_data = b / std::pow(per_parameter * params, beta);
    return beta * by_data / (floor + a / std::pow(params, alpha) + by_data);
}

/// ln of the parameters over the usual ones, held within those of the runs that vary a term.
double held_size(const FittedTerm& term, double params) {
    return std::log(std::clamp(params, term.smallest, term.largest) / usual_params);
}

/// How many times past a range a value lies.
double past(double value, double low, double high) { return std::max({1.0, value / high, low / value}); }

/// Of the ranges that runs tried, that of about this size; none of a switch, which is never past it.
const FittedRange* range_of(std::string_view term, double params) {
    const double size = std::log(params / usual_params);
    const FittedRange* nearest = nullptr;
    for (const FittedRange& range : fitted_ranges) {
        if (range.term != term) continue;
        if (nearest == nullptr || std::abs(range.size - size) < std::abs(nearest->size - size)) nearest = &range;
    }
    return nearest;
}

bool knows(const Shape& shape) { return !shape.experts && !shape.latent; }

}  // namespace

double mlp_ratio(const Shape& shape) {
    return over(shape.ffn, shape.hidden) * (shape.mlp == MlpKind::Gated ? 1.5 : 1.0);
}

LossTraits loss_traits(const Shape& shape) {
    const ParameterCount params = count_parameters(shape);
    return {.aspect = over(shape.hidden, shape.layers),
            .layers = static_cast<double>(shape.layers),
            .head = static_cast<double>(shape.head_dim),
            .ratio = mlp_ratio(shape),
            .kv_width = over(shape.kv_heads, shape.heads),
            .attention_width = over(attention_width(shape), shape.hidden),
            .params = static_cast<double>(params.total - params.embedding - params.head),
            .gated = shape.mlp == MlpKind::Gated,
            .parallel = shape.block == BlockForm::Parallel};
}

LossLaw::LossLaw(const Shape& baseline)
    : baseline_(loss_traits(baseline)),
      known_(knows(baseline)),
      size_(held_size(fitted_terms[Aspect], baseline_.params)),
      head_size_(held_size(fitted_terms[Head], baseline_.params)),
      exponent_(
          token_exponent(std::clamp(baseline_.params, fitted_terms[Params].smallest, fitted_terms[Params].largest))) {
    for (std::size_t i = 0; i < terms; ++i) {
        const FittedTerm& term = fitted_terms[i];
        const FittedRange* range = range_of(term.name, baseline_.params);
        tried_[i] = {range != nullptr ? range->low : 0.0, range != nullptr ? range->high : HUGE_VAL,
                     past(baseline_.params, term.smallest, term.largest)};
        const bool reached = term.largest > 0.0 && tried_[i].past_size <= LossChange::far;
        if (reached || i >= Params) weights_[i] = term.weight;
    }
}

LossLaw::Terms LossLaw::differences(const LossTraits& other) const {
    const auto moved = [&](double LossTraits::*trait, double usual) {
        if (other.*trait == baseline_.*trait) return std::pair{0.0, 0.0};
        const double before = std::log(baseline_.*trait / usual), after = std::log(other.*trait / usual);
        return std::pair{after - before, square(after) - square(before)};
    };
    const auto [aspect, aspect2] = moved(&LossTraits::aspect, usual_aspect);
    const auto [head, head2] = moved(&LossTraits::head, usual_head);
    const auto [ratio, ratio2] = moved(&LossTraits::ratio, usual_ratio);
    const double params = std::log(other.params / baseline_.params);
    return {aspect,
            aspect2,
            aspect * size_,
            aspect2 * size_,
            head,
            head2,
            head * head_size_,
            ratio,
            ratio2,
            std::log(other.kv_width / baseline_.kv_width),
            static_cast<double>(other.gated) - static_cast<double>(baseline_.gated),
            static_cast<double>(other.parallel) - static_cast<double>(baseline_.parallel),
            params,
            2.0 * size_ * params};
}

double LossLaw::log_change(const LossTraits& other) const { return log_change(differences(other)); }

/// A term that no run varied at about this size says nothing: the expectation is no change, the interval stays.
double LossLaw::log_change(const Terms& x) const {
    return std::inner_product(x.begin(), x.end(), weights_.begin(), 0.0);
}

double LossLaw::tokens(double log_change) const { return std::exp(log_change / exponent_); }

LossChange LossLaw::change(const Shape& other) const {
    const bool known = known_ && knows(other);
    LossChange found = change(known ? loss_traits(other) : baseline_);
    found.known = known;
    return found;
}

LossChange LossLaw::change_beside_heads(LossTraits other) const {
    other.head = baseline_.head;
    other.kv_width = baseline_.kv_width;
    other.attention_width = baseline_.attention_width;
    return change(other);
}

namespace {

/// A change seen against what the runs vary: which traits they did not try, and how far beyond them others lie.
class Reach {
public:
    /// How many times further the interval of a trait's terms is, once for each factor e beyond.
    double widening(const FittedTerm& term, double times) {
        if (term.largest == 0.0) {
            untried(term.name);
            return 1.0;
        }
        look(term.name, times);
        return 1.0 + std::log(times);
    }
    void untried(std::string_view what) {
        found.tried = false;
        found.limit = what;
    }

    LossChange found;

private:
    void look(std::string_view what, double times) {
        if (times <= found.beyond) return;
        found.beyond = times;
        if (found.tried) found.limit = what;
    }
};

}  // namespace

LossChange LossLaw::change(const LossTraits& other) const {
    Reach reach;
    reach.found.known = known_;
    if (!known_) return reach.found;
    const Terms x = differences(other);
    Terms wide = x;
    const auto widen = [&](Place first, std::size_t many, double value) {
        if (std::abs(x[first]) < nothing) return;
        const auto& [low, high, past_size] = tried_[first];
        const double times = reach.widening(fitted_terms[first], past(value, low, high) * past_size);
        for (std::size_t i = first; i < first + many; ++i) wide[i] *= times;
    };
    widen(Aspect, 4, other.aspect);
    widen(Head, 3, other.head);
    widen(Ratio, 2, other.ratio);
    widen(KvWidth, 1, other.kv_width);
    widen(Gated, 1, 1.0);
    widen(Parallel, 1, 1.0);
    widen(Params, 2, 1.0);
    const double heads = std::log(other.attention_width / baseline_.attention_width);
    if (std::abs(heads) > nothing) reach.untried("attention width");
    constexpr double fewest_layers = 3.0;  // as bench/quality/law.py has it
    if (std::min(other.layers, baseline_.layers) < fewest_layers) reach.untried("fewer than three layers");
    double variance = square(fitted_runs.study) * (square(wide[Aspect]) + square(wide[Aspect2]));
    std::array<std::size_t, terms> moved{};  // few traits of most changes
    std::size_t many = 0;
    for (std::size_t i = 0; i < terms; ++i) {
        if (wide[i] != 0.0) moved[many++] = i;
    }
    for (std::size_t a = 0; a < many; ++a) {
        const double* row = fitted_covariance + moved[a] * terms;
        double sum = 0.5 * row[moved[a]] * wide[moved[a]];
        for (std::size_t b = 0; b < a; ++b) sum += row[moved[b]] * wide[moved[b]];
        variance += 2.0 * wide[moved[a]] * sum;  // the matrix is symmetric
    }
    double apart = 0.0;  // like shapes lie off the terms alike, those a factor e apart hardly
    for (const Place place : {Aspect, Head, Ratio, KvWidth, Gated, Parallel, Params}) apart += square(wide[place]);
    variance -= 2.0 * square(fitted_runs.shape) * std::expm1(-0.5 * apart);
    const double half = fitted_runs.student * std::sqrt(variance), middle = log_change(x);
    reach.found.value = std::expm1(middle);
    reach.found.low = std::expm1(middle - half);
    reach.found.high = std::expm1(middle + half);
    return reach.found;
}

LawEvidence law_evidence() {
    return {fitted_runs.own, fitted_runs.published, fitted_terms[Aspect].smallest, fitted_terms[Aspect].largest};
}

}  // namespace tilewright
