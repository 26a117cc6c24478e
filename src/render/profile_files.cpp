// The writers of a profile's files, and of the table that explains them; all walk the list of device/profile_fields.h.
#include "render/profile_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "device/residual_fields.h"
#include "render/json.h"

namespace tilewright::render {
namespace {

/// Four digits are more than any sample has; whole numbers stay.
double rounded(double value) { return value == std::floor(value) ? value : std::stod(fmt::format("{:.4g}", value)); }

/// Tables in the order of the list. Numbers by place stand in columns, under a line that names them.
class TomlWriter {
public:
    void number(const Field& field, double value) { put(field.key, number_text(rounded(field.unit.outward(value)))); }
    void count(const Field& field, std::int64_t value) { put(field.key, std::to_string(value)); }
    void again(const Field& field, std::int64_t value) { count(field, value); }
    void text(const Field& field, const std::string& value) { text(field.key, value); }
    void word(const Field& field, auto value) { text(field.key, name_of(value)); }

    void text(std::string_view key, std::string_view value) {
        std::string quoted;
        for (const char c : value) quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
        put(key, '"' + quoted + '"');
    }

    template <class Body>
    void group(std::string_view key, Body body) {
        flush();
        text_ += fmt::format("\n[{}]\n", key);
        body();
        flush();
    }

    template <class Body>
    void row(std::string_view key, Body body) {
        line({key, " = [", "]", {}, {}}, body);
    }

    template <class Items, class Body>
    void rows(std::string_view key, const Items& items, Body body) {
        flush();
        text_ += fmt::format("{} = [\n", key);
        for (const auto& item : items) line({"", "  [", "],", {}, {}}, [&] { body(item); });
        flush();
        text_ += "]\n";
    }

    std::string take() {
        flush();
        return std::move(text_);
    }

private:
    /// Numbers by place, between two brackets.
    struct Line {
        std::string_view key, before, after;
        std::vector<std::string_view> names;
        std::vector<std::string> cells;
    };

    void put(std::string_view key, const std::string& value) {
        if (open_ != nullptr) {
            open_->names.push_back(key);
            open_->cells.push_back(value);
        } else {
            flush();
            text_ += fmt::format("{} = {}\n", key, value);
        }
    }

    template <class Body>
    void line(Line line, Body body) {
        open_ = &line;
        body();
        open_ = nullptr;
        if (!block_.empty() && block_.back().names != line.names) flush();
        block_.push_back(std::move(line));
    }

    /// Writes the lines that wait, all of the same columns.
    void flush() {
        if (block_.empty()) return;
        std::size_t key = 0;
        std::vector<std::size_t> widths(block_.front().cells.size());
        for (const Line& line : block_) {
            key = std::max(key, line.key.size());
            for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], line.cells[i].size());
        }
        text_ += fmt::format("# {}\n", fmt::join(block_.front().names, ", "));
        for (const Line& line : block_) {
            text_ += fmt::format("{:<{}}{}", line.key, key, line.before);
            for (std::size_t i = 0; i < widths.size(); ++i) {
                text_ += fmt::format("{}{:>{}}", i == 0 ? "" : ", ", line.cells[i], widths[i]);
            }
            text_ += fmt::format("{}\n", line.after);
        }
        block_.clear();
    }

    std::string text_;
    std::vector<Line> block_;
    Line* open_ = nullptr;
};

/// A residual, a tree a line.
class JsonResidual {
public:
    explicit JsonResidual(JsonWriter& json) : json_(json) {}

    void number(const Field& field, double value) { put(field.key, rounded(field.unit.outward(value))); }
    void count(const Field& field, std::int64_t value) { put(field.key, value); }
    void text(const Field& field, const std::string& value) { put(field.key, value); }

    template <class Body>
    void group(std::string_view key, Body body) {
        json_.key(key).object();
        body();
        json_.end();
    }

    template <class Body>
    void row(std::string_view key, Body body) {
        json_.key(key).array();
        by_place_ = true;
        body();
        by_place_ = false;
        json_.end();
    }

    template <class Items, class Body>
    void list(std::string_view key, const Items& items, Body body) {
        json_.key(key).array();
        for (const auto& item : items) {
            json_.object();
            body(item);
            json_.end();
        }
        json_.end();
    }

    bool has(std::string_view, bool there) const { return there; }

    void trees(std::string_view key, const std::vector<Tree>& trees, std::size_t) {
        json_.key(key).array();
        for (const Tree& tree : trees) json_.value(tree_line(tree));
        json_.end();
    }

private:
    template <class Value>
    void put(std::string_view key, const Value& value) {
        if (!by_place_) json_.key(key);
        json_.value(value);
    }

    JsonWriter& json_;
    bool by_place_ = false;
};

/// The list itself, each meaning once: tables of one form have the same values.
class MarkdownFields {
public:
    void number(const Field& field, double) { put(field); }
    void count(const Field& field, std::int64_t) { put(field); }
    void again(const Field&, std::int64_t) {}
    void text(const Field& field, const std::string&) { put(field); }
    void word(const Field& field, auto) { put(field); }
    template <class Body>
    void group(std::string_view key, Body body) {
        within(key, body);
    }
    template <class Body>
    void row(std::string_view key, Body body) {
        within(key, body);
    }
    template <class Items, class Body>
    void rows(std::string_view key, const Items&, Body body) {
        const typename Items::value_type item{};
        within(key, [&] { body(item); });
    }

    std::string text_ = "| value | unit | may be | meaning |\n|---|---|---|---|\n";

private:
    template <class Body>
    void within(std::string_view key, Body body) {
        const std::string outer = path_;
        path_ += std::string(key) + '.';
        body();
        path_ = outer;
    }

    void put(const Field& field) {
        if (!seen_.insert(field.meaning).second) return;
        text_ += fmt::format("| `{}{}` | {} | {} | {} |\n", path_, field.key, field.unit.name, field.bounds.words,
                             field.meaning);
    }

    std::string path_;
    std::set<std::string_view> seen_;
};

}  // namespace

std::string tree_line(const Tree& tree) {
    std::string line;
    for (std::size_t i = 0; i < tree.feature.size(); ++i) {
        line += fmt::format("{}:{:.6g} ", tree.feature[i], tree.threshold[i]);
    }
    for (const float leaf : tree.leaf) line += fmt::format("{:.4g} ", leaf);
    line.pop_back();
    return line;
}

std::string residual_json(const Profile& profile, const std::string& device) {
    JsonWriter json;
    json.object().field("schema", residual_schema).field("device", device);
    JsonResidual writer(json);
    visit_residual(profile, writer);
    return json.end().take();
}

std::string device_toml(const Device& device) {
    const auto text = [](std::string_view value) {
        TomlWriter toml;
        toml.text("_", value);
        return toml.take().substr(4);  // behind "_ = "
    };
    std::string out = "full_name = " + text(device.full_name) + "source = " + text(device.source) +
                      "architecture = " + text(name_of(device.architecture));
    const std::pair<const char*, double> numbers[] = {
        {"units", static_cast<double>(device.units)},
        {"boost_clock_mhz", device.boost_clock.value * 1e-6},
        {"base_clock_mhz", device.base_clock.value * 1e-6},
        {"bandwidth_bytes_per_s", device.bandwidth.value},
        {"l2_bytes", device.l2.value},
        {"shared_per_unit_bytes", device.shared_per_unit.value},
        {"memory_bytes", device.memory.value},
        {"usable_memory_bytes", device.usable_memory.value_or(device.memory).value},
        {"power_w", device.power.value},
        {"link_bandwidth_bytes_per_s", device.link_bandwidth.value},
        {"node_size", static_cast<double>(device.node_size)},
        {"link_peers", static_cast<double>(device.link_peers)},
        {"host_scale", device.host_scale},
    };
    for (const auto& [key, value] : numbers) out += fmt::format("{} = {}\n", key, number_text(value));
    out += "link = " + text(device.link);
    if (!device.relative.empty()) out += "relative = " + text(device.relative);
    out += "\n[peak_flops_per_s]\n";
    for (const auto& [word, precision] : names<Precision>) {
        const auto& peak = device.peak[static_cast<std::size_t>(precision)];
        if (peak) out += fmt::format("{} = {}\n", word, number_text(peak->value));
    }
    return out;
}

std::string profile_toml(const Profile& profile, const ProfileHeading& heading) {
    TomlWriter toml;
    toml.text("schema", profile_schema);
    toml.text("device", heading.device);
    if (!heading.residual.empty()) {
        toml.text("residual", heading.residual);
        toml.text("residual_hash", heading.residual_hash);
    }
    visit_profile(profile, toml);
    return "# How kernels run on this GPU, learnt from samples by `tilewright fit`; docs/profiles.md explains every "
           "value.\n" +
           toml.take();
}

std::string profile_fields_markdown() {
    const Profile none;
    MarkdownFields fields;
    visit_profile(none, fields);
    return fields.text_;
}

}  // namespace tilewright::render
