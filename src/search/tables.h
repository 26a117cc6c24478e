// Prices of a slice, each distinct kernel once. A step is a sum of kernels, and lowering itself is asked at a few
// points which of them move with the MLP width, which with the vocabulary, how, and how often each is launched per
// layer; what is left moves with the heads. So a shape of the slice costs a few table entries and is still
// price(lower(shape)).
#pragma once

#include "search/space.h"
#include "tilewright/host.h"

namespace tilewright::tables {

/// Sums over kernels at the top clock.
struct Sums {
    double time = 0.0, clocked = 0.0, energy = 0.0;

    friend Sums operator+(Sums a, Sums b) { return {a.time + b.time, a.clocked + b.clocked, a.energy + b.energy}; }
    friend Sums operator*(double n, Sums a) { return {n * a.time, n * a.clocked, n * a.energy}; }
};

/// What does not move with MLP width and vocabulary.
struct Rest {
    space::Affine<double> flops, update_bytes;  ///< the update's with the slice's first width and vocabulary
    std::vector<space::Affine<Sums>> sums;      ///< by target
    HostLoad host;                              ///< of the whole step
};

/// A kernel at two values of a dimension, and its launches.
struct Line {
    Op from, to;
    Op now;  ///< somewhere on the line
    double count;
};

/// Per layer for MLP widths, once for vocabularies, in the slice's order; `update_bytes` relative to the first one.
struct Column {
    std::vector<Line> kernels;
    std::vector<double> places;  ///< on the lines
    std::vector<double> flops, update_bytes;
    std::vector<std::vector<Sums>> sums;  ///< by target, once priced
    std::vector<bool> priced;
};

class Tables {
public:
    Tables(const space::Space& space, const space::Slice& slice, std::span<const Target> targets);

    const Column& widths() const { return widths_; }  ///< their sums where `price_widths` was asked for them
    void price_widths(space::Range range) { price(widths_, range); }
    const Column& words() const { return words_; }
    Rest rest(const space::Heads& heads) const;

    /// What a step's update takes when its kernels move that many bytes.
    double update_time(std::size_t target, double bytes) const;

private:
    enum class Part { Rest, Width, Words, Update };
    /// A kernel of the step: what moves it, and how often it is launched.
    struct Role {
        Part part;
        space::Affine<double> count;
    };

    std::vector<Role> roles(const Shape& shape, const OpGraph& graph) const;
    std::vector<Line> lines(Part part, const OpGraph& from, const OpGraph& to) const;
    Column column(Knob knob, Part part, const std::vector<std::int64_t>& values);
    void price(Column& column, space::Range range) const;
    OpGraph lowered(const Shape& shape) const { return lower(shape, slice_.variant.workload); }

    const space::Slice& slice_;
    std::span<const Target> targets_;
    bool depth_is_free_;
    Shape reference_;  ///< the slice's first shape, with one layer on each GPU when depth is free
    OpGraph first_;    ///< its kernels
    std::vector<Role> roles_;
    double update_once_ = 0.0;       ///< bytes that the update moves beside those of the layers
    std::array<OpGraph, 2> update_;  ///< at two sizes of the model
    Column widths_, words_;
};

/// The time of a mix of kernels at the clock where it settles, as `price(OpGraph)` has it.
double settled_time(const Pricer& pricer, const Sums& mix);

}  // namespace tilewright::tables
