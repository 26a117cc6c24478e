// What of the samples a fit believes: that they are of the device asked for, and that a kernel can have taken the time.
#include <algorithm>
#include <cctype>
#include <limits>

#include "tilewright/fit.h"

namespace tilewright {
namespace {

/// Lower-case runs of letters and digits: "NVIDIA A100-SXM4-80GB" gives nvidia, a100, sxm4, 80gb.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0) {
            words.back() += static_cast<char>(std::tolower(byte));
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    return words;
}

bool has_digit(std::string_view word) { return word.find_first_of("0123456789") != std::string_view::npos; }
bool is_count(std::string_view word) {
    return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

double flops_per_s(const Observation& seen) { return flops(seen.op).value / seen.time_s; }

double peak_of(const Observation& seen, const Device& device) {
    const Gemm* gemm = std::get_if<Gemm>(&seen.op.work);
    const Attention* attention = std::get_if<Attention>(&seen.op.work);
    if (gemm == nullptr && attention == nullptr) return std::numeric_limits<double>::infinity();
    const Precision precision = gemm != nullptr ? gemm->precision : attention->precision;
    const auto& peak = device.peak[static_cast<std::size_t>(precision)];
    return peak ? peak->value : std::numeric_limits<double>::infinity();
}

}  // namespace

bool is_called(const Device& device, std::string_view name) {
    const std::vector<std::string> own = words_of(device.name), given = words_of(name);
    const auto model = std::max_element(own.begin(), own.end(), [](const std::string& a, const std::string& b) {
        return (has_digit(a) ? a.size() : 0) < (has_digit(b) ? b.size() : 0);
    });
    if (std::find(given.begin(), given.end(), *model) == given.end()) return false;
    return std::all_of(own.begin(), own.end(), [&](const std::string& word) {  // a size of memory, where both state one
        return word == *model || !is_count(word) ||
               std::none_of(given.begin(), given.end(), [&](const std::string& one) {
                   return one.ends_with("gb") && has_digit(one) && one != word + "gb";
               });
    });
}

bool plausible(const Observation& observation, const Device& device) {
    constexpr double shortest_s = 2e-7;    // an empty kernel of a graph takes five times that
    constexpr double fastest_clock = 1.5;  // of the sheet's boost clock; parts top out at 1.1 times it
    return observation.time_s >= shortest_s && flops_per_s(observation) <= fastest_clock * peak_of(observation, device);
}

}  // namespace tilewright
