// Which layers see a window of the sequence and which see all of it. A shape says "so many of every so many", and that
// is exact for every list of layer types, because only how many there are decides the price.
#include <algorithm>
#include <numeric>

#include "read/hugging_face.h"

namespace tilewright::read {
namespace {

/// Whether each layer of layer_types has a window. Words that are no attention at all are refused.
std::vector<bool> windowed_in(Config& config, const Array& layer_types) {
    std::vector<bool> windowed;
    for (const Value& type : layer_types) {
        const auto* word = type.as<std::string>();
        const bool narrow = word != nullptr && (*word == "sliding_attention" || *word == "chunked_attention");
        if (!narrow && (word == nullptr || *word != "full_attention")) {
            config.refuse("layer_types", "layers of type " + describe(type) + " cannot be said");
            return {};
        }
        windowed.push_back(narrow);
    }
    return windowed;
}

/// The shortest stretch of layers that the list repeats.
std::size_t period_of(const std::vector<bool>& windowed) {
    for (std::size_t period = 1; period < windowed.size(); ++period) {
        bool repeats = true;
        for (std::size_t i = period; repeats && i < windowed.size(); ++i) repeats = windowed[i] == windowed[i - period];
        if (repeats) return period;
    }
    return windowed.size();
}

}  // namespace

void spread_window(Shape& shape, std::int64_t windowed, std::int64_t every) {
    if (windowed <= 0 || every <= 0) {
        shape.window = 0;
        shape.windowed = shape.windowed_every = 1;
        return;
    }
    const std::int64_t common = std::gcd(windowed, every);
    shape.windowed = windowed / common;
    shape.windowed_every = every / common;
}

void spread_window(Shape& shape, const std::vector<bool>& windowed) {
    const auto period = static_cast<std::ptrdiff_t>(period_of(windowed));
    spread_window(shape, std::count(windowed.begin(), windowed.begin() + period, true), period);
    const std::int64_t all = std::count(windowed.begin(), windowed.end(), true);
    if (windowed_layers(shape, shape.layers) != all) spread_window(shape, all, shape.layers);
}

void read_window(Config& config, Shape& shape, std::int64_t fallback) {
    shape.window = config.size_or_none("window", {"sliding_window"}, fallback);
    const Array* types = config.list("layer_types");
    if (types == nullptr) {
        if (shape.window == 0) spread_window(shape, 0, 0);
        return;
    }
    spread_window(shape, windowed_in(config, *types));
}

}  // namespace tilewright::read
