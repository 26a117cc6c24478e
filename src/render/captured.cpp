// A captured graph's prediction as text and as JSON: by module, the slowest kernels, the step's totals, what could only
// be priced by its bytes.
#include <fmt/format.h>

#include <algorithm>

#include "render/answers.h"
#include "render/table.h"
#include "render/units.h"
#include "render/values_json.h"
#include "render/words.h"

namespace tilewright::render {
namespace {

std::string phase_text(const Capture& capture) {
    std::string text = capture.phase.empty() ? "step" : capture.phase;
    if (capture.batch < 1) return text;
    if (capture.phase == "decode")
        return fmt::format("{}, {} sequences after a prompt of {} tokens", text, capture.batch, capture.seq);
    return fmt::format("{}, {} × {} tokens", text, capture.batch, capture.seq);
}

std::string module_text(const std::string& path) { return path.empty() ? "(program)" : path; }

void append_modules(std::string& out, const CapturePrediction& prediction, std::size_t most, const Style& style) {
    Table table({{"module", Align::Left, true},
                 {"calls", Align::Right},
                 {"forward", Align::Right},
                 {"backward", Align::Right},
                 {"share", Align::Right}});
    const Seconds busy = prediction.timeline.gpu_busy;
    CapturedModule rest{"others", {}, {}, 0};
    for (std::size_t i = 0; i < prediction.modules.size(); ++i) {
        const CapturedModule& module = prediction.modules[i];
        if (i >= most) {
            rest.forward += module.forward;
            rest.backward += module.backward;
            rest.calls += module.calls;
            continue;
        }
        table.row({module_text(module.path), std::to_string(module.calls), time_text(module.forward),
                   time_text(module.backward), percent_text((module.forward + module.backward) / busy)});
    }
    if (rest.calls > 0) {
        table.row({rest.path, std::to_string(rest.calls), time_text(rest.forward), time_text(rest.backward),
                   percent_text((rest.forward + rest.backward) / busy)});
    }
    table.append_to(out, style);
    out += "\n";
}

void append_kernels(std::string& out, const CapturePrediction& prediction, std::size_t most, const Style& style) {
    Table table({{"kernel", Align::Left, true},
                 {"n", Align::Right},
                 {"size"},
                 {"each", Align::Right},
                 {"total", Align::Right},
                 {"bound"}});
    for (std::size_t i = 0; i < std::min(most, prediction.kernels.size()); ++i) {
        const auto& [priced, by_bytes] = prediction.kernels[i];
        table.row({kernel_text(priced.op), std::to_string(priced.op.count), size_text(priced.op),
                   time_text(priced.cost.time), time_text(priced.total),
                   std::string(name_of(priced.cost.bound)) + (by_bytes ? ", by bytes" : "")});
    }
    table.append_to(out, style);
    out += "\n";
}

void append_totals(std::string& out, const CapturePrediction& prediction, const Style& style) {
    const Timeline& timeline = prediction.timeline;
    Table table({{""}, {"", Align::Right}, {"", Align::Left, true}});
    table.row({"time per step",
               {time_text(timeline.time), Tone::Strong},
               "90% interval " + interval_text(prediction.low, prediction.high)});
    table.row({"GPU busy", time_text(timeline.gpu_busy),
               fmt::format("idle {} ({})", time_text(timeline.idle), percent_text(timeline.idle / timeline.time))});
    table.row(
        {"host", time_text(timeline.host_time),
         fmt::format("to issue {} kernels and {} views{}", grouped_text(static_cast<double>(prediction.launches)),
                     grouped_text(static_cast<double>(prediction.views)),
                     prediction.host_scale == 1.0
                         ? ""
                         : fmt::format(", {:.3g} times as long as on the machine measured", prediction.host_scale))});
    if (prediction.tokens_per_step > 0) table.row({"throughput", grouped_text(prediction.tokens_per_s), "tokens/s"});
    table.row({"MFU", percent_text(prediction.mfu),
               fmt::format("{}; HFU {}", rate_text(prediction.flops / timeline.time), percent_text(prediction.hfu))});
    table.row({"memory",
               {bytes_text(prediction.memory.total), prediction.fits ? Tone::Plain : Tone::Bad},
               fmt::format("of {}; tensors and workspaces at their peak {}", room_text(prediction.device),
                           bytes_text(prediction.memory.allocated))});
    table.append_to(out, style);
    out += "\n";
}

std::string advice(const CapturePrediction& prediction) {
    const Timeline& timeline = prediction.timeline;
    if (!prediction.fits)
        return fmt::format("Does not fit: {} needed, {} has {}.", bytes_text(prediction.memory.total),
                           prediction.device.name, room_text(prediction.device));
    if (!prediction.host_bound) return "";
    return fmt::format(
        "The host bounds this step: the GPU idles {}. A larger batch, CUDA graphs or torch.compile help; a faster GPU "
        "does not.",
        percent_text(timeline.idle / timeline.time));
}

std::string by_bytes_text(const CapturePrediction& prediction) {
    if (prediction.by_bytes.empty()) return "";
    return fmt::format("Priced by their bytes alone, {} of the GPU's time: {}.",
                       percent_text(prediction.by_bytes_time / prediction.timeline.gpu_busy),
                       joined(prediction.by_bytes));
}

void write_capture(JsonWriter& json, const Capture& capture) {
    json.key("capture").object().field("program", capture.program).field("phase", capture.phase);
    json.field("batch", capture.batch).field("seq", capture.seq).field("master", capture.master);
    json.field("parameters", capture.parameters).field("recorded_with", capture.recorded_with);
    write_texts(json, "versions", capture.versions);
    write_texts(json, "notes", capture.notes);
    json.end();
}

/// Modules and kernels.
void write_parts(JsonWriter& json, const CapturePrediction& prediction) {
    json.key("modules").array();
    for (const CapturedModule& module : prediction.modules) {
        json.object().field("path", module.path).field("calls", module.calls);
        json.field("forward_s", module.forward.value).field("backward_s", module.backward.value).end();
    }
    json.end().key("kernels").array();
    for (const auto& [priced, by_bytes] : prediction.kernels) {
        json.object();
        write_kernel(json, priced);
        json.field("by_bytes", by_bytes).end();
    }
    json.end();
}

}  // namespace

std::string captured_text(const CapturePrediction& prediction, std::size_t most, const Style& style) {
    const Capture& capture = *prediction.capture;
    std::string out;
    append_title(out,
                 fmt::format("{} on {}", capture.program.empty() ? "captured graph" : capture.program,
                             prediction.device.full_name),
                 style);
    append_paragraph(out,
                     fmt::format("{}; {} parameters; recorded with {}", phase_text(capture),
                                 count_text(static_cast<double>(capture.parameters)), joined(capture.versions)),
                     2, style);
    out += "\n";
    append_modules(out, prediction, most, style);
    append_kernels(out, prediction, most, style);
    append_totals(out, prediction, style);
    append_paragraph(
        out, "Evidence: " + evidence_text(prediction.evidence) + ". Profile: " + prediction.profile_source + ".", 2,
        style);
    for (const std::string& line : {by_bytes_text(prediction), advice(prediction)}) {
        if (!line.empty()) append_paragraph(out, line, 2, style);
    }
    for (const std::string& note : capture.notes) append_paragraph(out, "Recorded: " + note, 2, style);
    for (const std::string& file : prediction.used) append_paragraph(out, "Used: " + file, 2, style);
    return out;
}

std::string captured_json(const CapturePrediction& prediction) {
    const Timeline& timeline = prediction.timeline;
    JsonWriter json;
    json.object().field("schema", "tilewright.predict/2");
    json.key("device").object();
    write_device(json, prediction.device);
    json.end();
    write_capture(json, *prediction.capture);
    json.field("evidence", name_of(prediction.evidence)).field("profile", prediction.profile_source);
    json.field("time_s", timeline.time.value)
        .field("low_s", prediction.low.value)
        .field("high_s", prediction.high.value);
    json.field("gpu_busy_s", timeline.gpu_busy.value).field("idle_s", timeline.idle.value);
    json.field("host_time_s", timeline.host_time.value).field("host_bound", prediction.host_bound);
    json.field("host_scale", prediction.host_scale);
    json.field("tokens_per_s", prediction.tokens_per_s).field("flops", prediction.flops.value);
    json.field("hardware_flops", prediction.hardware_flops.value).field("hfu", prediction.hfu);
    json.field("mfu", prediction.mfu).field("fits", prediction.fits);
    write_memory(json, prediction.memory, prediction.device);
    json.field("launches", prediction.launches).field("views", prediction.views);
    write_parts(json, prediction);
    write_texts(json, "by_bytes", prediction.by_bytes);
    write_texts(json, "used", prediction.used);
    return json.end().take();
}

}  // namespace tilewright::render
