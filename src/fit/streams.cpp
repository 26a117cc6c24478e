// Kernels that only stream memory. Each form and kind has its own samples, often few, and is drawn towards what is
// known without them: a plain kernel, then all kinds that are alike, then the kind; PyTorch's kernels start from ours.
// What the law leaves over by how long kernels take is learnt last, for kinds that are alike together; where their
// samples are many, by shape too.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "cost/correction.h"
#include "fit/boost.h"
#include "fit/solve.h"
#include "fit/steps.h"

namespace tilewright {
namespace {

constexpr std::size_t least_streams = 20;     ///< fewer leave what is assumed
constexpr std::size_t least_of_kind = 3;      ///< fewer leave the constants as they are
constexpr std::size_t least_of_reading = 10;  ///< fewer read every row once
constexpr std::size_t least_of_curve = 15;    ///< of each kind; fewer leave it flat
constexpr std::size_t least_of_trees = 100;   ///< fewer leave it at the curve

/// Where the constants of a kernel start that no sample tells of yet: about the middle of the kinds on an H200.
constexpr StreamKernel plain{
    .fraction = 0.9, .fill = {7e-7}, .element = {1.5e-10}, .row = {3e-11}, .exposed = 0.5, .ragged = 2.0};

/// Kernels that know rows: one alone takes its length's time, and one of odd length more.
bool knows_rows(StreamKind kind) {
    return kind != StreamKind::Pointwise && kind != StreamKind::Widen && kind != StreamKind::Optimizer &&
           kin_of(kind) != StreamKind::Activation;
}

bool is_norm(StreamKind kind) { return kin_of(kind) == StreamKind::Norm || kin_of(kind) == StreamKind::NormBackward; }

const Stream& stream_of(const Observation& one) { return std::get<Stream>(one.op.work); }

template <class Keep>
Observations streams_where(const Observations& seen, Keep keep) {
    Observations result;
    std::copy_if(seen.begin(), seen.end(), std::back_inserter(result),
                 [&](const Observation* one) { return keep(stream_of(*one)); });
    return result;
}

/// What is learnt at once: the kernels of one form and of one kind, or of several alike that share their constants.
struct StreamGroup {
    std::vector<StreamKernel*> kernels;
    Observations seen;
    bool rows = false;        ///< whether the kernels know rows
    double drawn = 0.05;      ///< of the logarithm of a constant's move, what counts as an error
    bool rereads = false;     ///< whether its kernels read a row twice
    bool widths = true;       ///< whether odd and long rows are learnt too
    bool own_widths = false;  ///< and of each kernel by itself
};

/// Moves the group's constants, from where its first kernel is, to where its samples are met best.
void fit_constants(const StreamGroup& group, const Device& device, Profile& profile) {
    if (group.seen.size() < least_of_kind) return;
    StreamKernel kernel = *group.kernels.front();
    std::vector<Parameter> parameters = {{&kernel.fraction, 1.0}, &kernel.launch.value, &kernel.fill.value};
    if (group.rows) {
        parameters.insert(parameters.end(), {&kernel.element.value, &kernel.row.value, {&kernel.exposed, 1.0}});
        if (group.widths) parameters.emplace_back(&kernel.ragged);
        if (group.widths && kernel.once > 0.0) parameters.emplace_back(&kernel.again);
    }
    std::vector<double> start;
    for (const Parameter& parameter : parameters) start.push_back(*parameter.value);
    const auto share = [&] {
        for (StreamKernel* one : group.kernels) *one = kernel;
    };
    solve(parameters, [&] {
        share();
        std::vector<double> errors = log_errors(group.seen, device, profile);
        for (std::size_t i = 0; i < start.size(); ++i) {
            errors.push_back(group.drawn * std::log(*parameters[i].value / start[i]));
        }
        return errors;
    });
    kernel.ragged = std::max(1.0, kernel.ragged);
    kernel.again = std::max(1.0, kernel.again);
    share();
}

/// What the constants leave over: trees that see nothing of a kernel but its place among the knots.
void fit_curve(const StreamGroup& group, const Device& device, const Profile& profile) {
    if (group.seen.size() < least_of_curve * group.kernels.size()) return;
    const Pricer pricer(device, profile, Clock::Burst);
    BoostRows rows{.trends = {Trend::Free}, .features = {}, .targets = {}, .places = {}, .knots = Curve::knots.count};
    const std::vector<double> errors = log_errors(group.seen, device, profile);
    for (std::size_t i = 0; i < errors.size(); ++i) {
        rows.features.push_back(0.0F);
        rows.targets.push_back(static_cast<float>(-errors[i]));
        rows.places.push_back(static_cast<float>(Curve::knots.place(pricer.burst(group.seen[i]->op).time.value)));
    }
    const std::vector<Tree> trees = boost(rows, {.ridge = 3.0F});
    Curve curve;
    for (std::size_t i = 0; i < trees.size(); ++i) {
        curve.at[i % curve.at.size()] += static_cast<double>(trees[i].leaf.front());
    }
    for (double& at : curve.at) at = std::clamp(at, -Knots::limit, Knots::limit);
    for (StreamKernel* one : group.kernels) one->learnt = curve;
}

/// What that leaves over of our kernels, where samples are many: it goes by shape too.
void fit_trees(const StreamGroup& group, StreamKind kind, const Device& device, Profile& profile) {
    if (group.seen.size() < least_of_trees) return;
    const Pricer pricer(device, profile, Clock::Burst);
    BoostRows rows;
    rows.trends.assign(stream_feature_count, Trend::Free);
    rows.trends.front() = Trend::Rising;
    const std::vector<double> errors = log_errors(group.seen, device, profile);
    for (std::size_t i = 0; i < errors.size(); ++i) {
        StreamFeatures features = stream_features(stream_of(*group.seen[i]));
        const double place = SharedCorrection::knots.place(pricer.burst(group.seen[i]->op).time.value);
        features.back() = static_cast<float>(place);
        rows.features.insert(rows.features.end(), features.begin(), features.end());
        rows.targets.push_back(static_cast<float>(-errors[i]));
        rows.places.push_back(0.0F);
    }
    profile.stream.learnt[static_cast<std::size_t>(kind)].trees =
        boost(rows, {.trees = 24, .min_leaf = 4, .ridge = 3.0F});
}

/// A kind's start with what it does not know left out.
StreamKernel start_of(StreamKind kind, const StreamKernel& assumed) {
    StreamKernel result = plain;
    result.launch = assumed.launch;
    if (!knows_rows(kind)) result.element = result.row = {};
    if (!knows_rows(kind)) result.ragged = 1.0;
    return result;
}

/// Where PyTorch's kernels start from ours. Its norms, softmax and losses give each row a block of its own. All but the
/// norms, which have another kernel for odd rows, step to a row's first whole word, so that odd rows cost nothing. A
/// loss, of fp32, reads a row again, which a unit's L1 holds up to 128 KiB (docs/notebook, PyTorch's kernels); so does
/// a norm, of which 16 rows share the L1.
StreamKernel pytorch_start(StreamKind kind, const StreamKernel& ours) {
    constexpr Seconds own_block{3e-9};
    const bool loss = kind == StreamKind::Loss || kind == StreamKind::LossGradient;
    StreamKernel result = ours;
    if (is_norm(kind) || loss || kind == StreamKind::Softmax) result.row = own_block;
    if (!is_norm(kind)) result.ragged = 1.0;
    if (kind != StreamKind::Loss && kind != StreamKind::Norm) return result;
    result.once = kind == StreamKind::Loss ? 32768 : 6144;
    result.again = 1.3;
    return result;
}

/// Where torch.compile's kernels start from ours: its norms keep rows of up to 1024 elements, and of odd rows are two.
/// Its loss goes over a row about three times; from our bandwidth it would make up for them by a launch without end.
StreamKernel compiled_start(StreamKind kind, const StreamKernel& ours) {
    StreamKernel result = ours;
    if (kind == StreamKind::Loss) result.fraction /= 3.0;
    if (kind != StreamKind::Norm) return result;
    result.once = compiled_row;
    result.again = 1.3;
    result.ragged = 1.5;
    return result;
}

/// The kernels of one form that are like `kind`, and their samples.
StreamGroup alike(const Observations& seen, StreamForm form, StreamKind kind, Profile& profile) {
    StreamKernels& kernels = profile.stream.of(form);
    StreamGroup group;
    group.rows = knows_rows(kind);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (kin_of(static_cast<StreamKind>(i)) == kind) group.kernels.push_back(&kernels[i]);
    }
    group.seen = streams_where(seen, [&](const Stream& one) { return one.form == form && kin_of(one.kind) == kind; });
    group.rereads =
        form == StreamForm::Eager && kind == StreamKind::NormBackward && group.seen.size() >= least_of_reading;
    group.own_widths = form == StreamForm::Compiled || (form == StreamForm::Eager && kind == StreamKind::Norm);
    return group;
}

double mean_error(const StreamGroup& group, const Device& device, const Profile& profile) {
    double sum = 0.0;
    for (double error : log_errors(group.seen, device, profile)) sum += std::abs(error);
    return sum / static_cast<double>(group.seen.size());
}

/// The kernels of PyTorch's norms read a row twice, the second time from L1 while the rows of a unit fit into it: tries
/// how long such rows are, and keeps what is clearly better than none.
void fit_reading(const StreamGroup& group, const Device& device, Profile& profile) {
    constexpr double clearly = 0.85;
    const StreamKernel start = *group.kernels.front();
    fit_constants(group, device, profile);
    StreamKernel best = *group.kernels.front();
    double error = clearly * mean_error(group, device, profile);
    for (double once : {1024.0, 2048.0, 4096.0, 6144.0, 8192.0}) {
        for (StreamKernel* kernel : group.kernels) *kernel = start;
        group.kernels.front()->once = once;
        group.kernels.front()->again = 1.3;
        fit_constants(group, device, profile);
        const double now = mean_error(group, device, profile);
        if (now < error) best = *group.kernels.front();
        error = std::min(error, now);
    }
    for (StreamKernel* kernel : group.kernels) *kernel = best;
}

/// The kernels of a group: together from `start`, then each by its own samples, then what both leave over. Gives the
/// constants that they share.
StreamKernel fit_group(const StreamGroup& group, const StreamKernel& start, const Device& device, Profile& profile) {
    constexpr double drawn_to_kin = 0.5;
    for (StreamKernel* kernel : group.kernels) *kernel = start;
    if (group.rereads) {
        fit_reading(group, device, profile);
    } else {
        fit_constants(group, device, profile);
    }
    const StreamKernel shared = *group.kernels.front();
    for (StreamKernel* kernel : group.kernels) {
        const auto is_own = [&](const Stream& one) {
            return &profile.stream.of(one.form)[static_cast<std::size_t>(one.kind)] == kernel;
        };
        const StreamGroup own{{kernel},        streams_where(group.seen, is_own), group.rows, drawn_to_kin, false,
                              group.own_widths};
        if (group.kernels.size() > 1) fit_constants(own, device, profile);
        kernel->samples = static_cast<double>(own.seen.size());
    }
    fit_curve(group, device, profile);
    return shared;
}

/// Whether torch.compile leaves kernels of this kind to PyTorch.
bool is_left_to_pytorch(StreamKind kind) {
    return kind == StreamKind::Optimizer || kind == StreamKind::Embedding || kind == StreamKind::EmbeddingBackward;
}

/// Takes another form's kernels where a form has no samples.
void stand_in(const StreamGroup& known, const StreamGroup& unknown) {
    for (std::size_t i = 0; i < known.kernels.size(); ++i) {
        *unknown.kernels[i] = *known.kernels[i];
        unknown.kernels[i]->samples = 0.0;
    }
}

/// Kernels like `kind` of every form, PyTorch's from where ours are.
void fit_kind(const Observations& seen, StreamKind kind, const Device& device, Profile& profile) {
    const StreamGroup ours = alike(seen, StreamForm::Fused, kind, profile);
    const StreamKernel shared = fit_group(ours, start_of(kind, *ours.kernels.front()), device, profile);
    fit_trees(ours, kind, device, profile);
    for (const StreamForm form : {StreamForm::Eager, StreamForm::Compiled}) {
        const StreamGroup theirs = alike(seen, form, kind, profile);
        if (theirs.seen.empty()) {
            const bool left = form == StreamForm::Compiled && is_left_to_pytorch(kind);
            stand_in(left ? alike(seen, StreamForm::Eager, kind, profile) : ours, theirs);
            continue;
        }
        fit_group(theirs, form == StreamForm::Eager ? pytorch_start(kind, shared) : compiled_start(kind, shared),
                  device, profile);
        if (ours.seen.empty()) stand_in(theirs, ours);
    }
}

}  // namespace

void fit_streams(const Observations& seen, const Device& device, Profile& profile) {
    if (seen.size() < least_streams) return;
    for (std::size_t i = 0; i < stream_kind_count; ++i) {
        const auto kind = static_cast<StreamKind>(i);
        if (kin_of(kind) == kind) fit_kind(seen, kind, device, profile);
    }
    profile.stream_evidence = Evidence::Fitted;
}

}  // namespace tilewright
