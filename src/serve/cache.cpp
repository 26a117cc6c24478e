// What an engine leaves for keys and values, and how many requests that holds.
#include <algorithm>
#include <cmath>

#include "tilewright/serve.h"

namespace tilewright {

CacheRoom cache_room(const Shape& shape, const Workload& layout, const Engine& engine, const Pricer& pricer) {
    constexpr std::int64_t long_context = 1 << 20;
    const auto kept = [&](std::int64_t tokens) {
        Workload work = layout;
        work.phase = Phase::Decode;
        work.batch = 1;
        work.seq = tokens;
        return memory(shape, work, pricer).kv_cache.value;
    };
    Workload prompt = layout;
    prompt.phase = Phase::Prefill;
    prompt.batch = 1;
    prompt.seq = engine.chunk;
    const Memory beside = memory(shape, prompt, pricer);
    const Bytes fixed = beside.total - beside.kv_cache;
    CacheRoom room{(usable(pricer.device()) * engine.memory_share - fixed) * engine.free_share};
    room.window = std::min(shape.window, long_context);
    room.block = engine.block;
    const auto window = static_cast<double>(room.window), length = static_cast<double>(long_context);
    const double one = kept(1);
    room.per_token = window > 0 ? (kept(long_context) - one * window) / (length - window) : one;
    room.per_token = std::max(0.0, room.per_token);
    room.per_windowed = one - room.per_token;
    return room;
}

Workload deployed(const Shape& shape, Workload layout) {
    const std::optional<Engine>& engine = runtime_of(layout.runtime).engine;
    if (!shape.experts || !engine) return layout;
    const std::int64_t ranks = layout.parallel.ep, over = shape.experts->count % ranks;
    const bool turns = engine->turns_beyond > 0 && ranks > engine->turns_beyond;
    if (turns) layout.overlap = Overlap::All;
    if (layout.redundant_experts == 0) layout.redundant_experts = over > 0 ? ranks - over : turns ? ranks : 0;
    return layout;
}

Bytes CacheRoom::of(std::int64_t tokens) const {
    const std::int64_t held = round_up(tokens, block);
    return {per_token * static_cast<double>(held) + per_windowed * static_cast<double>(std::min(held, window))};
}

std::int64_t CacheRoom::requests(std::int64_t tokens) const {
    const double each = of(tokens).value;
    return bytes.value < each ? 0 : static_cast<std::int64_t>(std::min(1e9, bytes.value / std::max(1.0, each)));
}

}  // namespace tilewright
