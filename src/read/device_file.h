// Our own form of a data sheet (docs/formats.md), with the other names it is known by.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/device.h"

namespace tilewright::read {

struct DeviceFile {
    Device device;
    std::vector<std::string> aliases;
};

Result<DeviceFile> read_device_file(std::string_view bytes, const std::string& where);

}  // namespace tilewright::read
