// The JSON of `models` and `devices`.
#include "render/catalogue.h"
#include "render/values_json.h"

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
    for (const auto& [device, origin] : devices) {
        json.object();
        write_device(json, device);
        json.field("origin", origin).end();
    }
    return json.end().end().take();
}

}  // namespace tilewright::render
