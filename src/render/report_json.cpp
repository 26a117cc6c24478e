// The JSON of `report`: the values that its page shows.
#include "render/advise.h"
#include "render/fit.h"
#include "render/lint.h"
#include "render/plan.h"
#include "render/report.h"
#include "render/search.h"
#include "render/values_json.h"
#include "tilewright/device_names.h"

namespace tilewright::render {
namespace {

void write_sweep(JsonWriter& json, const Sweep& sweep) {
    json.object()
        .field("name", sweep.name)
        .field("dimension", sweep.dimension)
        .field("kept", sweep.kept)
        .field("current", sweep.current);
    json.field("kernel", sweep.kernel).key("points").array();
    for (const SweepPoint& point : sweep.points) {
        json.object().field("value", point.value).field("rate_flop_per_s", point.rate.value);
        json.field("tokens_per_s", point.tokens_per_s).field("kernel_s", point.kernel.time.value);
        json.field("tile_m", point.kernel.tile_m).field("tile_n", point.kernel.tile_n);
        json.field("split_k", point.kernel.split_k).field("waves", point.kernel.waves).end();
    }
    json.end().end();
}

void write_tiles(JsonWriter& json, const TileMap& map) {
    json.key("tiles").object().field("kernel", map.kernel).field("layout", name_of(map.gemm.layout));
    json.field("m", map.gemm.m).field("n", map.gemm.n).field("k", map.gemm.k).field("batch", map.gemm.batch);
    json.field("tile_m", map.cost.tile_m).field("tile_n", map.cost.tile_n).field("split_k", map.cost.split_k);
    json.field("blocks", map.blocks).field("blocks_at_once", map.at_once).field("full_waves", map.full_waves);
    json.field("tail_blocks", map.tail).field("padding_share", map.padding).end();
}

void write_roofline(JsonWriter& json, const Roofline& roofline) {
    json.key("roofline").object().field("peak_flop_per_s", roofline.peak.value);
    json.field("bandwidth_bytes_per_s", roofline.bandwidth.value);
    json.field("reached_peak_flop_per_s", roofline.reached_peak.value);
    json.field("reached_bandwidth_bytes_per_s", roofline.reached_bandwidth.value).key("kernels").array();
    for (const RooflinePoint& point : roofline.points) {
        json.object().field("kernel", point.kernel).field("component", name_of(point.component));
        json.field("flop_per_byte", point.intensity).field("rate_flop_per_s", point.rate.value);
        json.field("nominal", !point.counted).field("share", point.share).end();
    }
    json.end().end();
}

}  // namespace

std::string report_json(const std::vector<Report>& reports) {
    JsonWriter json;
    json.object().field("schema", "tilewright.report/1").key("reports").array();
    for (const Report& report : reports) {
        json.object().key("device").object();
        write_device(json, report.advice.prediction.device);
        json.end().key("workload").object();
        write_workload(json, report.advice.prediction.workload);
        json.end();
        write_summary(json, report.advice.prediction);
        write_findings(json, report.advice.findings);
        write_candidates(json, report.advice.found);
        write_fronts(json, report.advice.found);
        json.key("sweeps").array();
        for (const Sweep& sweep : report.sweeps) write_sweep(json, sweep);
        json.end();
        if (report.tiles) write_tiles(json, *report.tiles);
        write_roofline(json, report.roofline);
        json.key("serving").object();
        write_serving(json, report.serving);
        json.end();
        write_errors(json, "held_out_errors", report.advice.prediction.errors);
        write_texts(json, "used", report.advice.prediction.used);
        json.end();
    }
    return json.end().end().take();
}

}  // namespace tilewright::render
