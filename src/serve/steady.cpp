// A group in closed form: as many requests in flight all the time. Of every request, its prompt is computed once and a
// token decoded in each of its steps, so that a batch of b takes b / osl prompts a step along.
#include <algorithm>
#include <cmath>

#include "tilewright/serve.h"

namespace tilewright {

SteadyState steady_state(const LoadShape& load, std::int64_t batch, const BatchLimits& limits, StepTable& table) {
    const double hits = std::floor(load.prefix_hits * static_cast<double>(load.isl));
    const double fresh = std::max(1.0, static_cast<double>(load.isl) - hits);
    const double gain = table.speculation().tokens_per_step();
    const double steps = std::max(1.0, static_cast<double>(load.osl - 1) / gain);
    const auto chunk = static_cast<double>(limits.chunk);
    // prompts that fill every step leave this many sequences to decode
    const double decoding = std::min(static_cast<double>(batch), chunk * steps / (steps + fresh));
    const double left = std::max(1.0, chunk - decoding);
    const double prompts = decoding / steps;  // of a step
    const double at_once = std::max(1.0, std::min(prompts, left / fresh));
    const double tokens = std::min(left, at_once * fresh);

    SteadyState state;
    state.batch = static_cast<double>(batch);
    state.with_prompts = std::min(1.0, prompts * fresh / tokens);
    EngineStep step;
    step.sequences = std::max<std::int64_t>(1, std::llround(decoding));
    step.context = static_cast<double>(load.isl) + 1 + static_cast<double>(load.osl - 1) / 2;
    state.step = table(step).time;
    step.prompts = std::max<std::int64_t>(1, std::llround(at_once));
    step.prompt_tokens = std::max(step.prompts, static_cast<std::int64_t>(std::llround(tokens)));
    step.prompt_cached = hits + std::max(0.0, fresh - tokens) / 2;  // of a prompt in several chunks, on average
    state.chunk_step = table(step).time;
    const Seconds mean = state.step * (1 - state.with_prompts) + state.chunk_step * state.with_prompts;
    state.tpot = mean / gain;
    state.ttft = state.chunk_step * std::ceil(fresh / left);
    const double whole = static_cast<double>(load.osl) / steps / gain;  // the first token comes with the prompt
    state.output_tok_s = decoding * gain * whole / mean.value;
    return state;
}

}  // namespace tilewright
