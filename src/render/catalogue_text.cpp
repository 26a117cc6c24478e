// The text of `models` and `devices`: one line each.
#include <fmt/format.h>

#include "render/catalogue.h"
#include "render/table.h"
#include "render/units.h"
#include "tilewright/names.h"

namespace tilewright::render {
namespace {

std::string peak_text(const Device& device, Precision precision) {
    const auto& peak = device.peak[static_cast<std::size_t>(precision)];
    return peak ? digits3(peak->value / 1e12) : "-";
}

/// The name, marked when it is not built in.
Cell name_cell(const std::string& name, const std::string& origin) {
    return origin == "built in" ? Cell(name, Tone::Strong) : Cell(name + " *", Tone::Accent);
}

void append_origin(std::string& out, const std::string& name, const std::string& origin) {
    if (origin != "built in") out += fmt::format("* {}: {}\n", name, origin);
}

}  // namespace

std::string models_text(const std::vector<ListedModel>& models, const Style& style) {
    Table table({{"name"},
                 {"params", Align::Right},
                 {"layers", Align::Right},
                 {"hidden", Align::Right},
                 {"heads", Align::Right},
                 {"kv", Align::Right},
                 {"head", Align::Right},
                 {"ffn", Align::Right},
                 {"vocab", Align::Right},
                 {"mlp"}});
    std::string origins;
    for (const auto& [shape, params, origin] : models) {
        const std::string mlp(name_of(shape.mlp));
        table.row({name_cell(shape.name, origin), count_text(static_cast<double>(params.total)),
                   std::to_string(shape.layers), std::to_string(shape.hidden), std::to_string(shape.heads),
                   std::to_string(shape.kv_heads), std::to_string(shape.head_dim),
                   std::to_string(shape.experts ? shape.experts->ffn : shape.ffn), std::to_string(shape.vocab),
                   shape.experts ? fmt::format("{} ×{}", mlp, shape.experts->count) : mlp});
        append_origin(origins, shape.name, origin);
    }
    std::string out;
    table.append_to(out, style);
    return out + origins;
}

std::string devices_text(const std::vector<ListedDevice>& devices, const Style& style) {
    Table table({{"name"},
                 {"units", Align::Right},
                 {"bf16", Align::Right},
                 {"fp16", Align::Right},
                 {"fp8", Align::Right},
                 {"tf32", Align::Right},
                 {"memory", Align::Right},
                 {"bandwidth", Align::Right},
                 {"full name", Align::Left, true}});
    std::string origins;
    for (const auto& [device, origin] : devices) {
        table.row({name_cell(device.name, origin), std::to_string(device.units), peak_text(device, Precision::Bf16),
                   peak_text(device, Precision::Fp16), peak_text(device, Precision::Fp8),
                   peak_text(device, Precision::Tf32), bytes_text(device.memory), bandwidth_text(device.bandwidth),
                   device.full_name});
        append_origin(origins, device.name, origin);
    }
    std::string out;
    table.append_to(out, style);
    return out + origins + "Peaks are dense TFLOP/s of the data sheet.\n";
}

}  // namespace tilewright::render
