// A captured graph priced: each distinct op becomes its kernels once, the calls are issued in their order.
#include "tilewright/captured.h"

#include <algorithm>
#include <map>

#include "tilewright/host.h"
#include "tilewright/ops.h"

namespace tilewright {
namespace {

constexpr Bytes workspaces{64.0 * 1024 * 1024};  ///< two of the matrix library (docs/notebook/2026-11-16-memory.md)
constexpr Seconds read_back{15e-6};              ///< of a value, beside waiting for it (bench/measured/host.jsonl)
constexpr double idle_share = 0.1;               ///< from which the host bounds a step

/// A path with its indices replaced: layers are alike.
std::string pattern_of(const std::string& path) {
    std::string out;
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t dot = std::min(path.find('.', at), path.size());
        const std::string part = path.substr(at, dot - at);
        const bool number = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
        out += (at == 0 ? "" : ".") + (number ? "*" : part);
        at = dot + 1;
    }
    return out;
}

/// An op in one pass, with the kernels that it is launched as on the device.
struct Distinct {
    std::size_t first = 0, count = 0;  ///< of its kernels in the graph
    HostWork host = HostWork::Launch;
    std::int64_t parameters = 0;  ///< tensors that an optimizer walks over
    bool by_bytes = false;
};

/// The step as it is priced and issued.
class Priced {
public:
    explicit Priced(const CaptureQuestion& question)
        : question_(question), capture_(*question.capture), pricer_(question.device, question.profile, question.clock) {
        OpGraph graph;
        for (const CapturedCall& call : capture_.calls) {
            const auto [entry, fresh] = distinct_.try_emplace({call.op, call.pass});
            if (fresh) entry->second = lowered(call, graph);
            const Distinct& op = entry->second;
            for (std::size_t i = 0; i < op.count; ++i) ++graph.ops[op.first + i].count;
        }
        cost_ = price(graph, pricer_);
    }

    const GraphCost& cost() const { return cost_; }
    const Pricer& pricer() const { return pricer_; }
    const Distinct& of(const CapturedCall& call) const { return distinct_.at({call.op, call.pass}); }

    Seconds time_of(const Distinct& op) const {
        Seconds time;
        for (std::size_t i = 0; i < op.count; ++i) time += cost_.ops[op.first + i].cost.time;
        return time;
    }

    /// With both clocks so many times as long.
    Timeline timeline(Pacing pacing) const {
        std::vector<Launch> launches;
        launches.reserve(1 + capture_.calls.size());
        launches.push_back({beside_ops() * pacing.host, {}});
        for (const CapturedCall& call : capture_.calls) {
            const Distinct& op = of(call);
            launches.push_back({host_time(op, call.pass) * pacing.host, {}, op.host == HostWork::Wait});
            for (std::size_t i = 0; i < op.count; ++i) {
                const Seconds gpu = cost_.ops[op.first + i].cost.time * pacing.gpu;
                if (i == 0) launches.back().gpu = gpu;
                if (i > 0) launches.push_back({{}, gpu});
            }
        }
        return schedule_steady(std::vector<Stretch>{{launches, 1}});
    }

private:
    Distinct lowered(const CapturedCall& call, OpGraph& graph) const {
        const CapturedOp& recorded = capture_.ops[call.op];
        CapturedWork work = lower(recorded, capture_);
        Distinct op{graph.ops.size(), 0, work.host, 0, work.by_bytes};
        for (Op& kernel : work.kernels) {
            kernel.pass = call.pass;
            specialize(kernel, pricer_, graph.ops);
        }
        op.count = graph.ops.size() - op.first;
        for (std::size_t i = 0; i < op.count; ++i) graph.ops[op.first + i].count = 0;
        if (work.host == HostWork::Optimizer && !recorded.arguments.empty()) {
            const auto* list = std::get_if<std::vector<CapturedValue>>(&recorded.arguments.front().data);
            op.parameters = list == nullptr ? 1 : static_cast<std::int64_t>(list->size());
        }
        return op;
    }

    Seconds beside_ops() const {
        const HostCosts& host = question_.host;
        if (capture_.phase == "train") return host.step;
        return capture_.phase == "decode" ? host.token : host.prompt;
    }

    Seconds host_time(const Distinct& op, Pass pass) const {
        const HostCosts& host = question_.host;
        const bool backward = pass == Pass::Backward;
        switch (op.host) {
            case HostWork::Nothing: return {};
            case HostWork::View: return backward ? host.backward_view : host.forward_view;
            case HostWork::Launch: return backward ? host.backward : host.forward;
            case HostWork::Optimizer: return host.update_tensor * static_cast<double>(op.parameters);
            case HostWork::Wait: return read_back;
        }
        return {};
    }

    const CaptureQuestion& question_;
    const Capture& capture_;
    Pricer pricer_;
    std::map<std::pair<std::size_t, Pass>, Distinct> distinct_;
    GraphCost cost_;
};

std::vector<CapturedModule> by_module(const Capture& capture, const Priced& priced) {
    std::vector<std::size_t> pattern_of_module;
    std::map<std::string, std::size_t> known;
    std::vector<CapturedModule> modules;
    for (const std::string& path : capture.modules) {
        const auto [entry, fresh] = known.try_emplace(pattern_of(path), modules.size());
        if (fresh) modules.push_back({entry->first, {}, {}, 0});
        pattern_of_module.push_back(entry->second);
    }
    for (const CapturedCall& call : capture.calls) {
        CapturedModule& module = modules[pattern_of_module[call.module]];
        (call.pass == Pass::Forward ? module.forward : module.backward) += priced.time_of(priced.of(call));
        ++module.calls;
    }
    const auto time = [](const CapturedModule& module) { return module.forward + module.backward; };
    std::erase_if(modules, [&](const CapturedModule& module) { return time(module).value <= 0; });
    std::stable_sort(modules.begin(), modules.end(), [&](const auto& a, const auto& b) { return time(a) > time(b); });
    return modules;
}

void list_kernels(const Priced& priced, CapturePrediction& prediction) {
    std::vector<bool> by_bytes(priced.cost().ops.size());
    for (const CapturedCall& call : prediction.capture->calls) {
        const Distinct& op = priced.of(call);
        for (std::size_t i = 0; i < op.count; ++i) by_bytes[op.first + i] = op.by_bytes;
        prediction.views += op.host == HostWork::View ? 1 : 0;
    }
    for (std::size_t i = 0; i < by_bytes.size(); ++i) {
        const PricedOp& kernel = priced.cost().ops[i];
        prediction.kernels.push_back({kernel, by_bytes[i]});
        if (!by_bytes[i]) continue;
        prediction.by_bytes_time += kernel.total;
        const std::string name(kernel.op.name);
        auto& names = prediction.by_bytes;
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    std::stable_sort(prediction.kernels.begin(), prediction.kernels.end(),
                     [](const auto& a, const auto& b) { return a.priced.total > b.priced.total; });
}

Workload workload_of(const Capture& capture) {
    const Phase phase = capture.phase == "train"    ? Phase::Train
                        : capture.phase == "decode" ? Phase::Decode
                                                    : Phase::Prefill;
    Workload workload = in_phase({}, phase);
    workload.batch = capture.batch;
    workload.seq = capture.seq;
    workload.runtime = find_runtime("huggingface").value_or(workload.runtime);  // the logits of every token
    return workload;
}

/// The precision in which most of the arithmetic is done.
Precision main_precision(const GraphCost& cost) {
    std::array<double, precision_count> work{};
    for (const PricedOp& priced : cost.ops) {
        const auto* gemm = std::get_if<Gemm>(&priced.op.work);
        if (gemm != nullptr)
            work[static_cast<std::size_t>(gemm->precision)] +=
                flops(priced.op).value * static_cast<double>(priced.op.count);
    }
    return static_cast<Precision>(std::max_element(work.begin(), work.end()) - work.begin());
}

}  // namespace

CapturePrediction predict(const CaptureQuestion& question) {
    const Capture& capture = *question.capture;
    const Priced priced(question);
    const GraphCost& cost = priced.cost();
    CapturePrediction prediction;
    prediction.capture = question.capture;
    prediction.device = question.device;
    prediction.profile_source = question.profile.source;
    prediction.evidence = cost.sum.evidence;
    prediction.used = question.used;
    prediction.host_scale = question.host_scale;
    prediction.launches = cost.launches;
    list_kernels(priced, prediction);
    prediction.modules = by_module(capture, priced);
    const Interval within = interval_of(cost.sum, 1.0);
    const double host = question.host_scale, spread = question.host.spread;
    prediction.timeline = priced.timeline({1.0, host});
    prediction.low = priced.timeline({within.low, host / spread}).time;
    prediction.high = priced.timeline({within.high, host * spread}).time;
    const Seconds time = prediction.timeline.time;
    prediction.host_bound = prediction.timeline.idle > time * idle_share;
    const auto sequences = static_cast<double>(capture.batch);
    prediction.tokens_per_step = capture.phase == "decode" ? sequences : sequences * static_cast<double>(capture.seq);
    prediction.hardware_flops = cost.flops;
    prediction.flops = capture.shape ? model_flops(*capture.shape, workload_of(capture)) : cost.flops;
    if (time.value > 0) {
        const FlopsPerSecond peak = priced.pricer().peak(main_precision(cost));
        prediction.tokens_per_s = prediction.tokens_per_step / time.value;
        prediction.mfu = (prediction.flops / time) / peak;
        prediction.hfu = (prediction.hardware_flops / time) / peak;
    }
    Memory& memory = prediction.memory;
    memory.weights = std::min(capture.weights, capture.peak);
    memory.activations = capture.peak - memory.weights;
    memory.workspace = workspaces;
    add_up(memory, {});
    prediction.fits = memory.total <= room(question.device);
    return prediction;
}

}  // namespace tilewright
