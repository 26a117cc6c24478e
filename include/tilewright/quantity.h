// Units. A number that has a unit carries it in its type, so that bytes are never added to seconds and
// a rate is never read as a time. Values are doubles: counts stay exact to 2^53 and never overflow, which
// a product of three dimensions of up to 2^31 would in 64 bits. Exact integer counts (parameters) use the checked
// arithmetic.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

namespace tilewright {

/// A double tagged with its unit; only sums, scalings and the conversions below are defined.
template <class Unit>
struct Quantity {
    double value = 0.0;

    constexpr Quantity& operator+=(Quantity other) {
        value += other.value;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity other) {
        value -= other.value;
        return *this;
    }
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
    friend constexpr Quantity operator*(Quantity a, double factor) { return {a.value * factor}; }
    friend constexpr Quantity operator*(double factor, Quantity a) { return {a.value * factor}; }
    friend constexpr Quantity operator/(Quantity a, double divisor) { return {a.value / divisor}; }
    friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
    friend constexpr auto operator<=>(Quantity, Quantity) = default;
};

using Seconds = Quantity<struct SecondUnit>;
using Bytes = Quantity<struct ByteUnit>;
using Flops = Quantity<struct FlopUnit>;
using Hertz = Quantity<struct HertzUnit>;
using Watts = Quantity<struct WattUnit>;
using BytesPerSecond = Quantity<struct BytePerSecondUnit>;
using FlopsPerSecond = Quantity<struct FlopPerSecondUnit>;

constexpr Seconds operator/(Bytes bytes, BytesPerSecond rate) { return {bytes.value / rate.value}; }
constexpr Seconds operator/(Flops flops, FlopsPerSecond rate) { return {flops.value / rate.value}; }
constexpr BytesPerSecond operator/(Bytes bytes, Seconds time) { return {bytes.value / time.value}; }
constexpr FlopsPerSecond operator/(Flops flops, Seconds time) { return {flops.value / time.value}; }

constexpr Seconds microseconds(double us) { return {us * 1e-6}; }
constexpr double in_microseconds(Seconds time) { return time.value * 1e6; }

/// The quotient rounded up; both positive.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// `value` rounded up to a multiple of `step`; both positive, the result must fit.
constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) { return ceil_div(value, step) * step; }

/// The largest power of two that divides `value`, at most `cap`; `value` positive.
constexpr std::int64_t power_of_two_in(std::int64_t value, std::int64_t cap) {
    const std::int64_t lowest_bit = value & -value;
    return lowest_bit < cap ? lowest_bit : cap;
}

/// An exact integer sum of products that remembers whether it ever left 64 bits.
class CheckedCount {
public:
    constexpr CheckedCount() = default;
    constexpr CheckedCount(std::int64_t value) : value_(value) {}  // NOLINT: a plain count is a checked count

    friend constexpr CheckedCount operator+(CheckedCount a, CheckedCount b) {
        CheckedCount sum;
        sum.overflowed_ = __builtin_add_overflow(a.value_, b.value_, &sum.value_) || a.overflowed_ || b.overflowed_;
        return sum;
    }
    friend constexpr CheckedCount operator*(CheckedCount a, CheckedCount b) {
        CheckedCount product;
        product.overflowed_ =
            __builtin_mul_overflow(a.value_, b.value_, &product.value_) || a.overflowed_ || b.overflowed_;
        return product;
    }
    constexpr CheckedCount& operator+=(CheckedCount other) { return *this = *this + other; }

    /// Empty when the exact value does not fit in 64 bits.
    constexpr std::optional<std::int64_t> value() const {
        return overflowed_ ? std::nullopt : std::optional<std::int64_t>(value_);
    }

private:
    std::int64_t value_ = 0;
    bool overflowed_ = false;
};

}  // namespace tilewright
