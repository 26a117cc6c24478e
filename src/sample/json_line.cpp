#include "sample/json_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tilewright {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether the text is a number as JSON writes one, so that it needs no quotes.
bool is_json_number(std::string_view text) {
    std::size_t at = 0;
    const auto digits = [&] {
        const std::size_t start = at;
        while (at < text.size() && is_digit(text[at])) ++at;
        return at - start;
    };
    if (at < text.size() && text[at] == '-') ++at;
    const std::size_t first = at;
    const std::size_t whole = digits();
    if (whole == 0 || (whole > 1 && text[first] == '0')) return false;
    if (at < text.size() && text[at] == '.') {
        ++at;
        if (digits() == 0) return false;
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
        if (digits() == 0) return false;
    }
    return at == text.size();
}

std::string quoted(std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20) {
            out += "\\u00";
            out += hex[byte >> 4];
            out += hex[byte & 15];
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::string value_text(std::string_view value) { return is_json_number(value) ? std::string(value) : quoted(value); }

void append_utf8(std::string& out, unsigned code) {
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xC0 | (code >> 6));
        out += static_cast<char>(0x80 | (code & 0x3F));
    } else {
        out += static_cast<char>(0xE0 | (code >> 12));
        out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
        out += static_cast<char>(0x80 | (code & 0x3F));
    }
}

/// Walks one line; every step answers whether the text was as expected.
class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    std::optional<JsonLine> line() {
        JsonLine out;
        const bool good = members([&](std::string name) {
            space();
            if (peek() != '{') return value(out.plain.emplace_back(std::move(name), "").second);
            return fields(out.nested.emplace_back(std::move(name), Fields{}).second);
        });
        space();
        if (!good || at_ != text_.size()) return std::nullopt;
        return out;
    }

private:
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void space() {
        while (peek() == ' ' || peek() == '\t' || peek() == '\r') ++at_;
    }
    bool take(char c) {
        space();
        if (peek() != c) return false;
        ++at_;
        return true;
    }

    template <class OneValue>
    bool members(OneValue one_value) {
        if (!take('{')) return false;
        if (take('}')) return true;
        do {
            std::string name;
            space();
            if (!string(name) || !take(':') || !one_value(std::move(name))) return false;
        } while (take(','));
        return take('}');
    }

    bool fields(Fields& out) {
        return members([&](std::string name) {
            space();
            return value(out.emplace_back(std::move(name), "").second);
        });
    }

    bool value(std::string& out) {
        if (peek() == '"') return string(out);
        const std::size_t start = at_;
        while (at_ < text_.size() && std::string_view(",}{[]\" \t\r").find(text_[at_]) == std::string_view::npos) ++at_;
        out = text_.substr(start, at_ - start);
        if (out == "null")
            out.clear();
        else if (out != "true" && out != "false" && !is_json_number(out))
            return false;
        return true;
    }

    bool string(std::string& out) {
        if (!take('"')) return false;
        for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == '"') return ++at_, true;
            if (static_cast<unsigned char>(text_[at_]) < 0x20) return false;
            if (text_[at_] != '\\')
                out += text_[at_];
            else if (!escape(out))
                return false;
        }
        return false;
    }

    bool escape(std::string& out) {
        ++at_;
        constexpr std::string_view from = "\"\\/nrtbf";
        constexpr std::string_view to = "\"\\/\n\r\t\b\f";
        if (const std::size_t i = from.find(peek()); peek() != '\0' && i != std::string_view::npos) {
            out += to[i];
            return true;
        }
        unsigned code = 0;
        if (peek() != 'u' || at_ + 4 >= text_.size()) return false;
        const char* start = text_.data() + at_ + 1;
        const auto [end, error] = std::from_chars(start, start + 4, code, 16);
        if (error != std::errc() || end != start + 4) return false;
        at_ += 4;
        append_utf8(out, code);
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

std::string JsonLine::text(std::string_view name) const { return std::string(find_field(plain, name).value_or("")); }

double JsonLine::number(std::string_view name) const {
    const std::string_view digits = find_field(plain, name).value_or("0");
    double value = 0.0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() ? value : 0.0;
}

const Fields& JsonLine::object(std::string_view name) const {
    static const Fields none;
    const auto found =
        std::find_if(nested.begin(), nested.end(), [&](const auto& member) { return member.first == name; });
    return found == nested.end() ? none : found->second;
}

std::optional<JsonLine> parse_json_line(std::string_view line) { return Parser(line).line(); }

void JsonWriter::member(std::string_view name) {
    if (!body_.empty()) body_ += ',';
    body_ += quoted(name) + ":";
}

JsonWriter& JsonWriter::text(std::string_view name, std::string_view value) {
    if (value.empty()) return *this;
    member(name);
    body_ += quoted(value);
    return *this;
}

JsonWriter& JsonWriter::number(std::string_view name, double value) {
    if (value == 0.0 || !std::isfinite(value)) return *this;
    member(name);
    body_ += number_text(value);
    return *this;
}

JsonWriter& JsonWriter::object(std::string_view name, const Fields& fields) {
    if (fields.empty()) return *this;
    member(name);
    std::string inside;
    for (const auto& [field, value] : fields) {
        if (!inside.empty()) inside += ',';
        inside += quoted(field);
        inside += ':';
        inside += value_text(value);
    }
    body_ += "{" + inside + "}";
    return *this;
}

std::string number_text(double value) {
    char buffer[32];
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
    return error == std::errc() ? std::string(buffer, end) : "0";
}

}  // namespace tilewright
