// The built-in laws of the serving engines' kernels: of a device its own, else those of the nearest measured part of
// its architecture, else the mean of all.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <optional>

#include "read/document.h"
#include "read/embedded.h"
#include "read/files.h"
#include "read/tree_line.h"
#include "tilewright/read.h"
#include "tilewright/serving_kernels.h"

namespace tilewright {
namespace {

constexpr double carried_widening = 1.15, mean_widening = 1.6;  ///< of intervals on parts that were not timed

/// A row of constants, then low and high of the intervals by bound; or the word flash2.
template <class Law>
std::optional<Law> law_of(const read::Value& row, std::span<const LawField<Law>> fields) {
    Law law;
    if constexpr (requires { law.flash2; }) {
        law.flash2 = row.as<std::string>() != nullptr;
        if (law.flash2) return law;
    }
    const read::Array* numbers = row.as<read::Array>();
    if (numbers == nullptr || numbers->size() != fields.size() + 6) return std::nullopt;
    const auto number = [&](std::size_t i) {
        const read::Value& value = (*numbers)[i];
        return value.as<double>() != nullptr ? *value.as<double>() : static_cast<double>(*value.as<std::int64_t>());
    };
    for (std::size_t i = 0; i < fields.size(); ++i) {
        law.*(fields[i].member) = number(i);
        if (number(i) < fields[i].least || number(i) > fields[i].most) return std::nullopt;
    }
    for (std::size_t bound = 0; bound < law.by_bound.size(); ++bound) {
        law.by_bound[bound] = {number(fields.size() + 2 * bound), number(fields.size() + 2 * bound + 1)};
    }
    law.evidence = Evidence::Fitted;
    return law;
}

void widen(LawIntervals& intervals, double factor) {
    for (Interval& interval : intervals.by_bound) interval = {interval.low / factor, interval.high * factor};
}

template <class Law>
struct Measured {
    Device device;
    Law law;
};

/// The geometric mean of all that have constants.
template <class Law>
Law mean_of(std::vector<Measured<Law>> all, std::span<const LawField<Law>> fields) {
    if constexpr (requires { Law::flash2; }) std::erase_if(all, [](const auto& one) { return one.law.flash2; });
    Law mean = all.front().law;
    for (const auto& field : fields) {
        double sum = 0.0;
        for (const auto& one : all) sum += std::log(std::max(1e-4, one.law.*(field.member)));
        mean.*(field.member) = std::clamp(std::exp(sum / static_cast<double>(all.size())), field.least, field.most);
    }
    mean.evidence = Evidence::Assumed;
    widen(mean, mean_widening);
    return mean;
}

/// The law of a device as another's, with what is learnt of that.
template <class Law>
Law learnt_of(Measured<Law> from, std::string_view name) {
    const Knots& knots = std::is_same_v<Law, ProductLaw> ? product_knots : engine_knots;
    from.law.learnt = read::learnt_of(from.device.name, name, knots);
    return std::move(from.law);
}

/// `name` is that of the law in its file.
template <class Law>
Law law_for(const Device& device, const read::Value& file, std::string_view name,
            std::span<const LawField<Law>> fields) {
    const read::Value& section = *file.find(name);
    if (const read::Value* own = section.find(device.name)) {
        if (const std::optional<Law> law = law_of(*own, fields)) return learnt_of<Law>({device, *law}, name);
    }
    std::vector<Measured<Law>> all;
    for (const read::Member& row : *section.as<read::Object>()) {
        const std::optional<Law> law = law_of(row.value, fields);
        assert(law && "the built-in laws are in range");
        all.push_back({read::built_in_device(row.key), *law});
        if (same_chip(all.back().device, device)) return learnt_of(all.back(), name);
    }
    const Measured<Law>* nearest = nullptr;
    for (const auto& one : all) {
        if (one.device.architecture != device.architecture) continue;
        if (nearest == nullptr || read::distance(one.device, device) < read::distance(nearest->device, device))
            nearest = &one;
    }
    if (nearest == nullptr) return mean_of(all, fields);
    Law carried = learnt_of(*nearest, name);
    carried.evidence = Evidence::Transferred;
    widen(carried, carried_widening);
    return carried;
}

const read::Value& built_in(std::string_view name) {
    thread_local std::vector<std::pair<std::string_view, read::Value>> known;
    for (const auto& [file, value] : known) {
        if (file == name) return value;
    }
    for (const embedded::File& file : embedded::kernels()) {
        if (file.name != name) continue;
        Result<read::Value> value = read::read_toml(file.text, std::string(name) + ".toml");
        assert(value && "the built-in laws are readable");
        known.emplace_back(file.name, std::move(*value));
    }
    assert(!known.empty() && known.back().first == name && "every law is built in");
    return known.back().second;
}

}  // namespace

Learnt read::learnt_of(std::string_view device, std::string_view law, const Knots& knots) {
    thread_local std::map<std::string, Learnt> known;
    const std::string name = std::string(device) + ' ' + std::string(law);
    const auto [place, is_new] = known.try_emplace(name);
    if (!is_new) return place->second;
    const auto files = embedded::trees();
    const auto own = std::find_if(files.begin(), files.end(), [&](const auto& one) { return one.name == name; });
    if (own == files.end()) return nullptr;
    Correction correction{
        .first_s = knots.first_s, .knots = knots.count, .trees = {own->trees.begin(), own->trees.end()}};
    return place->second = std::make_shared<const Correction>(std::move(correction));
}

std::shared_ptr<const ServingKernels> serving_kernels(const Device& device) {
    auto kernels = std::make_shared<ServingKernels>();
    const read::Value& products = built_in("products");
    for (std::size_t i = 1; i < quantization_count; ++i) {
        if (static_cast<Quantization>(i) == Quantization::Mxfp8) continue;  // priced as training's fp8
        std::string_view name = quantizations[i].name;
        if (static_cast<Quantization>(i) == Quantization::W4A16Mxfp4) name = "int4_wo";
        if (static_cast<Quantization>(i) == Quantization::W4A8Mxfp4Mxfp8) name = "fp8_block";
        kernels->products[i] = law_for(device, products, name, product_fields());
        if (name != quantizations[i].name) kernels->products[i].evidence = Evidence::Assumed;
    }
    ProductLaw& given = kernels->products[static_cast<std::size_t>(Quantization::Fp8Static)];
    if (given.evidence == Evidence::Assumed) {  // timed on one part only: elsewhere it is the other without quantising,
        const double launch_us = given.launch_us;  // whose launch and the product's were timed as one
        given = kernels->products[static_cast<std::size_t>(Quantization::Fp8)];
        given.quantize_us = given.quantize_passes = given.quantize_row_ns = 0.0;
        given.launch_us = std::min(given.launch_us, launch_us);
    }
    const read::Value& attention = built_in("attention");
    for (std::size_t i = 0; i < attention_walks.size(); ++i) {
        kernels->attention[i] = law_for(device, attention, attention_walks[i], engine_attention_fields());
    }
    return kernels;
}

}  // namespace tilewright
