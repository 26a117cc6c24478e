// What is legal: which values each dimension may take, which combinations of heads a hidden size allows, and how many
// parameters a combination has. Parameter counts are asked of count_parameters at a few points: they are affine in the
// number of layers and add up over attention, MLP and vocabulary.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "tilewright/search.h"

namespace tilewright::space {

/// What stays the same in a part of the space besides its dimensions.
struct Variant {
    Workload workload;
    MlpKind mlp = MlpKind::Plain;
    BlockForm block = BlockForm::Sequential;
    std::uint32_t turned = 0;  ///< knobs that differ from the baseline
    double scale = 1.0;        ///< of its step time, at the baseline's tokens and GPUs
    std::optional<Experts> experts{};
    std::int64_t shared_times = -1;  ///< the shared expert's width over a routed one's; negative: its own stays
    std::size_t plain = 0;           ///< place of the one that differs in its experts alone
    bool one_width = false;          ///< a config.json of the baseline has one width for the MLP and its experts
};

struct Heads {
    std::int64_t heads, kv_heads, head_dim;
    std::uint32_t turned;  ///< knobs of the whole shape that differ from the baseline, but for batch, tp and experts
};

/// A quantity that a stack of layers adds to: `once` and `per_layer` for each layer.
template <class T>
struct Affine {
    T once{};
    T per_layer{};
};

/// Indices [first, last) into a slice's MLP widths.
struct Range {
    std::size_t first = 0, last = 0;
};

/// All shapes of one variant and one hidden size, as lists of what may be combined.
struct Slice {
    Variant variant;
    std::uint32_t variant_index = 0;
    Shape shape;  ///< variant and hidden size set; the first heads, MLP width and vocabulary
    std::vector<Heads> heads;
    std::vector<std::int64_t> layers;  ///< that the aspect allows
    std::vector<std::int64_t> ffn;
    std::vector<std::int64_t> vocab;
    std::vector<Affine<std::int64_t>> heads_params;  ///< with the first MLP width and vocabulary
    std::vector<std::int64_t> vocab_params;
    std::vector<std::int64_t> tables;      ///< parameters of embedding and head, by vocabulary
    std::int64_t first_width = 0;          ///< the first MLP width
    std::int64_t each_width = 0;           ///< parameters that one more adds to each layer
    std::int64_t idle = 0, each_idle = 0;  ///< of them all, of experts that a token does not visit: at the first, more
    double size = 0.0;                     ///< shapes, before the guard on FLOPs
    double listed = 0.0;                   ///< what was looked at to make these lists

    Shape with(const Heads& set) const;
    std::int64_t width_params(std::int64_t width) const { return each_width * (width - first_width); }
    std::int64_t idle_params(std::int64_t width) const { return idle + each_idle * (width - first_width); }
    std::int64_t params(std::size_t set, std::size_t words, std::int64_t count) const {
        return heads_params[set].once + vocab_params[words] + count * heads_params[set].per_layer;
    }
};

class Space {
public:
    Space(const Shape& baseline, const Workload& workload, const SearchOptions& options);

    const Shape& baseline() const { return baseline_; }
    const Workload& workload() const { return workload_; }
    const SearchOptions& options() const { return options_; }
    double baseline_params() const { return baseline_params_; }
    std::span<const Variant> variants() const { return variants_; }
    std::span<const Slice> slices() const { return slices_; }  ///< those that are not empty

    /// Whether depth is free; with a window or experts it is not, since layers are then of two kinds.
    bool depth_is_free() const { return depth_is_free_; }
    /// What Affine quantities multiply `per_layer` by: the layers, or 1 when depth is not free.
    std::int64_t count(std::int64_t layers) const { return depth_is_free_ ? layers : 1; }
    Between params() const { return params_; }  ///< absolute

    /// The widths that keep the parameter counts within their guards; none where the KV cache would be too small.
    /// Outside the embeddings there may be fewer where the law of loss calls the whole change free.
    Range widths(const Slice& slice, std::size_t set, std::size_t words, std::int64_t layers) const {
        return widths(slice, slice.ffn, {set, words, layers});
    }

    double size_bound() const;
    void coarsen(double most);
    std::string steps_text() const;

private:
    /// Shapes of a slice that share everything but the MLP width: which heads, which vocabulary, how many layers.
    struct Choice {
        std::size_t set, words;
        std::int64_t layers;
    };

    void set_variants();
    void set_size_guards();
    void add_experts();
    bool keeps_cache(const Heads& heads, std::int64_t layers) const;
    bool free_of_loss(const Slice& slice, const Choice& choice, std::int64_t width) const;
    Range widths(const Slice& slice, std::span<const std::int64_t> of, const Choice& choice) const;
    void fill();
    Slice slice(std::uint32_t variant, std::int64_t hidden, Slice& plain,
                std::span<const std::int64_t> expert_widths) const;
    void set_heads(Slice& slice, Slice& plain) const;
    bool opened(Knob knob) const;
    std::int64_t step(Knob knob) const;
    std::vector<std::int64_t> steps(Knob knob, Between range) const;
    bool on_step(Knob knob, std::int64_t value) const;
    void list_heads(Slice& slice) const;
    void add_groups(const Shape& shape, Slice& slice) const;
    void list_layers(Slice& slice) const;
    std::vector<std::int64_t> widths(const Shape& shape) const;
    std::vector<std::int64_t> expert_widths(const Variant& variant) const;
    std::vector<std::int64_t> vocabularies(const Variant& variant) const;
    void count_params(Slice& slice) const;
    void take_widths(Slice& slice, std::span<const std::int64_t> all) const;

    Shape baseline_;
    Workload workload_;
    SearchOptions options_;
    double baseline_params_;
    bool depth_is_free_;
    LossLaw law_;
    Between params_, blocks_, active_;  ///< the last two outside the embeddings
    std::vector<Variant> variants_;
    std::vector<Slice> slices_;
    double listed_ = 0.0;
    std::array<std::int64_t, axis_count> coarser_;  ///< by how much steps were opened
};

/// The shape with the switches of a variant.
Shape in_form(Shape shape, const Variant& variant);

/// The MLP's width, or a routed expert's.
inline std::int64_t width_of(const Shape& shape) { return shape.experts ? shape.experts->ffn : shape.ffn; }

/// Sets that width, and the shared expert's where it follows.
void set_width(Shape& shape, const Variant& variant, std::int64_t width);

/// From 0 to 1, how far hidden, vocabulary, layers, heads and kv heads are from round ones, and the MLP's width by
/// itself; the two add up. The baseline's own sizes are as good as round.
double unevenness_beside_width(const Shape& shape, const Shape& baseline);
double unevenness_of_width(std::int64_t width, const Shape& baseline);

/// That width's place among multiples of 256, of 128, of 64 and others.
std::uint32_t roughness_of_width(std::int64_t width, const Shape& baseline);

/// Whether the axis lists the value, or has it in its range, or says nothing.
bool allows(const Axis& axis, std::int64_t value);

/// Rounded down or up, but for an error of the arithmetic; at most 1e15.
inline std::int64_t floor_of(double value) {
    return static_cast<std::int64_t>(std::floor(std::min(value, 1e15) + 1e-9));
}
inline std::int64_t ceil_of(double value) { return static_cast<std::int64_t>(std::ceil(std::min(value, 1e15) - 1e-9)); }

/// A space whose lists take more than this to make is called endless: they would be written for seconds and fill
/// gigabytes before anyone could be told that they are too long.
inline constexpr double most_listed = 1e8;
inline constexpr std::size_t longest_list = 1'000'000;  ///< one list is cut off there, and its space endless

/// What a list adds to that.
template <class List>
double effort(const List& list) {
    return list.size() < longest_list ? static_cast<double>(list.size()) : 2.0 * most_listed;
}

/// The knobs in which two shapes differ; heads that follow from another change do not count.
std::uint32_t turned(const Shape& from, const Shape& to);

/// "heads 32 -> 20" for each of those knobs, in their order.
std::vector<std::string> differences(const Shape& from, const Shape& to);

constexpr std::uint32_t bit(Knob knob) { return 1U << static_cast<unsigned>(knob); }

/// The dimension of a knob among the first seven.
std::int64_t Shape::*field_of(Knob knob);

}  // namespace tilewright::space
