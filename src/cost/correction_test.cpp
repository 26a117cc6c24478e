// Trees read side by side give what each gives by itself, however many there are.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tilewright/correction.h"

namespace tilewright {
namespace {

using Features = std::array<float, 4>;

struct Draw {
    std::mt19937 random{1};
    float operator()(float most) { return std::uniform_real_distribution<float>(0.0F, most)(random); }
};

Tree any_tree(Draw& draw) {
    Tree tree;
    for (std::uint8_t& feature : tree.feature) feature = static_cast<std::uint8_t>(draw(3.99F));
    for (float& threshold : tree.threshold) threshold = draw(1.2F) < 1.0F ? draw(100.0F) : 3.4e38F;
    for (float& leaf : tree.leaf) leaf = draw(0.2F) - 0.1F;
    return tree;
}

float leaf_of(const Tree& tree, const Features& features) {
    std::size_t node = 0;
    while (node < 15) node = 2 * node + (features[tree.feature[node]] <= tree.threshold[node] ? 1 : 2);
    return tree.leaf[node - 15];
}

double sum_at(const Correction& correction, std::int64_t knot, const Features& features) {
    double sum = correction.offset;
    for (std::int64_t i = knot; i < std::ssize(correction.trees); i += correction.knots) {
        sum += static_cast<double>(leaf_of(correction.trees[static_cast<std::size_t>(i)], features));
    }
    return std::clamp(sum, -Correction::limit, Correction::limit);
}

TEST(Correction, IsReadBetweenItsKnots) {
    Draw draw;
    for (std::int64_t knots : {1, 2, 3, 7}) {
        for (std::int64_t each : {1, 2, 3, 20}) {
            Correction correction{.first_s = 1e-6, .knots = knots, .offset = 0.01, .of_batches = 1.0, .trees = {}};
            for (std::int64_t i = 0; i < knots * each; ++i) correction.trees.push_back(any_tree(draw));
            for (const double physics_s : {1e-7, 1e-6, 3e-6, 4e-6, 5e-5, 2e-4, 1.0}) {
                const Features features{draw(100.0F), draw(100.0F), draw(100.0F), 0.0F};
                const double place = correction.place(physics_s);
                const auto knot = static_cast<std::int64_t>(place);
                const double here = sum_at(correction, knot, features);
                const double next = sum_at(correction, std::min(knot + 1, knots - 1), features);
                const double sum = here + (place - static_cast<double>(knot)) * (next - here);
                EXPECT_NEAR(correction.factor(physics_s, features), std::exp(sum), 1e-12) << knots << ' ' << each;
            }
        }
    }
}

TEST(Correction, ChoicesTogetherStayWithinHalfTheLargestFall) {
    Draw draw;
    for (const std::size_t count : {0U, 1U, 8U, 13U, 40U}) {
        Correction correction;
        for (std::size_t i = 0; i < count; ++i) correction.choices.push_back(any_tree(draw));
        for (int i = 0; i < 50; ++i) {
            const Features features{draw(100.0F), draw(100.0F), draw(100.0F), 0.0F};
            float sum = 0.0F;
            for (const Tree& tree : correction.choices) sum += leaf_of(tree, features);
            const double most = std::sqrt(1.0 / (1.0 - Correction::largest_fall));
            EXPECT_NEAR(correction.choice(features), std::clamp(std::exp(static_cast<double>(sum)), 1.0 / most, most),
                        1e-6);
        }
    }
}

}  // namespace
}  // namespace tilewright
