// What shape does to loss: the change to expect at equal tokens when one shape is trained instead of another, from
// training runs of our own and published ones (docs/quality.md). A law of dense decoders; of others it knows nothing.
#pragma once

#include <array>
#include <string_view>

#include "tilewright/shape.h"

namespace tilewright {

/// What the law looks at.
struct LossTraits {
    double aspect = 0.0;           ///< hidden over layers
    double layers = 0.0;           ///< fewer than three fall off the law
    double head = 0.0;             ///< head size
    double ratio = 0.0;            ///< MLP width over hidden; of a gated MLP by its weights, so half as much again
    double kv_width = 0.0;         ///< kv heads over heads
    double attention_width = 0.0;  ///< of all heads over hidden; no run varied it
    double params = 0.0;           ///< outside the embeddings and the head
    bool gated = false;
    bool parallel = false;
};
LossTraits loss_traits(const Shape& shape);
/// MLP width over hidden, a gated MLP by its weights.
double mlp_ratio(const Shape& shape);

/// Loss of one shape over another's at equal tokens.
struct LossChange {
    double value = 0.0;  ///< relative: 0.004 is 0.4% more nats per token
    double low = 0.0;    ///< 90% interval, wider the further the question lies beyond the runs
    double high = 0.0;
    double beyond = 1.0;                ///< how many times past the sizes and shapes that were trained; 1 within them
    std::string_view limit;             ///< what lies furthest beyond: "aspect", "head", …; empty within
    bool tried = true;                  ///< runs varied every trait that moves; `limit` names one that they did not
    bool known = true;                  ///< false of what no run is like: a mixture of experts, latent attention
    static constexpr double far = 2.0;  ///< beyond that many times the runs the law does not reach
    static constexpr double harmless = 0.005;  ///< what counts as free

    bool reaches() const { return known && tried && beyond <= far; }
    /// The whole interval lies below half a percent more loss, and the law reaches there.
    bool free() const { return reaches() && high <= harmless; }
    /// What counts where hope is no gain: more loss as expected, less only as far as the whole interval has it.
    double sure() const { return value >= 0.0 ? value : reaches() && high < 0.0 ? high : 0.0; }
};

/// The law around a baseline.
class LossLaw {
public:
    explicit LossLaw(const Shape& baseline);

    bool known() const { return known_; }
    const LossTraits& baseline() const { return baseline_; }
    LossChange change(const Shape& other) const;
    LossChange change(const LossTraits& other) const;
    /// What width, depth, MLP and size do by themselves, heads apart: they have guards of their own.
    LossChange change_beside_heads(LossTraits other) const;
    /// The middle of ln(loss) less the baseline's: a sum over traits, and linear in ln(params).
    double log_change(const LossTraits& other) const;
    /// Tokens that reach the baseline's loss, over the baseline's, where ln(loss) differs by so much at equal tokens.
    double tokens(double log_change) const;

private:
    static constexpr std::size_t terms = 14;
    using Terms = std::array<double, terms>;
    Terms differences(const LossTraits& other) const;
    double log_change(const Terms& differences) const;

    LossTraits baseline_;
    bool known_;
    double size_;       ///< ln of the parameters over 20 M, held within the runs
    double head_size_;  ///< the same within those that vary the heads
    double exponent_;   ///< of the tokens in the loss

    /// What runs of about the baseline's size tried of a term's trait, and how many times past their sizes it lies.
    struct Tried {
        double low = 0.0, high = 0.0, past_size = 1.0;
    };
    std::array<Tried, terms> tried_{};
    Terms weights_{};  ///< zero where no run varied the term at about that size
};

/// The runs that the law stands on.
struct LawEvidence {
    int own_runs = 0;        ///< each shape at its best learning rate
    int published_runs = 0;  ///< Gemstones and Morph
    double smallest = 0.0;   ///< parameters outside the embeddings, of the runs that vary width over depth
    double largest = 0.0;
};
LawEvidence law_evidence();

}  // namespace tilewright
