// Latency against throughput: a line for each tensor split, along which more and more requests are answered at once,
// until the cache is full. Marked on it: from where products wait for arithmetic rather than for weights.
#include <fmt/format.h>

#include <algorithm>

#include "render/report.h"
#include "render/units.h"
#include "tilewright/cost.h"

namespace tilewright::render {
namespace {

constexpr double in_ms = 1e3;

std::string point_note(const ServingPoint& point) {
    return fmt::format(
        "tp {}, {} request{} of {} tokens\n{} per output token ({}), {} to the first\n{} tokens/s per GPU\n"
        "{} of memory; products bound by {}",
        point.tp, grouped_text(static_cast<double>(point.batch)), point.batch == 1 ? "" : "s",
        grouped_text(static_cast<double>(point.context)), time_text(point.output_token),
        interval_text(point.low, point.high), time_text(point.first_token), grouped_text(point.tokens_per_s_per_gpu),
        bytes_text(point.memory.total), name_of(point.bound));
}

void push(Series& series, const ServingPoint& point) {
    series.x.push_back(point.tokens_per_s_per_gpu);
    series.y.push_back(point.output_token.value * in_ms);
    series.notes.push_back(point_note(point));
}

const ServingPoint* find(const Serving& serving, std::int64_t tp, std::int64_t batch) {
    const auto found = std::find_if(serving.points.begin(), serving.points.end(),
                                    [&](const ServingPoint& point) { return point.tp == tp && point.batch == batch; });
    return found == serving.points.end() ? nullptr : &*found;
}

/// Every other power of two says how many requests it is, and the last.
bool labelled(std::int64_t batch, const Serving::Limit& limit) {
    return batch == limit.full_batch || (power_of_two_in(batch, batch) == batch && batch % 3 == 1);
}

/// The outermost lines say how many requests their points are; between them there is no room for it.
Series line_of(const Serving& serving, const Serving::Limit& limit) {
    const bool outermost = limit.tp == serving.limits.front().tp || limit.tp == serving.limits.back().tp;
    Series line{fmt::format("tp {}", limit.tp), Mark::Line};
    for (const ServingPoint& point : serving.points) {
        if (point.tp != limit.tp) continue;
        push(line, point);
        line.labels.push_back(outermost && labelled(point.batch, limit) ? grouped_text(static_cast<double>(point.batch))
                                                                        : "");
    }
    return line;
}

/// The points at one batch of every split, where that is drawn.
Series marks(const Serving& serving, const char* name, std::int64_t Serving::Limit::*batch) {
    Series series{name, Mark::Points};
    for (const Serving::Limit& limit : serving.limits) {
        if (const ServingPoint* point = find(serving, limit.tp, limit.*batch)) push(series, *point);
    }
    return series;
}

/// "tp 1: 195 tokens/s per GPU at 5.12 ms a token with one request, 6,009 at 41.9 ms with the 252 that memory holds".
std::string spoken(const Serving& serving, const Serving::Limit& limit) {
    const ServingPoint* first = find(serving, limit.tp, 1);
    const ServingPoint* last = find(serving, limit.tp, limit.full_batch);
    if (first == nullptr || last == nullptr) return fmt::format("tp {}: not one request fits", limit.tp);
    return fmt::format("tp {}: {} tokens/s per GPU at {} a token with one request, {} at {} with the {} that fit",
                       limit.tp, grouped_text(first->tokens_per_s_per_gpu), time_text(first->output_token),
                       grouped_text(last->tokens_per_s_per_gpu), time_text(last->output_token),
                       grouped_text(static_cast<double>(last->batch)));
}

}  // namespace

Chart serving_chart(const Serving& serving) {
    Chart chart{"Latency against throughput, decoding", ""};
    chart.x = {"throughput (tokens/s per GPU)", true};
    chart.y = {"time per output token (ms)", true};
    for (const Serving::Limit& limit : serving.limits) {
        chart.description += (chart.description.empty() ? "" : "; ") + spoken(serving, limit);
        chart.series.push_back(line_of(serving, limit));
    }
    chart.description += ".";
    chart.series.insert(chart.series.begin() + std::min<std::ptrdiff_t>(1, std::ssize(chart.series)),
                        {marks(serving, "KV cache full", &Serving::Limit::full_batch),
                         marks(serving, "computing takes over", &Serving::Limit::compute_batch)});
    std::erase_if(chart.series, [](const Series& series) { return series.x.empty(); });
    return chart;
}

}  // namespace tilewright::render
