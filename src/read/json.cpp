// A strict JSON parser that keeps line numbers. Recursive, to a fixed depth; stops at the first fault of syntax, and
// reports every key given twice.
#include <charconv>
#include <unordered_set>

#include "quantity/suggest.h"
#include "read/document.h"
#include "read/utf8.h"

namespace tilewright::read {
namespace {

constexpr char end_of_text = '\0';

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20; }

class JsonParser {
public:
    JsonParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

    Result<Value> parse() {
        Value root;
        skip_space();
        if (!value(root, 0)) return problems_;
        skip_space();
        if (at_ < text_.size()) fail("there is more after the end of the JSON value: " + seen(), "remove it");
        if (!problems_.empty()) return problems_;
        return root;
    }

private:
    bool value(Value& out, int depth) {
        out.line = line_;
        if (depth > max_document_depth) {
            return fail("values are nested more than " + std::to_string(max_document_depth) + " deep");
        }
        if (++count_ > max_document_values) {
            return fail("there are more than " + std::to_string(max_document_values) + " values");
        }
        switch (peek()) {
            case '{': return object(out.data.emplace<Object>(), depth);
            case '[': return array(out.data.emplace<Array>(), depth);
            case '"': return string(out.data.emplace<std::string>());
            case 't': return word("true") && (out.data = true, true);
            case 'f': return word("false") && (out.data = false, true);
            case 'n': return word("null");
            default: return number(out);
        }
    }

    bool object(Object& out, int depth) {
        ++at_;
        skip_space();
        if (take('}')) return true;
        do {
            skip_space();
            Member member;
            if (peek() != '"') return fail("expected a key in double quotes, found " + seen());
            if (!string(member.key)) return false;
            skip_space();
            if (!take(':')) return fail("expected ':' after the key " + quoted(member.key) + ", found " + seen());
            skip_space();
            if (!value(member.value, depth + 1)) return false;
            out.push_back(std::move(member));
            skip_space();
        } while (take(','));
        if (!take('}')) return fail("expected ',' or '}', found " + seen());
        report_repeated(out);
        return true;
    }

    bool array(Array& out, int depth) {
        ++at_;
        skip_space();
        if (take(']')) return true;
        do {
            skip_space();
            if (!value(out.emplace_back(), depth + 1)) return false;
            skip_space();
        } while (take(','));
        return take(']') || fail("expected ',' or ']', found " + seen());
    }

    bool string(std::string& out) {
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

    bool escape(std::string& out) {
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

    bool unicode(std::string& out) {
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

    bool four_digits(std::uint32_t& out) {
        const std::string_view digits = text_.substr(at_, 4);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
        if (digits.size() < 4 || error != std::errc{} || end != digits.data() + 4) {
            return fail("\\u needs four hexadecimal digits");
        }
        at_ += 4;
        return true;
    }

    bool number(Value& out) {
        const std::size_t start = at_;
        take('-');
        const bool leading_zero = peek() == '0';
        const std::size_t whole = digits();
        if (whole == 0 || (leading_zero && whole > 1)) {
            at_ = start;
            return fail("expected a value, found " + seen());
        }
        bool integer = true;
        if (take('.')) {
            integer = false;
            if (digits() == 0) return fail("a digit must follow the decimal point");
        }
        if (take('e') || take('E')) {
            integer = false;
            if (!take('+')) take('-');
            if (digits() == 0) return fail("a digit must follow the exponent sign");
        }
        return store_number(out, text_.substr(start, at_ - start), integer);
    }

    bool store_number(Value& out, std::string_view digits, bool integer) {
        const char* end = digits.data() + digits.size();
        std::int64_t whole = 0;
        if (integer && std::from_chars(digits.data(), end, whole).ec == std::errc{}) {
            out.data = whole;
            return true;
        }
        double real = 0;
        if (std::from_chars(digits.data(), end, real).ec != std::errc{}) return fail("a number is out of range");
        out.data = real;
        return true;
    }

    bool word(std::string_view expected) {
        if (!text_.substr(at_).starts_with(expected)) return fail("expected a value, found " + seen());
        at_ += expected.size();
        return true;
    }

    std::size_t digits() {
        const std::size_t start = at_;
        while (peek() >= '0' && peek() <= '9') ++at_;
        return at_ - start;
    }

    void skip_space() {
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == '\n') {
                ++line_;
            } else if (c != ' ' && c != '\t' && c != '\r') {
                return;
            }
        }
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : end_of_text; }

    bool take(char expected) {
        if (at_ >= text_.size() || text_[at_] != expected) return false;
        ++at_;
        return true;
    }

    std::string seen() const {
        if (at_ >= text_.size()) return "the end of the file";
        return quoted(text_.substr(at_, text_.substr(at_, 12).find_first_of(" \t\r\n,")));
    }

    void report_repeated(const Object& object) {
        std::unordered_set<std::string_view> keys;
        for (const Member& member : object) {
            if (keys.insert(member.key).second) continue;
            problems_.push_back(
                {where_, member.value.line, "the key " + quoted(member.key) + " is given twice", "remove one of them"});
        }
    }

    bool fail(std::string what, std::string fix = {}) {
        if (fix.empty()) fix = at_ < text_.size() ? "correct the file there" : "the file seems to be cut off";
        problems_.push_back({where_, line_, "not JSON: " + std::move(what), std::move(fix)});
        return false;
    }

    std::string_view text_;
    const std::string& where_;
    Problems problems_;
    std::size_t at_ = 0;
    std::size_t count_ = 0;
    int line_ = 1;
};

}  // namespace

Result<Value> read_json(std::string_view bytes, const std::string& where) {
    if (Problems refused = refuse_size(bytes, max_document_bytes, where); !refused.empty()) return refused;
    if (Problems refused = refuse_not_utf8(bytes, where); !refused.empty()) return refused;
    return JsonParser(without_mark(bytes), where).parse();
}

}  // namespace tilewright::read
