// Collectives in a node and between nodes are learnt apart.
#include <gtest/gtest.h>

#include "cost/fixtures.h"
#include "fit/steps.h"

namespace tilewright {
namespace {

/// Times of all-reduces and all-gathers over so many ranks under a profile, 1 KiB to 4 GiB.
std::vector<Observation> timed(const Profile& truth, const std::vector<std::int64_t>& ranks) {
    const Pricer pricer(h200(), truth, Clock::Sustained);
    std::vector<Observation> seen;
    for (const std::int64_t count : ranks) {
        for (double bytes = 1024.0; bytes < 5e9; bytes *= 4.0) {
            for (const CollectiveKind kind : {CollectiveKind::AllReduce, CollectiveKind::AllGather}) {
                Observation one;
                one.op.work = Collective{.kind = kind, .bytes = {bytes}, .ranks = count};
                one.time_s = pricer.price(one.op).time.value;
                seen.push_back(std::move(one));
            }
        }
    }
    return seen;
}

TEST(Collectives, BetweenNodesFindTheNetwork) {
    Profile truth = assumed_profile(h200());
    truth.collective.far_low = {{}, {6e-6}, 0.3};
    truth.collective.far_bulk = {{}, {2.5e-5}, 0.7};
    const std::vector<Observation> far = timed(truth, {16, 32, 64}), near = timed(truth, {2, 4});
    Observations seen;
    for (const Observation& one : far) seen.push_back(&one);
    Profile learnt = assumed_profile(h200());
    const auto evidence = [&] { return Pricer(h200(), learnt, Clock::Sustained).price(far.front().op).evidence; };
    EXPECT_EQ(evidence(), Evidence::Assumed);
    fit_collectives(seen, h200(), learnt);
    EXPECT_NEAR(learnt.collective.far_bulk.fraction, 0.7, 0.02);
    EXPECT_NEAR(learnt.collective.far_bulk.step.value, 2.5e-5, 2e-6);
    EXPECT_EQ(learnt.collective.far_samples, static_cast<double>(far.size()));
    EXPECT_EQ(learnt.collective_evidence, Evidence::Assumed);  // within a node nothing was timed
    EXPECT_EQ(evidence(), Evidence::Fitted);
    // Too few of one node leave it as it is.
    Observations few;
    for (const Observation& one : near) few.push_back(&one);
    Profile other = assumed_profile(h200());
    fit_collectives(few, h200(), other);
    EXPECT_EQ(other.collective.far_samples, 0.0);
}

}  // namespace
}  // namespace tilewright
