// TOML through toml++, which is seen here and nowhere else, and which throws nothing.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_FLOAT_CHARCONV 1                        // streams take want of memory for a bad number
#define TOML_ASSERT(condition) static_cast<void>(0)  // it asserts on some malformed keys before reporting them
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "read/document.h"

namespace tilewright::read {
namespace {

// toml++ limits how deep values nest but not how deep dotted keys do, and frees its tree recursively. A tree is no
// deeper than its nested values and its dots together.
constexpr std::ptrdiff_t max_dots = 2000;
constexpr std::size_t max_toml_bytes = 1u << 18;

int line_of(const toml::source_region& region) { return static_cast<int>(region.begin.line); }

template <class T>
std::string printed(const T& value) {
    std::ostringstream out;
    out << value;
    return out.str();
}

class Convert {
public:
    explicit Convert(const std::string& where) : where_(where) {}

    Value value(const toml::node& node, int depth) {
        Value out;
        out.line = line_of(node.source());
        if (depth > max_document_depth) {
            if (problems.empty()) problems.push_back(too_deep(out.line));
        } else if (const auto* table = node.as_table()) {
            out.data = object(*table, depth);
        } else if (const auto* array = node.as_array()) {
            Array& items = out.data.emplace<Array>();
            for (const toml::node& item : *array) items.push_back(value(item, depth + 1));
        } else {
            scalar(node, out);
        }
        return out;
    }

    Problems problems;

private:
    /// toml++ keeps keys sorted by name; we keep them as they were written.
    Object object(const toml::table& table, int depth) {
        std::vector<std::pair<toml::source_position, Member>> members;
        for (const auto& [key, node] : table) {
            Member member{std::string(key.str()), value(node, depth + 1)};
            member.value.line = line_of(key.source());
            members.emplace_back(key.source().begin, std::move(member));
        }
        std::stable_sort(members.begin(), members.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        Object out;
        for (auto& entry : members) out.push_back(std::move(entry.second));
        return out;
    }

    static void scalar(const toml::node& node, Value& out) {
        if (const auto* text = node.as_string()) {
            out.data = text->get();
        } else if (const auto* integer = node.as_integer()) {
            out.data = integer->get();
        } else if (const auto* real = node.as_floating_point()) {
            out.data = real->get();
        } else if (const auto* flag = node.as_boolean()) {
            out.data = flag->get();
        } else if (const auto* date = node.as_date()) {
            out.data = printed(date->get());
        } else if (const auto* time = node.as_time()) {
            out.data = printed(time->get());
        } else if (const auto* moment = node.as_date_time()) {
            out.data = printed(moment->get());
        }
    }

    Problem too_deep(int line) const {
        return {where_, line, "values are nested more than " + std::to_string(max_document_depth) + " deep",
                "flatten it; docs/formats.md shows what is read"};
    }

    const std::string& where_;
};

}  // namespace

Result<Value> read_toml(std::string_view bytes, const std::string& where) {
    if (Problems refused = refuse_size(bytes, max_toml_bytes, where); !refused.empty()) return refused;
    if (Problems refused = refuse_not_utf8(bytes, where); !refused.empty()) return refused;
    if (std::count(bytes.begin(), bytes.end(), '.') > max_dots) {
        return Problem{where, 0, "it has more than " + std::to_string(max_dots) + " dots", "shorten it"};
    }
    const toml::parse_result parsed = toml::parse(bytes, std::string_view{});
    if (!parsed) {
        const toml::parse_error& error = parsed.error();
        return Problem{where, line_of(error.source()), "not TOML: " + std::string(error.description()),
                       "correct the file there; docs/formats.md and docs/shapes.md show what is read"};
    }
    Convert convert(where);
    Value root = convert.value(parsed.table(), 0);
    root.line = 1;
    if (!convert.problems.empty()) return convert.problems;
    return root;
}

}  // namespace tilewright::read
