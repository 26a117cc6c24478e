// Lint never harms: over the catalogue and all devices a fix removes its finding, saves what it says, raises no new
// warning, cuts no tokens and contradicts no other. Pairs are drawn with a fixed seed; TILEWRIGHT_LINT_PAIRS=100000
// tries them all (about half a minute).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <set>

#include "tilewright/lint.h"
#include "tilewright/profile.h"
#include "tilewright/read.h"

namespace tilewright {
namespace {

struct Pair {
    Shape shape;
    Device device;
};

std::vector<Pair> drawn() {
    std::vector<Pair> all;
    for (const std::string& model : model_names()) {
        for (const std::string& device : device_names()) all.push_back({*find_model(model), *find_device(device)});
    }
    std::shuffle(all.begin(), all.end(), std::mt19937(17));
    const char* asked = std::getenv("TILEWRIGHT_LINT_PAIRS");
    const std::size_t pairs = asked != nullptr ? std::strtoul(asked, nullptr, 10) : 250;
    all.resize(std::min(all.size(), pairs));
    return all;
}

/// All rules that are broken, at whatever cost is worth a word.
std::set<std::string_view> broken(const Shape& shape, const Workload& workload, const Pricer& pricer) {
    std::set<std::string_view> codes;
    for (const Finding& finding : lint(shape, workload, pricer, {.min_cost = 0.005})) codes.insert(finding.code);
    return codes;
}

void expect_kept(const Pair& pair, const Pricer& pricer, const std::set<std::string_view>& before,
                 const Finding& finding, const Fix& fix) {
    Shape shape = pair.shape;
    Workload workload;
    apply(fix, shape, workload);
    const std::vector<Finding> after = lint(shape, workload, pricer);
    for (const Finding& found : after) EXPECT_NE(found.code, finding.code) << "is still there";
    EXPECT_FALSE(fix.dimension == "vocab" && fix.to < fix.from);
    EXPECT_FALSE(fix.dimension == "seq" && (finding.code == "TW018" || finding.code == "TW019"));
    if (finding.severity == Severity::Error) return;  // before it, there is no step to compare with
    const Seconds step = price(lower(pair.shape, {}), pricer).sum.time,
                  now = price(lower(shape, workload), pricer).sum.time;
    EXPECT_GT(fix.gain.value, 0.0);
    if (fix.other_work) return;  // its gain is at equal work, and faults have other shares of a step
    EXPECT_NEAR(fix.step.value, now.value, 1e-9 * now.value);
    EXPECT_NEAR((step - now).value, fix.gain.value, 0.02 * step.value);
    for (const Finding& found : after) {  // of a faster step the same cost is a larger share: that is no new fault
        const bool of_the_shape = found.code != "TW016";  // what a larger batch saves grows as the rest gets faster
        const bool warns = of_the_shape && found.severity >= Severity::Warning && found.cost.value > 0.02 * step.value;
        EXPECT_TRUE(!warns || before.contains(found.code)) << found.code << " is new";
    }
}

TEST(LintCatalogue, FixesNeverHarm) {
    std::size_t tried = 0;
    for (const Pair& pair : drawn()) {
        const Workload workload;
        if (!validate(pair.shape, workload).empty()) continue;
        const Pricer pricer(pair.device, find_profile(pair.device));
        const std::vector<Finding> findings = lint(pair.shape, workload, pricer);
        const std::set<std::string_view> before = broken(pair.shape, workload, pricer);
        for (const Finding& finding : findings) {
            SCOPED_TRACE(pair.shape.name + " on " + pair.device.name + ": " + std::string(finding.code));
            for (const Fix& fix : finding.fixes) expect_kept(pair, pricer, before, finding, fix);
            tried += finding.fixes.size();
            for (const Finding& other : findings) {
                if (finding.fixes.empty() || other.fixes.empty()) continue;
                const Fix &a = finding.fixes[0], &b = other.fixes[0];
                EXPECT_FALSE(a.dimension == b.dimension && (a.to > a.from) != (b.to > b.from)) << other.code;
            }
        }
    }
    EXPECT_GT(tried, 10U);
}

}  // namespace
}  // namespace tilewright
