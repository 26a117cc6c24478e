// The keys of a data sheet. Every key carries its unit; only clocks are given in another (MHz) than they are kept in.
#include "read/files.h"

#include "read/document.h"
#include "read/fields.h"
#include "tilewright/read.h"

namespace tilewright::read {
namespace {

constexpr Range unit_counts{1, 1 << 20};
constexpr Range node_sizes{1, 1 << 20}, peer_counts{0, 1 << 20};

void read_words(Fields& fields, DeviceFile& file) {
    Device& device = file.device;
    device.full_name = fields.text("full_name").value_or(device.name);
    file.aliases = fields.texts("aliases");
    device.source = fields.text("source").value_or("");
    fields.require("architecture", "one of the words that docs/formats.md lists");
    device.architecture = fields.word<Architecture>("architecture").value_or(device.architecture);
    device.link = fields.text("link").value_or("");
    device.relative = fields.text("relative").value_or("");
}

void read_numbers(Fields& fields, Device& device) {
    constexpr double hertz_per_mhz = 1e6;
    device.units = fields.required_integer("units", unit_counts);
    device.boost_clock = {fields.required_positive("boost_clock_mhz") * hertz_per_mhz};
    device.base_clock = device.boost_clock;
    if (const auto clock = fields.positive("base_clock_mhz")) device.base_clock = {*clock * hertz_per_mhz};
    device.bandwidth = {fields.required_positive("bandwidth_bytes_per_s")};
    device.l2 = {fields.required_positive("l2_bytes")};
    device.shared_per_unit = {fields.required_positive("shared_per_unit_bytes")};
    device.memory = {fields.required_positive("memory_bytes")};
    if (const auto usable = fields.positive("usable_memory_bytes")) device.usable_memory = Bytes{*usable};
    device.power = {fields.required_positive("power_w")};
    device.link_bandwidth = {fields.required_positive("link_bandwidth_bytes_per_s")};
    device.node_size = fields.integer("node_size", node_sizes).value_or(device.node_size);
    device.link_peers = fields.integer("link_peers", peer_counts).value_or(device.link_peers);
    device.host_scale = fields.positive("host_scale").value_or(device.host_scale);
}

void read_peaks(const Value& table, Device& device, Report& report) {
    Fields fields(table, "[peak_flops_per_s]", report);
    for (const auto& [word, precision] : names<Precision>) {
        if (const auto rate = fields.positive(word)) {
            device.peak[static_cast<std::size_t>(precision)] = FlopsPerSecond{*rate};
        }
    }
    if (const auto rate = fields.positive("int8")) device.int8_peak = FlopsPerSecond{*rate};
    if (const auto rate = fields.positive("fp4")) device.fp4_peak = FlopsPerSecond{*rate};
    fields.reject_unknown();
}

}  // namespace

Result<DeviceFile> read_device_file(std::string_view bytes, const std::string& where) {
    const Result<Value> root = read_toml(bytes, where);
    if (!root) return root.problems();
    Report report{where, {}};
    Fields fields(*root, "", report);
    DeviceFile file;
    file.device.name = name_from(where);
    read_words(fields, file);
    read_numbers(fields, file.device);
    fields.require("peak_flops_per_s", "a table of dense rates; docs/formats.md shows it");
    if (const Value* peaks = fields.table("peak_flops_per_s")) read_peaks(*peaks, file.device, report);
    fields.reject_unknown();
    if (!report.clean()) return report.by_line();
    report.adopt(validate(file.device), [&](const std::string& field) {
        return fields.line_of(std::string_view(field).substr(0, field.find('.')));
    });
    if (!report.clean()) return report.by_line();
    return file;
}

}  // namespace tilewright::read

namespace tilewright {

Result<Device> read_device(std::string_view bytes, const std::string& where) {
    Result<read::DeviceFile> file = read::read_device_file(bytes, where);
    if (!file) return file.problems();
    return std::move(file->device);
}

}  // namespace tilewright
