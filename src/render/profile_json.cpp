// A profile as its file: the list of device/profile_fields.h, numbers to six digits, a tree a line.
#include "render/profile_json.h"

#include <fmt/format.h>

#include "device/profile_fields.h"
#include "render/json.h"
#include "tilewright/device_names.h"

namespace tilewright::render {
namespace {

/// Six digits are more than any sample has.
double rounded(double value) { return std::stod(fmt::format("{:.6g}", value)); }

class ProfileWriter {
public:
    explicit ProfileWriter(JsonWriter& json) : json_(json) {}

    void number(std::string_view name, double value) { json_.field(name, rounded(value)); }
    void count(std::string_view name, std::int64_t value) { json_.field(name, value); }
    void text(std::string_view name, const std::string& value) { json_.field(name, value); }

    template <class Body>
    void group(std::string_view name, Body body) {
        json_.key(name).object();
        body();
        json_.end();
    }

    template <class Items, class Body>
    void list(std::string_view name, const Items& items, Body body) {
        json_.key(name).array();
        for (const auto& item : items) {
            json_.object();
            body(item);
            json_.end();
        }
        json_.end();
    }

    void trees(std::string_view name, const std::vector<Tree>& trees) {
        json_.key(name).array();
        for (const Tree& tree : trees) {
            std::string line;
            for (std::size_t i = 0; i < tree.feature.size(); ++i) {
                line += fmt::format("{}:{:.6g} ", tree.feature[i], tree.threshold[i]);
            }
            for (float leaf : tree.leaf) line += fmt::format("{:.4g} ", leaf);
            line.pop_back();
            json_.value(line);
        }
        json_.end();
    }

private:
    JsonWriter& json_;
};

}  // namespace

std::string profile_json(const Profile& profile, const std::string& device) {
    JsonWriter json;
    json.object();
    json.field("schema", profile_schema);
    json.field("device", device);
    json.field("evidence", name_of(profile.evidence));
    json.field("attention_evidence", name_of(profile.attention_evidence));
    json.field("stream_evidence", name_of(profile.stream_evidence));
    json.field("collective_evidence", name_of(profile.collective_evidence));
    ProfileWriter writer(json);
    visit_profile(profile, writer);
    json.end();
    return json.take();
}

}  // namespace tilewright::render
