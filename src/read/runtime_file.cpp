// A runtime's file as TOML: its keys with their sections, which src/ops/runtime_file.cpp gives a meaning.
#include "read/document.h"
#include "tilewright/read.h"
#include "tilewright/runtime.h"

namespace tilewright {
namespace {

struct Line {
    std::string key, value;
    int line = 0;
};

std::string text_of(const read::Value& value) {
    if (const auto* text = value.as<std::string>()) return *text;
    return read::describe(value);
}

void flatten(const read::Value& value, const std::string& key, std::vector<Line>& lines) {
    const auto* object = value.as<read::Object>();
    if (object == nullptr) return lines.push_back({key, text_of(value), value.line});
    for (const read::Member& member : *object) {
        flatten(member.value, key.empty() ? member.key : key + "." + member.key, lines);
    }
}

}  // namespace

Result<Runtime> read_runtime(std::string_view bytes, const std::string& where) {
    const Result<read::Value> root = read::read_toml(bytes, where);
    if (!root) return root.problems();
    std::vector<Line> lines;
    flatten(*root, "", lines);
    std::vector<RuntimeEntry> entries;
    for (const Line& line : lines) entries.push_back({line.key, line.value, line.line});
    return read_runtime(entries, read::name_from(where), where);
}

}  // namespace tilewright
