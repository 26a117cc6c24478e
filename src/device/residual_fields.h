// What lies beside a profile's constants, for programs to read: held-out errors, intervals, and what physics leaves
// over.
#pragma once

#include "device/profile_fields.h"

namespace tilewright {

/// The hash by which a profile names its residual: 64-bit FNV-1a of the file's bytes, in hexadecimal.
inline std::string hash_of(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
    std::string text(16, '0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15U];
    return text;
}

template <class Errors, class Visitor>
void visit_errors(Errors& errors, Visitor& visit) {
    visit.list("held_out_errors", errors, [&](auto& line) {
        visit.text({"op", no_unit, words, "gemm, attention, stream or collective"}, line.op);
        visit.text({"by", no_unit, words, "what the group is told apart by"}, line.by);
        visit.text({"group", no_unit, words, "its name"}, line.group);
        visit.count({"points", no_unit, whole, "samples in it"}, line.points);
        visit.number({"mean", no_unit, from_zero, "mean error"}, line.mean);
        visit.number({"median", no_unit, from_zero, "median error"}, line.median);
        visit.number({"p95", no_unit, from_zero, "95th percentile of errors"}, line.p95);
        visit.number({"inside", no_unit, up_to_one, "share of the points within the 90% interval"}, line.inside);
        visit.number({"mean_sheet", no_unit, from_zero, "mean error of the data sheet's roofline"}, line.sheet);
        visit.number({"mean_constant", no_unit, from_zero, "mean error of a constant share of the peak"},
                     line.constant);
        visit.number({"mean_roofline", no_unit, from_zero, "mean error of a fitted roofline and launch"},
                     line.roofline);
    });
}

template <class Profile, class Visitor>
void visit_intervals(Profile& profile, Visitor& visit) {
    static constexpr std::array<std::array<std::string_view, 2>, 3> ends{
        {{"compute_low", "compute_high"}, {"memory_low", "memory_high"}, {"latency_low", "latency_high"}}};
    const auto interval = [&](const std::array<std::string_view, 2>& keys, auto& one) {
        visit.number({keys[0], no_unit, positive, "low end of the 90% interval over the price"}, one.low);
        visit.number({keys[1], no_unit, positive, "high end of the 90% interval over the price"}, one.high);
    };
    visit.group("intervals", [&] {
        for (const auto& [name, which] : names<KernelClass>) {
            auto& of_class = profile.intervals[static_cast<std::size_t>(which)];
            visit.row(name, [&] {
                for (std::size_t bound = 0; bound < ends.size(); ++bound) interval(ends[bound], of_class[bound]);
            });
        }
        visit.row("collective", [&] { interval({"low", "high"}, profile.collective_interval); });
    });
}

template <class Kernels, class Visitor>
void visit_curves(std::string_view name, Kernels& kernels, Visitor& visit) {
    static constexpr std::array<std::string_view, std::tuple_size_v<decltype(Curve::at)>> times{
        "2us", "8us", "32us", "128us", "512us", "2ms", "8ms"};
    visit.group(name, [&] {
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            visit_places({name_of(static_cast<StreamKind>(i)), no_unit, any,
                          "logarithm of what the constants leave over, by the physical time"},
                         times, kernels[i].learnt.at, visit);
        }
    });
}

template <class Correction, class Visitor>
void visit_correction(std::string_view name, Correction& correction, Visitor& visit) {
    visit.group(name, [&] {
        visit.number({"first_s", unit_s, positive, "physical time of the first knot"}, correction.first_s);
        visit.count({"knots", no_unit, whole, "a factor of four apart"}, correction.knots);
        visit.number({"offset", no_unit, any, "logarithm of what is left over everywhere"}, correction.offset);
        visit.number({"of_batches", no_unit, up_to_one, "0: of single products only"}, correction.of_batches);
        visit.trees("trees", correction.trees, gemm_feature_count);
        if (!visit.has("choices", !correction.choices.empty())) return;
        visit.number({"of_others", no_unit, up_to_one, "1: choices are of products that others timed"},
                     correction.of_others);
        visit.trees("choices", correction.choices, choice_feature_count);
    });
}

template <class Profile, class Visitor>
void visit_residual(Profile& profile, Visitor& visit) {
    visit_errors(profile.errors, visit);
    visit_intervals(profile, visit);
    visit_curves("fused_curves", profile.stream.fused, visit);
    visit_curves("eager_curves", profile.stream.eager, visit);
    visit_curves("compiled_curves", profile.stream.compiled, visit);
    visit.group("stream_trees", [&] {  // of kinds that are alike, by the one that stands for them
        for (std::size_t i = 0; i < profile.stream.learnt.size(); ++i) {
            const auto kind = static_cast<StreamKind>(i);
            if (kin_of(kind) == kind) visit.trees(name_of(kind), profile.stream.learnt[i].trees, stream_feature_count);
        }
    });
    visit_correction("gemm_correction", profile.gemm_corrections[0], visit);
    visit_correction("narrow_gemm_correction", profile.gemm_corrections[1], visit);
    if (visit.has("batched_gemm_correction", !profile.gemm_corrections[2].trees.empty()))
        visit_correction("batched_gemm_correction", profile.gemm_corrections[2], visit);
}

}  // namespace tilewright
