// How values and text look in messages, and what no reader takes: nothing, or too much.
#include "read/document.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "quantity/printable.h"
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

Problems refuse_not_utf8(std::string_view bytes, const std::string& where) {
    for (std::size_t at = 0; at < bytes.size();) {
        const auto byte = static_cast<signed char>(bytes[at]);
        const std::size_t length = byte > 0 ? 1 : byte == 0 ? 0 : sequence_length(bytes.substr(at));
        if (length == 0) {
            const auto line = 1 + std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at), '\n');
            return {{where, static_cast<int>(line), "this is not UTF-8 text", "check that this is the right file"}};
        }
        at += length;
    }
    return {};
}

std::string name_from(const std::string& where) {
    if (where == "-") return "stdin";
    const std::size_t slash = where.find_last_of('/');
    const std::string file = slash == std::string::npos ? where : where.substr(slash + 1);
    const std::size_t dot = file.find_last_of('.');
    return dot == std::string::npos || dot == 0 ? file : file.substr(0, dot);
}

}  // namespace tilewright::read
