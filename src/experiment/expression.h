// Sizes as the paper writes them: "b*a/t", "3*h", "pow2(h/a)". Whole numbers only: what does not divide has no value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tilewright/sample.h"

namespace tilewright {

/// The value of an expression in the variables; a text that is no expression of known variables stands for itself, as
/// words do. Empty when a quotient is not whole, nothing divides by zero or the value leaves 64 bits.
std::optional<std::string> evaluate(std::string_view text, const Fields& variables);

/// The same as a positive number.
std::optional<double> evaluate_number(std::string_view text, const Fields& variables);

}  // namespace tilewright
