// The text of `plan --phase decode`: what each tensor split can hold, and latency against throughput.
#include <fmt/format.h>

#include "render/plan.h"
#include "render/table.h"
#include "render/units.h"
#include "tilewright/cost_names.h"

namespace tilewright::render {
namespace {

void append_limits(std::string& out, const Serving& serving, const Style& style) {
    Table table({{"tp", Align::Right}, {"cached tokens", Align::Right}, {"compute takes over", Align::Left, true}});
    for (const Serving::Limit& limit : serving.limits) {
        table.row(
            {std::to_string(limit.tp), grouped_text(static_cast<double>(limit.cached_tokens)), takeover_text(limit)});
    }
    table.append_to(out, style);
    out += "\n";
}

}  // namespace

std::string takeover_text(const Serving::Limit& limit) {
    if (limit.compute_batch == 0) return "never: reading weights and cache takes longer";
    return fmt::format("from batch {}{}", limit.compute_batch,
                       limit.compute_batch > limit.full_batch ? ", which does not fit" : "");
}

std::string serving_text(const Shape& shape, const Device& device, const Serving& serving, const Style& style) {
    std::string out =
        paint(shape.name, Tone::Strong, style) + " served on " + paint(device.name, Tone::Strong, style) + "\n\n";
    append_limits(out, serving, style);
    Table table({{"tp", Align::Right},
                 {"batch", Align::Right},
                 {"context", Align::Right},
                 {"first token", Align::Right},
                 {"per output token", Align::Right},
                 {"tokens/s/GPU", Align::Right},
                 {"memory", Align::Right},
                 {"products bound by"}});
    for (const ServingPoint& point : serving.points) {
        table.row({std::to_string(point.tp), std::to_string(point.batch), std::to_string(point.context),
                   time_text(point.first_token), time_text(point.output_token),
                   grouped_text(point.tokens_per_s_per_gpu), bytes_text(point.memory.total),
                   std::string(name_of(point.bound))});
    }
    table.append_to(out, style);
    if (serving.points.empty())
        append_paragraph(out, "Not even one request fits: the parameters fill the memory.", 2, style);
    return out;
}

}  // namespace tilewright::render
