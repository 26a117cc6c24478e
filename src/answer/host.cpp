// What helps where the host bounds a step: more work for each launch, no launches, or fewer of them.
#include <algorithm>

#include "answer/priced.h"

namespace tilewright {
namespace {

/// The step of a changed workload, by tokens; none where it cannot run or does not fit.
std::optional<HostRemedy> tried(const Question& question, const Pricer& pricer, const Prediction& before,
                                const Workload& workload) {
    if (!validate(workload).empty() || !validate(question.shape, workload).empty()) return std::nullopt;
    if (memory(question.shape, workload, pricer).total > room(question.device)) return std::nullopt;
    const GraphCost step = price(lower(question.shape, workload), pricer);
    const Timeline timeline = schedule(step, question.shape, workload);
    const double rate = tokens_per_step(workload) / timeline.time.value;
    const double own = tokens_per_step(before.workload) / before.time.value;
    return HostRemedy{"", rate / own, timeline.idle / timeline.time};
}

/// The runtime that compiles what this one runs op by op.
std::optional<RuntimeId> compiled(RuntimeId runtime) {
    if (runtime == RuntimeId::HuggingFace) return RuntimeId::HuggingFaceCompiled;
    if (runtime == RuntimeId::PyTorch) return RuntimeId::PyTorchCompiled;
    return std::nullopt;
}

}  // namespace

std::vector<HostRemedy> answer::host_remedies(const Question& question, const Pricer& pricer,
                                              const Prediction& prediction) {
    std::vector<HostRemedy> found;
    const auto add = [&](const std::string& what, const Workload& workload) {
        std::optional<HostRemedy> remedy = tried(question, pricer, prediction, workload);
        if (!remedy || remedy->speedup <= 1.01) return false;
        remedy->what = what;
        found.push_back(*remedy);
        return true;
    };
    if (prediction.split) return found;
    const bool replays = runtime_of(question.workload.runtime).engine.has_value();
    if (!replays) found.push_back({"CUDA graphs", prediction.time / prediction.gpu_busy, 0.0});
    Workload changed = question.workload;
    if (const auto runtime = compiled(changed.runtime)) {
        changed.runtime = *runtime;
        add("--runtime " + std::string(name_of(*runtime)), changed);
    }
    changed = question.workload;
    for (int doubled = 0; doubled < 4;
         ++doubled) {  // the first batch at which the GPU is busy, or the largest that fits
        changed.batch *= 2;
        const std::size_t before = found.size();
        if (!add("--batch " + std::to_string(changed.batch), changed)) break;
        if (doubled > 0) found.erase(found.begin() + static_cast<std::ptrdiff_t>(before) - 1);
        if (found.back().idle_share <= 0.1) break;
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.speedup > b.speedup; });
    return found;
}

}  // namespace tilewright
