// How values and text look in messages, and what no reader takes: nothing, or too much.
#include "read/document.h"

#include <charconv>
#include <cmath>

#include "quantity/suggest.h"

namespace tilewright::read {

const Value* Value::find(std::string_view key) const {
    const auto* object = as<Object>();
    if (object == nullptr) return nullptr;
    for (const Member& member : *object) {
        if (member.key == key) return &member.value;
    }
    return nullptr;
}

namespace {

/// Shortest text that reads back as the same double, always recognisable as one: 4096.0, not 4096.
std::string describe_real(double value) {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    std::string text(buffer, end);
    if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

struct Describe {
    std::string operator()(Null) const { return "null"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return describe_real(value); }
    std::string operator()(const std::string& value) const { return quoted(value); }
    std::string operator()(const Array& value) const { return "a list of " + std::to_string(value.size()); }
    std::string operator()(const Object&) const { return "a table"; }
};

}  // namespace

std::string describe(const Value& value) { return std::visit(Describe{}, value.data); }

Problems refuse_size(std::string_view bytes, std::size_t limit, const std::string& where) {
    if (bytes.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        return {{where, 0, "there is nothing in it", "check the path; docs/formats.md shows what is read"}};
    }
    if (bytes.size() <= limit) return {};
    return {
        {where, 0,
         "it has " + std::to_string(bytes.size()) + " bytes, more than the " + std::to_string(limit) + " that are read",
         "check that this is the right file"}};
}

std::string_view without_mark(std::string_view bytes) {
    return bytes.starts_with("\xEF\xBB\xBF") ? bytes.substr(3) : bytes;
}

}  // namespace tilewright::read
