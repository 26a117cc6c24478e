// Lint never harms: over the catalogue and all devices a fix removes its finding, saves what it says, raises no warning
// that was not told before, cuts no tokens and contradicts no other. Pairs are drawn with a fixed seed;
// TILEWRIGHT_LINT_PAIRS=100000 tries them all (about half a minute).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <set>

#include "tilewright/host.h"
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

/// All rules of which a word was said.
std::set<std::string_view> told(const std::vector<Finding>& findings) {
    std::set<std::string_view> codes;
    for (const Finding& finding : findings) codes.insert(finding.code);
    return codes;
}

/// A step of one of the pairs, at the work of another.
struct Step {
    Step(const Shape& shape_, const Workload& workload_, const Pricer& pricer)
        : shape(shape_), workload(workload_), cost(price(lower(shape, workload), pricer)) {}

    /// Of all kernels but the optimizer's.
    double time() const {
        double sum = 0.0;
        for (const PricedOp& priced : cost.ops) sum += priced.op.pass != Pass::Update ? priced.total.value : 0.0;
        return sum;
    }
    double stopwatch() const { return schedule(cost, shape, workload).time.value; }

    Shape shape;
    Workload workload;
    GraphCost cost;
};

/// What a fix saves: of the step, or of one at equal work where it changes the work.
double saved(const Finding& finding, const Fix& fix, const Step& before, const Step& after) {
    if (!fix.other_work) return (before.cost.sum.time - after.cost.sum.time).value;
    if (finding.code == "TW023") {  // which is about the host
        return before.stopwatch() - after.stopwatch() * static_cast<double>(fix.from) / static_cast<double>(fix.to);
    }
    return before.time() - after.time() * (before.cost.flops / after.cost.flops);
}

void expect_kept(const Pair& pair, const Pricer& pricer, const std::set<std::string_view>& told_before,
                 const Finding& finding, const Fix& fix) {
    Shape shape = pair.shape;
    Workload workload;
    apply(fix, shape, workload);
    const std::vector<Finding> findings = lint(shape, workload, pricer);
    for (const Finding& found : findings) EXPECT_TRUE(found.later || found.code != finding.code) << "is still there";
    EXPECT_FALSE(fix.dimension == "vocab" && fix.to < fix.from);
    EXPECT_FALSE(fix.dimension == "seq" && (finding.code == "TW018" || finding.code == "TW019"));
    if (finding.severity == Severity::Error) return;  // before it, there is no step to compare with
    const Step before(pair.shape, {}, pricer), after(shape, workload, pricer);
    EXPECT_GT(fix.gain.value, 0.0);
    EXPECT_NEAR(saved(finding, fix, before, after), fix.gain.value, 0.02 * before.cost.sum.time.value);
    for (const Finding& found : findings) {
        EXPECT_TRUE(found.severity < Severity::Warning || told_before.contains(found.code)) << found.code << " is new";
    }
}

TEST(LintCatalogue, FixesNeverHarm) {
    std::size_t tried = 0;
    for (const Pair& pair : drawn()) {
        const Workload workload;
        if (!validate(pair.shape, workload).empty()) continue;
        const Pricer pricer(pair.device, find_profile(pair.device));
        const std::vector<Finding> findings = lint(pair.shape, workload, pricer);
        const std::set<std::string_view> before = told(findings);
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
