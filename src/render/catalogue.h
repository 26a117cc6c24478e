// What `models` and `devices` show, as text and as JSON (schemas tilewright.models/1 and tilewright.devices/1).
#pragma once

#include <string>
#include <vector>

#include "render/style.h"
#include "tilewright/profile.h"
#include "tilewright/shape.h"

namespace tilewright::render {

/// A catalogue entry and where it comes from: "built in", or the file that adds or overrides it.
struct ListedModel {
    Shape shape;
    ParameterCount params;
    std::string origin;
};
struct ListedDevice {
    Device device;
    Profile profile;
    std::string origin;
};

std::string models_text(const std::vector<ListedModel>& models, const Style& style);
std::string models_json(const std::vector<ListedModel>& models);
std::string devices_text(const std::vector<ListedDevice>& devices, const Style& style);
std::string devices_json(const std::vector<ListedDevice>& devices);

}  // namespace tilewright::render
