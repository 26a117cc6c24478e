// Fused attention, one back end at a time: first all constants at the tiles that are assumed, then the tiles of each
// head size and pass by trying them, then all constants again.
#include <cmath>

#include "fit/solve.h"
#include "fit/steps.h"

namespace tilewright {
namespace {

constexpr std::size_t least_points = 20;     ///< of a back end; fewer leave what is assumed
constexpr std::size_t least_of_kernel = 12;  ///< to try its tiles
constexpr std::size_t most_of_kernel = 400;  ///< and most: more change nothing and take longer
constexpr std::size_t most_points = 2500;    ///< of a back end
constexpr double telling = 0.05;             ///< of the error, what another habit of decoding must save to be taken

/// What a sample of a back end was taken of.
enum class Kind { Forward, Backward, Decode };

Kind kind_of(const Attention& attention) {
    if (attention.pass == AttentionPass::Backward) return Kind::Backward;
    return attention.q_len == 1 ? Kind::Decode : Kind::Forward;
}

const Attention& attention_of(const Observation* one) { return std::get<Attention>(one->op.work); }

/// Those to keep, every so many-th when there are more than `most`.
template <class Keep>
Observations chosen(const Observations& seen, std::size_t most, Keep keep) {
    Observations kept, result;
    for (const Observation* one : seen) {
        if (keep(attention_of(one))) kept.push_back(one);
    }
    const std::size_t stride = kept.size() / most + 1;
    for (std::size_t i = 0; i < kept.size(); i += stride) result.push_back(kept[i]);
    return result;
}

std::vector<Parameter> parameters_of(WalkKernel& kernel) {
    return {{&kernel.fraction, 1.0}, &kernel.block.value, &kernel.masked,      &kernel.unmasked,
            &kernel.ragged,          &kernel.narrow_walk, &kernel.narrow_block};
}

std::vector<Parameter> parameters_of(DecodeKernel& kernel) {
    return {&kernel.block.value, &kernel.step.value, {&kernel.memory, 1.0}, &kernel.narrow};
}

void append(std::vector<Parameter>& all, const std::vector<Parameter>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

/// What the kernels of all head sizes share.
std::vector<Parameter> shared_parameters(AttentionProfile& kernels) {
    std::vector<Parameter> result = {
        &kernels.launch.value,   &kernels.backward_launch.value, &kernels.decode_launch.value,
        &kernels.grouped.value,  &kernels.packed.value,          &kernels.split.value,
        {&kernels.exposed, 1.0}, {&kernels.passes, 1.0},         {&kernels.cache, 2.0}};
    if (kernels.part.value > 0.0) result.emplace_back(&kernels.part.value);
    if (kernels.brief.step.value > 0.0) append(result, parameters_of(kernels.brief));
    return result;
}

std::vector<Parameter> parameters_of(AttentionProfile& kernels) {
    std::vector<Parameter> result = shared_parameters(kernels);
    for (HeadKernel& kernel : kernels.kernels) {
        append(result, parameters_of(kernel.forward));
        append(result, parameters_of(kernel.backward));
        append(result, parameters_of(kernel.decode));
    }
    return result;
}

/// Everything but tiles and rate.
void copy_habits(const WalkKernel& from, WalkKernel& to) {
    const WalkKernel own = to;
    to = from;
    to.own = own.own;
    to.step = own.step;
    to.fraction = own.fraction;
}

/// A back end's samples, and the profile that they shape.
struct Task {
    const Observations& seen;
    const Device& device;
    Profile& profile;
    AttentionProfile& kernels;

    Residuals residuals(const Observations& some) const {
        return [this, &some] { return log_errors(some, device, profile); };
    }

    double loss(const Observations& some) const {
        double sum = 0.0;
        for (double error : log_errors(some, device, profile)) sum += std::abs(error);
        return sum;
    }

    /// Samples whose head size is padded up to this kernel's.
    Observations of(const HeadKernel& kernel, Kind kind) const {
        std::int64_t below = 0;
        for (const HeadKernel& other : kernels.kernels) {
            if (other.head_dim < kernel.head_dim) below = other.head_dim;
        }
        return chosen(seen, most_of_kernel, [&](const Attention& a) {
            return kind_of(a) == kind && below < a.head_dim && a.head_dim <= kernel.head_dim;
        });
    }

    /// Takes the best of some forms of a kernel, each with its constants fitted; a later one only where it saves some
    /// share of the error.
    template <class Kernel>
    void best_of(Kernel& kernel, const std::vector<Kernel>& forms, const Observations& own, double share = 0.0) const {
        if (own.size() < least_of_kernel) return;
        Kernel best = kernel;
        double least = HUGE_VAL;
        for (const Kernel& form : forms) {
            kernel = form;
            solve(parameters_of(kernel), residuals(own));
            const double off = loss(own);
            if (off >= least * (1.0 - share)) continue;
            best = kernel;
            least = off;
        }
        kernel = best;
    }
};

/// Few samples for many head sizes: each has a rate of its own, all else they share with the first.
void fit_few(const Task& task) {
    std::vector<HeadKernel>& heads = task.kernels.kernels;
    std::vector<Parameter> parameters = shared_parameters(task.kernels);
    for (WalkKernel* kernel : {&heads.front().forward, &heads.front().backward}) {
        append(parameters, {{&kernel->fraction, 1.0},
                            &kernel->block.value,
                            &kernel->masked,
                            &kernel->unmasked,
                            &kernel->ragged,
                            &kernel->narrow_walk});
    }
    for (std::size_t i = 1; i < heads.size(); ++i) {
        append(parameters, {{&heads[i].forward.fraction, 1.0}, {&heads[i].backward.fraction, 1.0}});
    }
    const auto share = [&] {
        for (HeadKernel& head : heads) {
            copy_habits(heads.front().forward, head.forward);
            copy_habits(heads.front().backward, head.backward);
        }
    };
    solve(parameters, [&] {
        share();
        return log_errors(task.seen, task.device, task.profile);
    });
    share();
}

std::vector<WalkKernel> tilings(const WalkKernel& kernel) {
    std::vector<WalkKernel> result;
    for (std::int64_t own : {64, 128, 192, 256}) {
        for (std::int64_t step : {64, 128, 256}) {
            result.push_back(kernel);
            result.back().own = own;
            result.back().step = step;
        }
    }
    return result;
}

std::vector<DecodeKernel> residences(const DecodeKernel& kernel) {
    std::vector<DecodeKernel> result(3, kernel);
    for (std::size_t i = 0; i < result.size(); ++i) result[i].resident = static_cast<std::int64_t>(i) + 1;
    return result;
}

/// How the library splits the keys of single queries.
std::vector<AttentionProfile> decode_habits(AttentionProfile kernels) {
    std::vector<AttentionProfile> result;
    kernels.brief = {};
    for (std::int64_t keys : {128, 512}) {
        for (std::int64_t group : {1, 2}) {
            result.push_back(kernels);
            result.back().split_keys = keys;
            result.back().split_group = group;
        }
    }
    return result;
}

/// Whether the library splits the keys of many queries.
std::vector<AttentionProfile> forward_habits(const AttentionProfile& kernels) {
    std::vector<AttentionProfile> result(2, kernels);
    result[0].split_below = 0.0;
    return result;
}

/// Samples that do not name their kernel (serving engines) do not tell its habits either: the best are taken. Of those
/// of decoding the plainest stays where others are hardly better: steps of no real length make up for keys that are not
/// split, and heads that no sample has would be priced by both.
void fit_habits(const Task& task) {
    const auto of_kind = [&](Kind kind) {
        return chosen(task.seen, most_points / 3, [&](const Attention& a) { return kind_of(a) == kind; });
    };
    task.best_of(task.kernels, decode_habits(task.kernels), of_kind(Kind::Decode), telling);
    task.best_of(task.kernels, forward_habits(task.kernels), of_kind(Kind::Forward));
}

void fit_many(const Task& task) {
    std::vector<HeadKernel>& heads = task.kernels.kernels;
    const std::vector<HeadKernel> assumed = heads;
    solve(parameters_of(task.kernels), task.residuals(task.seen));
    if (attention_of(task.seen.front()).backend == AttentionBackend::Auto) fit_habits(task);
    for (std::size_t i = 0; i < heads.size(); ++i) {
        task.best_of(heads[i].forward, tilings(assumed[i].forward), task.of(heads[i], Kind::Forward));
        task.best_of(heads[i].backward, tilings(assumed[i].backward), task.of(heads[i], Kind::Backward));
        task.best_of(heads[i].decode, residences(assumed[i].decode), task.of(heads[i], Kind::Decode));
    }
    solve(parameters_of(task.kernels), task.residuals(task.seen));
}

/// Where only forward calls were timed, backward ones are off from what was assumed as much as those.
void follow_forward(const Task& task, const std::vector<HeadKernel>& before) {
    for (std::size_t i = 0; i < before.size(); ++i) {
        HeadKernel& now = task.kernels.kernels[i];
        if (!task.of(now, Kind::Backward).empty() || task.of(now, Kind::Forward).size() < least_of_kernel) continue;
        now.backward.fraction =
            std::min(1.0, before[i].backward.fraction * now.forward.fraction / before[i].forward.fraction);
    }
}

/// Calls of a back end; those of cuDNN are the other's where the profile has no kernels of its own for them.
Observations of_backend(AttentionBackend backend, const Observations& seen, const Device& device,
                        const Profile& profile) {
    return chosen(seen, most_points, [&](const Attention& a) {
        const AttentionBackend ran = resolve(a.backend, device, a.head_dim);
        return ran == backend || (ran == AttentionBackend::Cudnn && &profile.kernels(ran) == &profile.kernels(backend));
    });
}

void fit_backend(AttentionBackend backend, const Observations& seen, const Device& device, Profile& profile) {
    AttentionProfile& kernels = backend == AttentionBackend::Cudnn ? profile.cudnn : profile.flash2;
    const Observations own = of_backend(backend, seen, device, profile);
    if (own.size() < least_points || kernels.kernels.empty()) return;
    profile.attention_evidence = Evidence::Fitted;
    kernels.cache = 0.1;
    const std::vector<HeadKernel> before = kernels.kernels;
    const Task task{own, device, profile, kernels};
    own.size() < least_points* kernels.kernels.size() ? fit_few(task) : fit_many(task);
    if (profile.carried_from.empty()) follow_forward(task, before);
}

}  // namespace

void refit_attention(const Observations& seen, const Device& device, Profile& profile) {
    for (const AttentionBackend backend : {AttentionBackend::Cudnn, AttentionBackend::Flash2}) {
        AttentionProfile& kernels = backend == AttentionBackend::Cudnn ? profile.cudnn : profile.flash2;
        const Observations own = of_backend(backend, seen, device, profile);
        if (own.size() < least_points || kernels.kernels.empty()) continue;
        solve(parameters_of(kernels), [&] { return log_errors(own, device, profile); });
    }
}

void fit_attention(const Observations& seen, const Device& device, Profile& profile) {
    fit_backend(AttentionBackend::Cudnn, seen, device, profile);
    fit_backend(AttentionBackend::Flash2, seen, device, profile);
}

}  // namespace tilewright
