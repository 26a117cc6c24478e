// The JSON of `models` and `devices`.
#include "render/catalogue.h"
#include "render/fit.h"
#include "render/values_json.h"
#include "tilewright/device_names.h"

namespace tilewright::render {

std::string models_json(const std::vector<ListedModel>& models) {
    JsonWriter json;
    json.object().field("schema", "tilewright.models/1").key("models").array();
    for (const auto& [shape, params, origin] : models) {
        json.object();
        write_shape(json, shape, params);
        json.field("origin", origin).end();
    }
    return json.end().end().take();
}

std::string devices_json(const std::vector<ListedDevice>& devices) {
    JsonWriter json;
    json.object().field("schema", "tilewright.devices/1").key("devices").array();
    for (const auto& [device, profile, origin] : devices) {
        json.object();
        write_device(json, device);
        json.field("origin", origin).key("profile").object();
        json.field("evidence", name_of(profile.evidence));
        json.field("attention_evidence", name_of(profile.attention_evidence));
        json.field("stream_evidence", name_of(profile.stream_evidence)).field("source", profile.source);
        if (!profile.carried_from.empty()) json.field("carried_from", profile.carried_from);
        write_errors(json, "held_out_errors", profile.errors);
        json.end().end();
    }
    return json.end().end().take();
}

}  // namespace tilewright::render
