// Requests that nobody recorded: Poisson arrivals from a fixed seed, the same on every machine.
#include <algorithm>
#include <cmath>
#include <random>

#include "tilewright/serve.h"

namespace tilewright {

std::vector<Request> make_load(const LoadShape& shape) {
    const auto cached = static_cast<std::int64_t>(std::floor(shape.prefix_hits * static_cast<double>(shape.isl)));
    Request request{{}, shape.isl, shape.osl, std::min(cached, shape.isl - 1)};
    std::vector<Request> load;
    if (std::isinf(shape.rate)) {
        load.assign(static_cast<std::size_t>(shape.requests), request);
        return load;
    }
    std::mt19937_64 bits(shape.seed);
    const auto share = [&bits] { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; };
    for (double at = -std::log(share()) / shape.rate; at < shape.duration.value; at -= std::log(share()) / shape.rate) {
        request.arrival = {at};
        load.push_back(request);
    }
    return load;
}

double Speculation::tokens_per_step() const {
    double tokens = 1, chance = 1;
    for (std::int64_t i = 0; i < drafts; ++i) tokens += chance *= acceptance;
    return tokens;
}

LoadShape mean_of(const std::vector<Request>& load, LoadShape shape) {
    double isl = 0, osl = 0, cached = 0;
    for (const Request& request : load) {
        isl += static_cast<double>(request.isl);
        osl += static_cast<double>(request.osl);
        cached += static_cast<double>(request.cached);
    }
    const auto count = static_cast<double>(load.size());
    shape.isl = std::max<std::int64_t>(1, std::llround(isl / count));
    shape.osl = std::max<std::int64_t>(1, std::llround(osl / count));
    shape.prefix_hits = cached / isl;
    const double span = load.back().arrival.value - load.front().arrival.value;
    shape.rate = span > 0 ? count / span : HUGE_VAL;
    return shape;
}

}  // namespace tilewright
