// A strict walk over JSON (RFC 8259), and the tree made by it: recursive to a fixed depth, stopped by the first fault
// of syntax, every key given twice reported.
#include "read/json.h"

#include <charconv>
#include <unordered_set>

#include "quantity/suggest.h"
#include "read/document.h"

namespace tilewright::read {
namespace {

constexpr char end_of_text = '\0';

/// Appends one code point, which is below 0x110000 and no surrogate.
void append_utf8(std::string& out, std::uint32_t code) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xC0 | (code >> 6));
        tail(0);
    } else if (code < 0x10000) {
        out += static_cast<char>(0xE0 | (code >> 12));
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xF0 | (code >> 18));
        tail(12);
        tail(6);
        tail(0);
    }
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20; }

/// Everything there is, as a tree.
class JsonTree {
public:
    JsonTree(std::string_view text, const std::string& where) : where_(where), walk_(text, where) {}

    Result<Value> read() {
        Value root;
        if (!value(root, 0) || !walk_.end() || !walk_.problems.empty()) return walk_.problems;
        return root;
    }

private:
    bool value(Value& out, int depth) {
        const char first = walk_.next();
        out.line = walk_.line();
        if (depth > max_document_depth) {
            return walk_.fail("values are nested more than " + std::to_string(max_document_depth) + " deep");
        }
        if (++count_ > max_document_values) {
            return walk_.fail("there are more than " + std::to_string(max_document_values) + " values");
        }
        switch (first) {
            case '{': return object(out.data.emplace<Object>(), depth);
            case '[': {
                Array& list = out.data.emplace<Array>();
                return walk_.array([&] { return value(list.emplace_back(), depth + 1); });
            }
            case '"': return walk_.string(out.data.emplace<std::string>());
            case 't': return walk_.word("true") && (out.data = true, true);
            case 'f': return walk_.word("false") && (out.data = false, true);
            case 'n': return walk_.word("null");
            default: return number(out);
        }
    }

    bool object(Object& out, int depth) {
        const bool whole = walk_.object([&](std::string key) {
            Member& member = out.emplace_back();
            member.key = std::move(key);
            return value(member.value, depth + 1);
        });
        if (whole) report_repeated(out);
        return whole;
    }

    bool number(Value& out) {
        std::string_view digits;
        if (!walk_.number(digits)) return false;
        const char* end = digits.data() + digits.size();
        std::int64_t whole = 0;
        const bool integer = digits.find_first_of(".eE") == std::string_view::npos;
        if (integer && std::from_chars(digits.data(), end, whole).ec == std::errc{}) {
            out.data = whole;
            return true;
        }
        double real = 0;
        if (std::from_chars(digits.data(), end, real).ec != std::errc{}) return walk_.fail("a number is out of range");
        out.data = real;
        return true;
    }

    void report_repeated(const Object& object) {
        std::unordered_set<std::string_view> keys;
        for (const Member& member : object) {
            if (keys.insert(member.key).second) continue;
            walk_.problems.push_back(
                {where_, member.value.line, "the key " + quoted(member.key) + " is given twice", "remove one of them"});
        }
    }

    const std::string& where_;
    JsonWalk walk_;
    std::size_t count_ = 0;
};

}  // namespace

bool JsonWalk::string(std::string& out) {
    ++at_;
    while (true) {
        std::size_t stop = at_;
        while (stop < text_.size() && text_[stop] != '"' && text_[stop] != '\\' && !is_control(text_[stop])) ++stop;
        if (stop == text_.size() || is_control(text_[stop])) {
            return fail("a string is not closed on its line", "end it with '\"'; write a line break as \\n");
        }
        out.append(text_.substr(at_, stop - at_));
        at_ = stop + 1;
        if (text_[stop] == '"') return true;
        if (!escape(out)) return false;
    }
}

bool JsonWalk::escape(std::string& out) {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    const char letter = peek();
    ++at_;
    if (letter == 'u') return unicode(out);
    const std::size_t index = letters.find(letter);
    if (letter == end_of_text || index == std::string_view::npos) return fail("unknown escape in a string");
    out += meanings[index];
    return true;
}

bool JsonWalk::unicode(std::string& out) {
    std::uint32_t code = 0;
    std::uint32_t low = 0;
    if (!four_digits(code)) return false;
    if (code >= 0xD800 && code < 0xDC00) {
        if (text_.substr(at_, 2) != "\\u") return fail("half of a surrogate pair in a string");
        at_ += 2;
        if (!four_digits(low)) return false;
        if (low < 0xDC00 || low > 0xDFFF) return fail("half of a surrogate pair in a string");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
        return fail("half of a surrogate pair in a string");
    }
    append_utf8(out, code);
    return true;
}

bool JsonWalk::four_digits(std::uint32_t& out) {
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
    if (digits.size() < 4 || error != std::errc{} || end != digits.data() + 4) {
        return fail("\\u needs four hexadecimal digits");
    }
    at_ += 4;
    return true;
}

bool JsonWalk::number(std::string_view& out) {
    const std::size_t start = at_;
    take('-');
    const bool leading_zero = peek() == '0';
    const std::size_t whole = digits();
    if (whole == 0 || (leading_zero && whole > 1)) {
        at_ = start;
        return fail("expected a value, found " + seen());
    }
    if (take('.') && digits() == 0) return fail("a digit must follow the decimal point");
    if (take('e') || take('E')) {
        if (!take('+')) take('-');
        if (digits() == 0) return fail("a digit must follow the exponent sign");
    }
    out = text_.substr(start, at_ - start);
    return true;
}

bool JsonWalk::word(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) return fail("expected a value, found " + seen());
    at_ += expected.size();
    return true;
}

bool JsonWalk::scalar(std::string& out) {
    out.clear();
    std::string_view digits;
    switch (next()) {
        case '"': return string(out);
        case 't': return out = "true", word(out);
        case 'f': return out = "false", word(out);
        case 'n': return word("null");
        default: break;
    }
    if (!number(digits)) return false;
    out = digits;
    return true;
}

bool JsonWalk::skip(int depth) {
    std::string passed;
    if (depth > max_document_depth) return fail("values are nested too deep");
    switch (next()) {
        case '{': return object([&](const std::string&) { return skip(depth + 1); });
        case '[': return array([&] { return skip(depth + 1); });
        default: return scalar(passed);
    }
}

bool JsonWalk::end() {
    skip_space();
    return at_ == text_.size() || fail("there is more after the end of the JSON value: " + seen(), "remove it");
}

std::size_t JsonWalk::digits() {
    const std::size_t start = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ - start;
}

void JsonWalk::skip_space() {
    for (; at_ < text_.size(); ++at_) {
        const char c = text_[at_];
        if (c == '\n') {
            ++line_;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

bool JsonWalk::take(char expected) {
    if (at_ >= text_.size() || text_[at_] != expected) return false;
    ++at_;
    return true;
}

bool JsonWalk::open(char bracket) {
    if (next() != bracket) return fail(std::string("expected '") + bracket + "', found " + seen());
    ++at_;
    return true;
}

bool JsonWalk::closes(char expected) {
    skip_space();
    return take(expected);
}

std::string JsonWalk::seen() const {
    if (at_ >= text_.size()) return "the end of the file";
    return quoted(text_.substr(at_, text_.substr(at_, 12).find_first_of(" \t\r\n,")));
}

std::string JsonWalk::shown(std::string_view key) { return quoted(key); }

bool JsonWalk::fail(std::string what, std::string fix) {
    if (fix.empty()) fix = at_ < text_.size() ? "correct the file there" : "the file seems to be cut off";
    problems.push_back({where_, line_, "not JSON: " + std::move(what), std::move(fix)});
    return false;
}

Result<Value> read_json(std::string_view bytes, const std::string& where) {
    if (Problems refused = refuse_size(bytes, max_document_bytes, where); !refused.empty()) return refused;
    if (Problems refused = refuse_not_utf8(bytes, where); !refused.empty()) return refused;
    return JsonTree(without_mark(bytes), where).read();
}

}  // namespace tilewright::read
