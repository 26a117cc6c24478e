// Kernels that only stream memory: each form and kind from its own samples, drawn weakly towards what is known without
// them: a plain kernel for ours, ours for PyTorch's.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "fit/parts.h"
#include "fit/solve.h"

namespace tilewright {
namespace {

constexpr std::size_t least_points = 20;  ///< fewer leave what is assumed
constexpr std::size_t least_of_kind = 3;  ///< fewer leave the kind's constants as they are
constexpr double drawn = 0.05;            ///< of the logarithm of a constant's move, what counts as an error

/// Where the constants of a kernel start that no sample tells of yet: about the middle of the kinds on an H200.
constexpr StreamKernel plain{
    .fraction = 0.9, .fill = {7e-7}, .element = {1.5e-10}, .row = {3e-11}, .exposed = 0.5, .ragged = 2.0};

/// PyTorch's reductions step to the next whole word first, so odd rows cost them less than ours.
constexpr double pytorch_ragged = 1.2;

/// Kernels that know rows: one alone takes its length's time, and one of odd length more.
bool knows_rows(StreamKind kind) {
    return kind != StreamKind::Pointwise && kind != StreamKind::Activation && kind != StreamKind::Optimizer;
}

const Stream& stream_of(const Observation& one) { return std::get<Stream>(one.op.work); }

Observations of_kind(const Observations& seen, StreamForm form, StreamKind kind) {
    Observations result;
    std::copy_if(seen.begin(), seen.end(), std::back_inserter(result),
                 [&](const Observation* one) { return stream_of(*one).form == form && stream_of(*one).kind == kind; });
    return result;
}

/// The constants that samples of a kind can tell.
std::vector<Parameter> parameters_of(StreamKind kind, StreamKernel& kernel) {
    std::vector<Parameter> result = {{&kernel.fraction, 1.0}, &kernel.launch.value, &kernel.fill.value};
    if (!knows_rows(kind)) return result;
    result.insert(result.end(), {&kernel.element.value, &kernel.row.value, {&kernel.exposed, 1.0}, &kernel.ragged});
    return result;
}

/// Whether there were enough samples to learn the kernel from.
bool fit_kernel(const Observations& seen, const Device& device, Profile& profile, StreamKernel& kernel) {
    if (seen.size() < least_of_kind) return false;
    const std::vector<Parameter> parameters = parameters_of(stream_of(*seen.front()).kind, kernel);
    std::vector<double> start;
    for (const Parameter& parameter : parameters) start.push_back(*parameter.value);
    solve(parameters, [&] {
        std::vector<double> errors = log_errors(seen, device, profile);
        for (std::size_t i = 0; i < start.size(); ++i) {
            errors.push_back(drawn * std::log(*parameters[i].value / start[i]));
        }
        return errors;
    });
    kernel.ragged = std::max(1.0, kernel.ragged);
    kernel.samples = static_cast<double>(seen.size());
    return true;
}

/// A kind's start with what it does not know left out.
StreamKernel start_of(StreamKind kind, const StreamKernel& assumed) {
    StreamKernel result = plain;
    result.launch = assumed.launch;
    if (!knows_rows(kind)) result.element = result.row = {};
    if (!knows_rows(kind)) result.ragged = 1.0;
    return result;
}

}  // namespace

void fit_streams(const Observations& seen, const Device& device, Profile& profile) {
    if (seen.size() < least_points) return;
    StreamProfile& stream = profile.stream;
    for (std::size_t i = 0; i < stream_kind_count; ++i) {
        const auto kind = static_cast<StreamKind>(i);
        stream.fused[i] = start_of(kind, stream.fused[i]);
        const bool own = fit_kernel(of_kind(seen, StreamForm::Fused, kind), device, profile, stream.fused[i]);
        for (const auto& [form, kernels] :
             {std::pair{StreamForm::Eager, &stream.eager}, {StreamForm::Compiled, &stream.compiled}}) {
            StreamKernel& kernel = (*kernels)[i];
            kernel = stream.fused[i];
            kernel.samples = 0.0;
            kernel.ragged = std::min(pytorch_ragged, kernel.ragged);
            if (!fit_kernel(of_kind(seen, form, kind), device, profile, kernel) || own) continue;
            stream.fused[i] = kernel;
            stream.fused[i].samples = 0.0;
        }
    }
    profile.stream_evidence = Evidence::Fitted;
}

}  // namespace tilewright
