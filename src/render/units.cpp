// Unit choice and rounding for people; machine formats never pass through here.
#include "render/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>

namespace tilewright::render {
namespace {

struct Scale {
    const char* name;
    double size;
};

constexpr std::array<Scale, 5> byte_scales = {
    {{"TiB", 0x1p40}, {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}, {"B", 1.0}}};
constexpr std::array<Scale, 4> bandwidth_scales = {{{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"B/s", 1.0}}};
constexpr std::array<Scale, 4> flop_scales = {
    {{"PFLOP/s", 1e15}, {"TFLOP/s", 1e12}, {"GFLOP/s", 1e9}, {"FLOP/s", 1.0}}};
constexpr std::array<Scale, 4> count_scales = {{{"T", 1e12}, {"B", 1e9}, {"M", 1e6}, {"k", 1e3}}};

/// The first scale that the value reaches, at the rounding of three digits; the last one when it reaches none.
const Scale& scale_of(double value, std::span<const Scale> scales) {
    for (const Scale& scale : scales) {
        if (std::abs(value) >= 0.9995 * scale.size) return scale;
    }
    return scales.back();
}

std::string scaled(double value, std::span<const Scale> scales) {
    const Scale& scale = scale_of(value, scales);
    return digits3(value / scale.size) + ' ' + scale.name;
}

}  // namespace

std::string digits3(double value) {
    const double size = std::abs(value);
    if (size >= 99.95 || value == 0.0) return fmt::format("{:.0f}", value);
    if (size >= 9.995) return fmt::format("{:.1f}", value);
    if (size < 0.0995 && size > 1e-9)
        return fmt::format("{:.{}f}", value, 1 - static_cast<int>(std::floor(std::log10(size))));
    return fmt::format("{:.2f}", value);
}

TimeUnit time_unit(Seconds longest) {
    const double size = std::abs(longest.value);
    if (size >= 0.9995) return {"s", 1.0};
    if (size >= 0.9995e-3) return {"ms", 1e-3};
    return {"µs", 1e-6};
}

std::string time_text(Seconds time) {
    const TimeUnit unit = time_unit(time);
    return fmt::format("{} {}", digits3(time.value / unit.seconds), unit.name);
}

std::string interval_text(Seconds low, Seconds high) {
    const TimeUnit unit = time_unit(high);
    return fmt::format("{}–{} {}", digits3(low.value / unit.seconds), digits3(high.value / unit.seconds), unit.name);
}

std::string bytes_text(Bytes bytes) { return scaled(bytes.value, byte_scales); }
std::string bandwidth_text(BytesPerSecond rate) { return scaled(rate.value, bandwidth_scales); }
std::string rate_text(FlopsPerSecond rate) {
    const bool peta = rate.value >= 1e16;  // "1979 TFLOP/s" is how data sheets say it
    return scaled(rate.value, std::span(flop_scales).subspan(peta ? 0 : 1));
}

std::string count_text(double count) {
    if (std::abs(count) < 999.5) return fmt::format("{:.0f}", count);
    return scaled(count, count_scales);
}

std::string grouped_text(double count) {
    std::string digits = fmt::format("{:.0f}", std::abs(count));
    for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
    return count <= -0.5 ? "-" + digits : digits;
}

std::string percent_text(double share) { return fmt::format("{:.1f}%", 100.0 * share); }
std::string signed_text(double value) {
    const int digits = std::abs(value) < 0.05 && std::abs(value) >= 0.005 ? 2 : 1;
    return fmt::format("{:+.{}f}", std::abs(value) < 0.005 ? 0.0 : value, digits);
}
std::string change_text(double share) { return signed_text(100.0 * share) + "%"; }

std::string signed_count_text(std::int64_t count) {
    return (count >= 0 ? "+" : "") + count_text(static_cast<double>(count));
}

std::string speedup_text(double factor) { return fmt::format("{:.2f}×", factor); }
std::string speedup_interval(double low, double high) { return fmt::format("{:.2f}–{:.2f}×", low, high); }

}  // namespace tilewright::render
