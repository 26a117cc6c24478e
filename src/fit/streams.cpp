// Kernels that only stream memory: each form and kind from its own samples.
#include <algorithm>
#include <iterator>

#include "fit/parts.h"
#include "fit/solve.h"

namespace tilewright {
namespace {

constexpr std::size_t least_points = 20;  ///< fewer leave what is assumed
constexpr std::size_t least_of_kind = 3;  ///< fewer leave the kind's constants as they are

/// Kernels that know rows: one alone takes its length's time, and one of odd length more.
bool knows_rows(StreamKind kind) {
    return kind == StreamKind::Norm || kind == StreamKind::NormBackward || kind == StreamKind::Columns ||
           kind == StreamKind::Softmax || kind == StreamKind::Loss;
}

const Stream& stream_of(const Observation& one) { return std::get<Stream>(one.op.work); }

/// PyTorch's samples use the same tensors again and again: what fits into L2 is read from there, as in no model. Those
/// of a few rows are bound by other things.
bool is_cold(const Observation& one, const Device& device) {
    const Stream& stream = stream_of(one);
    return stream.form == StreamForm::Fused || stream.read > device.l2 * 0.75 || stream.rows <= 128;
}

Observations of_kind(const Observations& seen, StreamForm form, StreamKind kind, const Device& device) {
    Observations result;
    std::copy_if(seen.begin(), seen.end(), std::back_inserter(result), [&](const Observation* one) {
        return stream_of(*one).form == form && stream_of(*one).kind == kind && is_cold(*one, device);
    });
    return result;
}

/// Whether there were enough samples to learn the kernel from. A graph of one kernel holds the start of the graph too,
/// so that PyTorch's samples do not tell the launch.
bool fit_kernel(const Observations& seen, const Device& device, Profile& profile, StreamKernel& kernel) {
    if (seen.size() < least_of_kind) return false;
    const Stream& any = stream_of(*seen.front());
    std::vector<Parameter> parameters = {{&kernel.fraction, 1.0}};
    if (any.form == StreamForm::Fused) parameters.emplace_back(&kernel.launch.value);
    if (knows_rows(any.kind)) {
        kernel.element = {3e-10};
        const auto ragged = std::count_if(seen.begin(), seen.end(),
                                          [](const Observation* one) { return stream_of(*one).width % 8 != 0; });
        parameters.emplace_back(&kernel.element.value);
        if (ragged > 3) parameters.emplace_back(&kernel.ragged);
    }
    solve(parameters, [&] { return log_errors(seen, device, profile); });
    return true;
}

}  // namespace

void fit_streams(const Observations& seen, const Device& device, Profile& profile) {
    if (seen.size() < least_points) return;
    StreamProfile& stream = profile.stream;
    const auto learn = [&](StreamForm form, auto& kernels) {
        std::array<bool, stream_kind_count> learnt{};
        for (std::size_t kind = 0; kind < stream_kind_count; ++kind) {
            const Observations own = of_kind(seen, form, static_cast<StreamKind>(kind), device);
            learnt[kind] = fit_kernel(own, device, profile, kernels[kind]);
        }
        return learnt;
    };
    const auto fused = learn(StreamForm::Fused, stream.fused);
    stream.eager = stream.fused;
    for (StreamKernel& kernel : stream.eager) {
        kernel.launch = stream.fused[static_cast<std::size_t>(StreamKind::Pointwise)].launch;
    }
    const auto eager = learn(StreamForm::Eager, stream.eager);
    for (std::size_t kind = 0; kind < stream_kind_count; ++kind) {
        if (eager[kind] && !fused[kind]) stream.fused[kind] = stream.eager[kind];
    }
    profile.stream_evidence = Evidence::Fitted;
}

}  // namespace tilewright
