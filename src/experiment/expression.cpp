// A parser of four operators, brackets and pow2(x), the largest power of two in x, at most 64.
#include "experiment/expression.h"

#include <cctype>
#include <cstdint>

#include "quantity/number.h"
#include "tilewright/quantity.h"

namespace tilewright {
namespace {

std::optional<std::int64_t> whole(std::string_view text) { return number_in<std::int64_t>(text); }

class Expression {
public:
    Expression(std::string_view text, const Fields& variables) : rest_(text), variables_(variables) {}

    std::int64_t value() {
        const std::int64_t result = sum();
        skip_blanks();
        if (!rest_.empty()) literal = true;
        return result;
    }

    bool literal = false;  ///< it is no expression of known variables
    bool broken = false;   ///< a quotient is not whole, or a value leaves 64 bits

private:
    std::int64_t sum() {
        std::int64_t left = product();
        while (true) {
            if (take('+')) {
                broken |= __builtin_add_overflow(left, product(), &left);
            } else if (take('-')) {
                broken |= __builtin_sub_overflow(left, product(), &left);
            } else {
                return left;
            }
        }
    }

    std::int64_t product() {
        std::int64_t left = atom();
        while (true) {
            if (take('*')) {
                broken |= __builtin_mul_overflow(left, atom(), &left);
            } else if (take('/')) {
                left = quotient(left, atom());
            } else {
                return left;
            }
        }
    }

    std::int64_t quotient(std::int64_t a, std::int64_t b) {
        if (b <= 0 || a % b != 0) {
            broken = true;
            return 1;
        }
        return a / b;
    }

    std::int64_t atom() {
        if (++depth_ > most_nested) literal = true;
        if (literal) return 1;
        if (take('(')) return bracketed();
        const std::string_view word = name();
        if (word.empty()) literal = true;
        if (word == "pow2" && take('(')) return power_of_two(bracketed());
        if (const auto number = whole(word)) return *number;
        const auto number = whole(find_field(variables_, word).value_or(""));
        if (!number) literal = true;
        return number.value_or(1);
    }

    std::int64_t bracketed() {
        const std::int64_t inside = sum();
        if (!take(')')) literal = true;
        return inside;
    }

    std::int64_t power_of_two(std::int64_t value) {
        if (value <= 0) broken = true;
        return value <= 0 ? 1 : power_of_two_in(value, 64);
    }

    std::string_view name() {
        skip_blanks();
        std::size_t length = 0;
        while (length < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[length])) != 0)) ++length;
        const std::string_view word = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return word;
    }

    bool take(char mark) {
        skip_blanks();
        if (rest_.empty() || rest_.front() != mark) return false;
        rest_.remove_prefix(1);
        return true;
    }

    void skip_blanks() {
        while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    }

    static constexpr int most_nested = 200;  ///< terms of one expression

    std::string_view rest_;
    const Fields& variables_;
    int depth_ = 0;
};

}  // namespace

std::optional<std::string> evaluate(std::string_view text, const Fields& variables) {
    if (const auto value = find_field(variables, text)) return std::string(*value);
    Expression expression(text, variables);
    const std::int64_t value = expression.value();
    if (expression.literal) return std::string(text);
    if (expression.broken) return std::nullopt;
    return std::to_string(value);
}

std::optional<double> evaluate_number(std::string_view text, const Fields& variables) {
    const auto value = whole(evaluate(text, variables).value_or(""));
    if (!value || *value <= 0) return std::nullopt;
    return static_cast<double>(*value);
}

}  // namespace tilewright
