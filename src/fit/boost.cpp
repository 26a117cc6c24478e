#include "fit/boost.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewright {
namespace {

constexpr int max_bins = 64;
constexpr float unbounded = std::numeric_limits<float>::max();

/// Features cut into at most 64 bins by quantiles; bin b holds what is at most edges[b].
struct Binned {
    std::vector<std::vector<float>> edges;
    std::vector<std::uint8_t> bins;
};

Binned bin(const BoostRows& rows) {
    const std::size_t width = rows.trends.size();
    Binned binned{std::vector<std::vector<float>>(width), std::vector<std::uint8_t>(rows.features.size())};
    std::vector<float> sorted(rows.size());
    for (std::size_t f = 0; f < width; ++f) {
        for (std::size_t i = 0; i < rows.size(); ++i) sorted[i] = rows.features[i * width + f];
        std::sort(sorted.begin(), sorted.end());
        auto& edges = binned.edges[f];
        for (std::size_t b = 1; b < max_bins; ++b) {
            const float edge = sorted[sorted.size() * b / max_bins];
            if (edge < sorted.back() && (edges.empty() || edge > edges.back())) edges.push_back(edge);
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto at = std::lower_bound(edges.begin(), edges.end(), rows.features[i * width + f]);
            binned.bins[i * width + f] = static_cast<std::uint8_t>(at - edges.begin());
        }
    }
    return binned;
}

/// What a row asks of a tree, and how much of the tree's answer it takes.
struct Pull {
    float residual, weight;
};

/// Least squares of weight * value against the residuals needs no more than these.
struct Sum {
    double residual = 0.0;
    double count = 0.0;

    void add(const Pull& pull) {
        residual += static_cast<double>(pull.weight * pull.residual);
        count += static_cast<double>(pull.weight * pull.weight);
    }
};

/// A node while its tree grows: the range its value must keep, and the rows' sum.
struct Node {
    float low = -unbounded;
    float high = unbounded;
    float value = 0.0F;
    Sum sum;
};

struct Cut {
    double gain = 1e-6;
    std::size_t feature = 0;
    std::size_t bin = 0;
    float left = 0.0F;
    float right = 0.0F;
    bool found = false;
};

/// Grows one tree on the current residuals, level by level.
class TreeGrower {
public:
    TreeGrower(const BoostRows& rows, const Binned& binned, const BoostOptions& options)
        : rows_(rows), binned_(binned), options_(options), width_(rows.trends.size()) {}

    /// `node_of` is left holding the leaf of each row.
    Tree grow(const std::vector<Pull>& pulls, std::vector<std::uint32_t>& node_of) {
        Tree tree;
        nodes_.assign(31, Node{});
        std::fill(node_of.begin(), node_of.end(), 0U);
        for (std::size_t first = 0; first < 15; first = 2 * first + 1) split_level(first, pulls, node_of, tree);
        sum_leaves(pulls, node_of);
        for (std::size_t leaf = 0; leaf < 16; ++leaf) tree.leaf[leaf] = options_.rate * best_value(nodes_[15 + leaf]);
        return tree;
    }

private:
    float best_value(const Node& node) const { return best_value(node.sum, node); }
    float best_value(const Sum& sum, const Node& within) const {
        const double value = sum.residual / (sum.count + static_cast<double>(options_.ridge));
        return std::clamp(static_cast<float>(value), within.low, within.high);
    }
    double score(const Sum& sum, float value) const {
        const auto v = static_cast<double>(value);
        return 2.0 * v * sum.residual - (sum.count + static_cast<double>(options_.ridge)) * v * v;
    }

    void split_level(std::size_t first, const std::vector<Pull>& pulls, std::vector<std::uint32_t>& node_of,
                     Tree& tree) {
        const std::size_t count = first + 1;
        histogram_.assign(count * width_ * max_bins, Sum{});
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (pulls[i].weight <= 0.0F) continue;
            for (std::size_t f = 0; f < width_; ++f) {
                histogram_[((node_of[i] - first) * width_ + f) * max_bins + binned_.bins[i * width_ + f]].add(pulls[i]);
            }
        }
        for (std::size_t n = 0; n < count; ++n) split_node(first, n, tree);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const std::size_t node = node_of[i];
            const bool right = rows_.row(i)[tree.feature[node]] > tree.threshold[node];
            node_of[i] = static_cast<std::uint32_t>(2 * node + (right ? 2 : 1));
        }
    }

    /// A node that gains nothing by a split sends every row left and hands its range on.
    void split_node(std::size_t first, std::size_t index, Tree& tree) {
        const std::size_t at = first + index;
        Node& node = nodes_[at];
        const Sum* cells = &histogram_[index * width_ * max_bins];
        for (int b = 0; b < max_bins; ++b) {
            node.sum.residual += cells[b].residual;
            node.sum.count += cells[b].count;
        }
        Node left = node, right = node;
        left.sum = right.sum = Sum{};
        const Cut split = best_split(node, cells);
        tree.feature[at] = static_cast<std::uint8_t>(split.feature);
        tree.threshold[at] = split.found ? binned_.edges[split.feature][split.bin] : unbounded;
        if (split.found && rows_.trends[split.feature] == Trend::Rising) {
            left.high = right.low = (split.left + split.right) / 2.0F;
        }
        nodes_[2 * at + 1] = left;
        nodes_[2 * at + 2] = right;
    }

    Cut best_split(const Node& node, const Sum* cells) const {
        Cut best;
        const double base = score(node.sum, best_value(node));
        for (std::size_t f = 0; f < width_; ++f) {
            Sum left;
            for (std::size_t b = 0; b < binned_.edges[f].size(); ++b) {
                left.residual += cells[f * max_bins + b].residual;
                left.count += cells[f * max_bins + b].count;
                const Sum right{node.sum.residual - left.residual, node.sum.count - left.count};
                if (left.count < options_.min_leaf || right.count < options_.min_leaf) continue;
                const float to_left = best_value(left, node), to_right = best_value(right, node);
                if (rows_.trends[f] == Trend::Rising && to_left > to_right) continue;
                const double gain = score(left, to_left) + score(right, to_right) - base;
                if (gain > best.gain) best = {gain, f, b, to_left, to_right, true};
            }
        }
        return best;
    }

    void sum_leaves(const std::vector<Pull>& pulls, const std::vector<std::uint32_t>& node_of) {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            nodes_[node_of[i]].sum.add(pulls[i]);
        }
    }

    const BoostRows& rows_;
    const Binned& binned_;
    const BoostOptions& options_;
    std::size_t width_;
    std::vector<Node> nodes_;
    std::vector<Sum> histogram_;
};

}  // namespace

std::vector<Tree> boost(const BoostRows& rows, const BoostOptions& options) {
    std::vector<Tree> trees;
    if (rows.size() == 0) return trees;
    const Binned binned = bin(rows);
    TreeGrower grower(rows, binned, options);
    std::vector<float> left_over = rows.targets;
    std::vector<Pull> pulls(rows.size());
    std::vector<std::uint32_t> node_of(rows.size());
    for (int t = 0; t < options.trees * rows.knots; ++t) {
        const auto knot = static_cast<float>(t % rows.knots);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            pulls[i] = {std::clamp(left_over[i], -options.clip, options.clip),
                        std::max(0.0F, 1.0F - std::abs(rows.places[i] - knot))};
        }
        const Tree tree = grower.grow(pulls, node_of);
        for (std::size_t i = 0; i < rows.size(); ++i) left_over[i] -= pulls[i].weight * tree.leaf[node_of[i] - 15];
        trees.push_back(tree);
    }
    return trees;
}

}  // namespace tilewright
