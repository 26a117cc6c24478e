// Runs the table and tries every fix it proposes.
#include "tilewright/lint.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "lint/counterfactual.h"

namespace tilewright {
namespace {

/// Faults that cost less than this share of the step are left out altogether, unless warnings start lower still.
constexpr double worth_a_word = 0.005;

/// The dimensions a fix can name that are no plain field of Shape.
std::int64_t* nested_dimension(Shape& shape, Workload& workload, std::string_view name) {
    if (name == "batch") return &workload.batch;
    if (name == "seq") return &workload.seq;
    if (name == "tp") return &workload.parallel.tp;
    if (name == "pp") return &workload.parallel.pp;
    if (name == "experts.ffn" && shape.experts) return &shape.experts->ffn;
    if (name == "experts.shared_ffn" && shape.experts) return &shape.experts->shared_ffn;
    return nullptr;
}

/// The step, without kernels when the shape cannot run in the workload.
GraphCost step_of(const Shape& shape, const Workload& workload, const Pricer& pricer) {
    return validate(shape, workload).empty() ? price(lower(shape, workload), pricer) : GraphCost{};
}

/// Everything the rules say, fixes untried.
std::vector<Finding> check_all(LintInput input, const LintOptions& options) {
    const Seconds whole = input.step.sum.time;
    input.floor = whole * std::min(worth_a_word, options.min_cost);
    std::vector<Finding> all;
    for (const Rule& rule : rules()) {
        for (Finding& finding : rule.check(input)) {
            finding.code = rule.code;
            finding.rule = rule.name;
            if (finding.severity != Severity::Error) {
                if (finding.share == 0.0) finding.share = finding.cost / whole;
                finding.severity =
                    std::min(rule.worst, finding.share >= options.min_cost ? Severity::Warning : Severity::Info);
            }
            all.push_back(std::move(finding));
        }
    }
    return all;
}

/// Whether the rule is said for its own sake, with or without a fix.
bool only_informs(std::string_view code) {
    const auto table = rules();
    return std::any_of(table.begin(), table.end(),
                       [&](const Rule& rule) { return rule.code == code && rule.worst == Severity::Info; });
}

/// Whether the same rule was already broken; in a shorter step the same cost may have become a warning.
bool was_there(const std::vector<Finding>& findings, const Finding& other) {
    const bool error = other.severity == Severity::Error;
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
        return f.code == other.code && (!error || f.severity == Severity::Error);
    });
}

/// Which way a fix moves a dimension; wider heads are fewer.
std::pair<std::string_view, bool> direction(const Fix& fix) {
    if (fix.dimension == "head_dim") return {"heads", fix.to < fix.from};
    return {fix.dimension, fix.to > fix.from};
}

/// What the kernels of a finding take that both steps launch, the optimizer left out.
Seconds time_of(const Finding& finding, const GraphCost& step, const GraphCost& other) {
    const auto name = [](const PricedOp& priced) { return checks::lowered_name(priced.op); };
    Seconds sum;
    for (const PricedOp& priced : step.ops) {
        const bool named = std::ranges::find(finding.kernels, name(priced)) != finding.kernels.end() &&
                           std::ranges::find(other.ops, name(priced), name) != other.ops.end();
        if (named && priced.op.pass != Pass::Update) sum += priced.total;
    }
    return sum;
}

/// A step and what the rules say of it.
struct Checked {
    const GraphCost& step;
    std::vector<Finding> findings;
};

/// Whether `after` is rid of the finding and has no error, nothing worse than it and no warning that `before` had not:
/// none of the dimension that the fix moves, and none whose kernels take longer than they did. A warning of kernels
/// that do not was hidden behind the fault.
bool better(const Finding& fixed, const Fix& fix, const Checked& before, const Checked& after) {
    const auto moves_it = [&](const Fix& other) { return direction(other).first == direction(fix).first; };
    const auto slower = [&](const Finding& found) {
        const double work = std::min(1.0, before.step.flops / after.step.flops);
        return time_of(found, after.step, before.step) * work > time_of(found, before.step, after.step);
    };
    return std::ranges::none_of(after.findings, [&](const Finding& found) {
        if (found.code == fixed.code) return true;
        const bool raised = found.severity == Severity::Error || found.severity > fixed.severity ||
                            (found.severity == Severity::Warning && fixed.severity != Severity::Error &&
                             (std::ranges::any_of(found.fixes, moves_it) || slower(found)));
        return raised && !was_there(before.findings, found);
    });
}

/// A warning that shows once a fix is made.
struct Later {
    Fix fix;
    Finding found;
};

/// What the fixes that are offered bring to light is told at once, as Info: it costs nothing yet, and has its own fixes
/// then.
void add_later(std::vector<Later> later, std::vector<Finding>& findings) {
    std::ranges::stable_sort(later, std::greater{}, [](const Later& one) { return one.fix.gain.value; });
    for (const auto& [fix, found] : later) {
        const auto offers = [&, made = &fix](const Finding& finding) {
            return std::ranges::any_of(finding.fixes, [&](const Fix& other) {
                return other.dimension == made->dimension && other.to == made->to;
            });
        };
        if (std::ranges::find(findings, found.code, &Finding::code) != findings.end()) continue;
        if (std::ranges::none_of(findings, offers)) continue;
        Finding told = found;
        told.later = true;
        told.severity = Severity::Info;
        told.quantity = "once " + fix.dimension + " is " + std::to_string(fix.to) + ": " + found.quantity;
        told.cost = {};
        told.share = 0.0;
        told.fixes.clear();
        findings.push_back(std::move(told));
    }
}

/// A fix that does harm is none: one that takes tokens from the vocabulary, which the tokenizer may use, or time.
bool harms(const Finding& finding, const Fix& fix) {
    const bool cuts_tokens = fix.dimension == "vocab" && fix.to < fix.from;
    return cuts_tokens || (finding.severity != Severity::Error && fix.gain.value <= 0.0);
}

/// Where several findings would move a dimension, only the way of the largest gain stays. Errors keep theirs: one of
/// them must be taken.
void drop_contradictions(std::vector<Finding>& findings) {
    struct Way {
        std::string_view dimension;
        bool up;
        Seconds gain;
        std::string_view finding;
        bool shared = false;
    };
    std::vector<Way> ways;
    for (const Finding& finding : findings) {
        for (const Fix& fix : finding.fixes) {
            const auto [dimension, up] = direction(fix);
            const auto known = std::find_if(ways.begin(), ways.end(),
                                            [&, name = dimension](const Way& way) { return way.dimension == name; });
            if (known == ways.end()) {
                ways.push_back({dimension, up, fix.gain, finding.code});
                continue;
            }
            known->shared = known->shared || known->finding != finding.code;
            if (fix.gain > known->gain) std::tie(known->up, known->gain) = std::pair(up, fix.gain);
        }
    }
    for (Finding& finding : findings) {
        if (finding.severity == Severity::Error) continue;
        std::erase_if(finding.fixes, [&](const Fix& fix) {
            const auto [dimension, up] = direction(fix);
            return std::any_of(ways.begin(), ways.end(), [&, name = dimension, up = up](const Way& way) {
                return way.shared && way.dimension == name && way.up != up;
            });
        });
    }
}

/// Best gain first. Gains that agree to a twentieth of the best are alike and keep the rule's order, upwards first.
void sort_by_gain(std::vector<Fix>& fixes) {
    double best = 0.0;
    for (const Fix& fix : fixes) best = std::max(best, std::abs(fix.gain.value));
    const auto rank = [&](const Fix& fix) { return best > 0.0 ? std::round(fix.gain.value / best * 20.0) : 0.0; };
    std::stable_sort(fixes.begin(), fixes.end(), [&](const Fix& a, const Fix& b) { return rank(a) > rank(b); });
}

/// Errors first, then the costliest, then by code.
bool comes_before(const Finding& a, const Finding& b) {
    const bool a_error = a.severity == Severity::Error;
    const bool b_error = b.severity == Severity::Error;
    if (a_error != b_error) return a_error;
    if (a.cost != b.cost) return a.cost > b.cost;
    return a.code < b.code;
}

}  // namespace

void apply(const Fix& fix, Shape& shape, Workload& workload) {
    if (std::int64_t* field = nested_dimension(shape, workload, fix.dimension)) {
        *field = fix.to;
    } else {
        set_dimension(shape, fix.dimension, fix.to);
    }
}

std::int64_t checks::value_of(const LintInput& input, std::string_view dimension) {
    Shape shape = input.shape;
    Workload workload = input.workload;
    if (const std::int64_t* field = nested_dimension(shape, workload, dimension)) return *field;
    const auto& named = dimensions();
    const auto found =
        std::find_if(named.begin(), named.end(), [&](const Dimension& d) { return dimension == d.name; });
    return found == named.end() ? 0 : shape.*found->field;
}

std::vector<Finding> lint(const Shape& shape, const Workload& workload, const Pricer& pricer, LintOptions options) {
    return lint({shape, workload, pricer, step_of(shape, workload, pricer)}, options);
}

std::vector<Finding> lint(const LintInput& input, LintOptions options) {
    const Checked untried{input.step, check_all(input, options)};
    std::vector<Finding> findings = untried.findings;
    std::vector<Later> later;
    for (Finding& finding : findings) {
        std::erase_if(finding.fixes, [&](const Fix& fix) {
            if (harms(finding, fix)) return true;
            const auto [shape, workload] = checks::changed_by(input, fix);
            const GraphCost step = step_of(shape, workload, input.pricer);
            const Checked after{step, check_all({shape, workload, input.pricer, step}, options)};
            if (!better(finding, fix, untried, after)) return true;
            if (finding.severity == Severity::Error) return false;
            for (const Finding& found : after.findings) {
                if (found.severity == Severity::Warning) later.push_back({fix, found});
            }
            return false;
        });
        sort_by_gain(finding.fixes);
    }
    std::sort(findings.begin(), findings.end(), comes_before);
    drop_contradictions(findings);
    std::erase_if(findings, [](const Finding& f) {
        return f.fixes.empty() && f.severity == Severity::Info && !only_informs(f.code);
    });
    add_later(std::move(later), findings);
    return findings;
}

}  // namespace tilewright
