// A walk over JSON text that keeps the line. Each step takes one thing and says whether it was there; what was wrong is
// in `problems`. Whoever walks decides what to keep: the tree of document.h, or the members of a sample.
#pragma once

#include <string>
#include <string_view>

#include "tilewright/result.h"

namespace tilewright::read {

class JsonWalk {
public:
    JsonWalk(std::string_view text, const std::string& where, int line = 1) : text_(text), where_(where), line_(line) {}

    /// The first character of what comes next, blanks skipped: `{`, `[`, `"`, `t`, `f`, `n`, a digit, `-`; 0 at the
    /// end.
    char next() {
        skip_space();
        return peek();
    }
    int line() const { return line_; }

    /// An object; `member(key)` takes each value.
    template <class Member>
    bool object(Member member) {
        if (!open('{')) return false;
        if (closes('}')) return true;
        do {
            std::string key;
            if (next() != '"') return fail("expected a key in double quotes, found " + seen());
            if (!string(key)) return false;
            if (next() != ':') return fail("expected ':' after the key " + shown(key) + ", found " + seen());
            ++at_;
            if (!member(std::move(key))) return false;
        } while (closes(','));
        return closes('}') || fail("expected ',' or '}', found " + seen());
    }

    /// A list; `element()` takes each value.
    template <class Element>
    bool array(Element element) {
        if (!open('[')) return false;
        if (closes(']')) return true;
        do {
            if (!element()) return false;
        } while (closes(','));
        return closes(']') || fail("expected ',' or ']', found " + seen());
    }

    bool string(std::string& out);          ///< appends what the string says
    bool number(std::string_view& digits);  ///< as it is written
    bool word(std::string_view expected);   ///< true, false, null
    bool scalar(std::string& out);          ///< any of these as text, null as none
    bool skip(int depth = 0);               ///< any value
    bool end();                             ///< nothing more but blanks
    bool fail(std::string what, std::string fix = {});

    Problems problems;

private:
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool open(char bracket);
    bool closes(char expected);
    bool take(char expected);
    bool escape(std::string& out);
    bool unicode(std::string& out);
    bool four_digits(std::uint32_t& out);
    std::size_t digits();
    void skip_space();
    std::string seen() const;
    static std::string shown(std::string_view key);

    std::string_view text_;
    const std::string& where_;
    std::size_t at_ = 0;
    int line_ = 1;
};

}  // namespace tilewright::read
