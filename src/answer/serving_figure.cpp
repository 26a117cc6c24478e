// A published figure of serving, predicted: a batch, a load or everything at once is walked as the planner walks it,
// and the metric asked for is read off.
#include <algorithm>
#include <cmath>

#include "tilewright/served.h"

namespace tilewright {
namespace {

/// Requests of an offline run by the tokens of one: as TensorRT-LLM's performance overview states them.
std::int64_t offline_requests(std::int64_t tokens) {
    if (tokens <= 256) return 30000;
    if (tokens <= 3000) return 3000;
    return tokens <= 8192 ? 1500 : 1000;
}

constexpr std::int64_t online_requests = 500;  ///< of a run at a given rate, as the same engine's benchmark sends

class Figuring {
public:
    explicit Figuring(const ServingCase& asked)
        : asked_(asked),
          work_(asked.question.workload),
          pricer_(asked.question.pricer()),
          engine_(runtime_of(work_.runtime).engine.value_or(Engine{})),
          table_(asked.question.shape, work_, pricer_) {
        const Parallelism& parallel = work_.parallel;
        groups_ = parallel.dp * parallel.pp;
        gpus_ = static_cast<double>(parallel.tp * groups_);
        limits_ = limits();
        engine_.chunk = limits_.chunk;
        cache_ = cache_room(asked.question.shape, work_, engine_, pricer_);
        cache_.bytes = std::max(cache_.bytes / static_cast<double>(parallel.pp), cache_.of(asked.isl + asked.osl));
    }

    ServingFigure run() {
        switch (asked_.metric) {
            case ServingMetric::DecodeTokSGpu: return decoding();
            case ServingMetric::PrefillTokSGpu: return prefilling();
            case ServingMetric::ItlMs:
                if (asked_.osl == 1) return one_token();
                break;
            default: break;
        }
        return figure_of(walk());
    }

    /// With what published runs differ by beside their kernels.
    ServingFigure widened(ServingFigure figure) const {
        const double own = std::log(engine_.spread);
        const auto beside = [&](double kernels) { return std::exp(std::hypot(std::log(kernels), own)); };
        figure.high = figure.value * beside(figure.high / figure.value);
        figure.low = figure.value / beside(figure.value / figure.low);
        return figure;
    }

private:
    /// Requests that a group works on at once.
    std::int64_t at_once() const {
        if (asked_.batch) return std::max<std::int64_t>(1, ceil_div(*asked_.batch, groups_));
        const std::int64_t fit = std::max<std::int64_t>(1, cache_.requests(asked_.isl + asked_.osl));
        return std::min({limits_.max_batch, limits_.chunk, fit});
    }

    /// Of a group: as the row says, as the engine's benchmark sizes them for what comes at once, or the engine's usual.
    BatchLimits limits() const {
        BatchLimits limits{std::max<std::int64_t>(1, engine_.max_batch / work_.parallel.pp), engine_.chunk};
        if (engine_.sizes_steps && !asked_.batch && !asked_.rate) {
            LoadShape load;
            load.isl = asked_.isl;
            load.osl = asked_.osl;
            limits = bench_limits(asked_.question.shape, work_, asked_.question.device, load);
        }
        return {asked_.max_batch.value_or(limits.max_batch), asked_.chunk.value_or(limits.chunk), limits.whole};
    }

    Served walk() {
        LoadShape load;
        load.isl = asked_.isl;
        load.osl = asked_.metric == ServingMetric::TtftMs ? 1 : asked_.osl;
        load.rate = asked_.rate.value_or(HUGE_VAL);
        load.requests = asked_.batch.value_or(offline_requests(asked_.isl + asked_.osl));
        load.duration = {static_cast<double>(online_requests) / load.rate};
        Deployment deployment{groups_, {at_once(), std::max(limits_.chunk, at_once()), limits_.whole}, cache_, 95};
        if (asked_.batch) deployment.cache.bytes = {HUGE_VAL};  // it was run
        return simulate(make_load(load), deployment, table_);
    }

    ServingFigure figure_of(const Served& served) const {
        const auto tokens = static_cast<double>(served.output_tokens);
        switch (asked_.metric) {
            case ServingMetric::OutputTokSGpu: return rate_of(served, tokens / gpus_);
            case ServingMetric::TotalTokS: return rate_of(served, tokens + static_cast<double>(served.input_tokens));
            case ServingMetric::TtftMs: return time_of(served, served.ttft_s.mean * 1e3);
            case ServingMetric::ItlMs: return time_of(served, served.tpot_s.mean * 1e3);
            case ServingMetric::LatencyS: return time_of(served, served.makespan.value);
            default: return rate_of(served, tokens);
        }
    }
    ServingFigure rate_of(const Served& served, double tokens) const {
        const double rate = tokens / served.makespan.value;
        return {rate, rate / served.high, rate / served.low, table_.evidence()};
    }
    ServingFigure time_of(const Served& served, double time) const {
        return {time, time * served.low, time * served.high, table_.evidence()};
    }

    ServingFigure decoding() {
        EngineStep step;
        step.sequences = at_once();
        step.context = static_cast<double>(asked_.isl) + static_cast<double>(asked_.osl) / 2;
        return rate_of_step(step, static_cast<double>(step.sequences));
    }
    ServingFigure prefilling() {
        EngineStep step;
        step.prompts = asked_.batch ? at_once() : std::max<std::int64_t>(1, engine_.chunk / asked_.isl);
        step.prompt_tokens = step.prompts * asked_.isl;
        return rate_of_step(step, static_cast<double>(step.prompt_tokens));
    }
    ServingFigure rate_of_step(const EngineStep& step, double tokens) {
        const EngineStepTime time = table_(step);
        const double each = tokens * static_cast<double>(groups_) / gpus_;
        return {each / time.time.value, each / time.high.value, each / time.low.value, table_.evidence()};
    }
    ServingFigure one_token() {
        EngineStep step;
        step.sequences = at_once();
        step.context = static_cast<double>(asked_.isl);
        const EngineStepTime time = table_(step);
        return {time.time.value * 1e3, time.low.value * 1e3, time.high.value * 1e3, table_.evidence()};
    }

    const ServingCase& asked_;
    const Workload& work_;
    Pricer pricer_;
    Engine engine_;
    StepTable table_;
    std::int64_t groups_ = 1;
    double gpus_ = 1;
    CacheRoom cache_;
    BatchLimits limits_;
};

ServingFigure figured(const ServingCase& asked) {
    Figuring figuring(asked);
    return figuring.widened(figuring.run());
}

/// Engines call it tensor parallel too when only the experts are shared and every GPU has requests of its own
/// (TensorRT-LLM's attention DP, SGLang's DP attention). Empty where the engine cannot, a row says how attention is
/// split, or a request's time is asked.
std::optional<ServingCase> with_own_requests(const ServingCase& asked) {
    const Parallelism& split = asked.question.workload.parallel;
    const bool throughput = asked.metric == ServingMetric::OutputTokS || asked.metric == ServingMetric::OutputTokSGpu ||
                            asked.metric == ServingMetric::TotalTokS;
    if (!asked.question.shape.experts || !throughput || asked.batch || asked.rate) return std::nullopt;
    if (split.tp == 1 || split.dp > 1 || split.ep > 1) return std::nullopt;
    const std::optional<Engine>& engine = runtime_of(asked.question.workload.runtime).engine;
    if (!engine || !engine->own_requests) return std::nullopt;
    ServingCase other = asked;
    Parallelism& own = other.question.workload.parallel;
    own.dp = own.ep = split.tp;
    own.tp = 1;
    if (!validate(other.question.shape, other.question.workload).empty()) return std::nullopt;
    return other;
}

}  // namespace

std::optional<RuntimeId> engine_in_words(std::string words) {
    struct Known {
        std::string_view words, runtime;
    };
    static constexpr Known known[] = {{"triton", "tensorrt-llm-triton"},
                                      {"tensorrt-llm 0.5", "tensorrt-llm-0.5"},
                                      {"tensorrt-llm 0.7", "tensorrt-llm-0.9"},
                                      {"tensorrt-llm 0.9", "tensorrt-llm-0.9"},
                                      {"tensorrt-llm 0.10", "tensorrt-llm-0.12"},
                                      {"tensorrt-llm 0.11", "tensorrt-llm-0.12"},
                                      {"tensorrt-llm 0.12", "tensorrt-llm-0.12"},
                                      {"tensorrt-llm 0.19", "tensorrt-llm"},
                                      {"tensorrt-llm 0.2", "tensorrt-llm"},
                                      {"tensorrt-llm 0.", "tensorrt-llm-0.17"},
                                      {"tensorrt", "tensorrt-llm"},
                                      {"trtllm", "tensorrt-llm"},
                                      {"sglang 0.4", "sglang-0.4"},
                                      {"sglang", "sglang"},
                                      {"vllm 0.5", "vllm-v0"},
                                      {"vllm 0.6", "vllm-v0"},
                                      {"vllm", "vllm"},
                                      {"gpt-fast", "gpt-fast"},
                                      {"pytorch", "gpt-fast"}};
    for (char& c : words) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    for (const Known& one : known) {  // the first that fits
        if (words.find(one.words) != std::string::npos) return find_runtime(one.runtime);
    }
    return std::nullopt;
}

void deploy(Question& question) {
    Workload& work = question.workload;
    work = as_run(deployed(question.shape, as_published(question.shape, work)), question.device);
}

ServingFigure predict_serving(const ServingCase& asked) {
    const ServingFigure figure = figured(asked);
    const std::optional<ServingCase> other = with_own_requests(asked);
    if (!other) return figure;
    const ServingFigure most = figured(*other);
    return most.value > figure.value ? most : figure;
}

}  // namespace tilewright
