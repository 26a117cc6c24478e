// The one list of what a profile's file holds, by name, in order; the writer and the reader both walk it, so what one
// writes the other reads. A visitor has: number, count, text, group, list, trees.
#pragma once

#include <array>
#include <string>

#include "tilewright/device_names.h"
#include "tilewright/profile.h"

namespace tilewright {

inline constexpr std::string_view profile_schema = "tilewright.profile/1";

inline constexpr std::array<std::string_view, gemm_family_count> gemm_family_names{
    "gemm", "gemm_rows_of_4_bytes", "gemm_rows_of_2_bytes", "gemm_tf32", "gemm_vector"};

template <class Ladder, class Visitor>
void visit_ladder(std::string_view name, Ladder& ladder, Visitor& visit) {
    static constexpr std::array<std::string_view, 7> rows{"2_bytes",  "4_bytes",  "8_bytes",  "16_bytes",
                                                          "32_bytes", "64_bytes", "128_bytes"};
    visit.group(name, [&] {
        for (std::size_t i = 0; i < rows.size(); ++i) visit.number(rows[i], ladder[i]);
    });
}

template <class Gemm, class Visitor>
void visit_gemm(std::string_view name, Gemm& gemm, Visitor& visit) {
    visit.group(name, [&] {
        visit.number("launch_s", gemm.launch.value);
        visit.number("fill_s", gemm.fill.value);
        visit.number("split_overhead_s", gemm.split_overhead.value);
        visit.number("split_bandwidth_bytes_per_s", gemm.split_bandwidth.value);
        visit.count("max_split_k", gemm.max_split_k);
        visit.number("l2_bandwidth_bytes_per_s", gemm.l2_bandwidth.value);
        visit.number("shared_overhead", gemm.shared_overhead);
        visit.number("exposed_store", gemm.exposed_store);
        visit.number("exposed_load", gemm.exposed_load);
        visit.number("bandwidth", gemm.bandwidth);
        visit.group("layout", [&] {
            static constexpr std::array<std::string_view, 3> words{"TN", "NN", "NT"};
            for (std::size_t i = 0; i < words.size(); ++i) visit.number(words[i], gemm.layout[i]);
        });
        visit_ladder("output_rows", gemm.output, visit);
        visit_ladder("reduced_rows", gemm.reduced, visit);
        visit_ladder("output_loads", gemm.output_loads.rows, visit);
        visit.number("output_stray", gemm.output_loads.stray);
        visit_ladder("reduced_loads", gemm.reduced_loads.rows, visit);
        visit.number("reduced_stray", gemm.reduced_loads.stray);
        visit.list("tiles", gemm.tiles, [&](auto& tile) {
            visit.count("m", tile.m);
            visit.count("n", tile.n);
            visit.count("k", tile.k);
            visit.count("resident", tile.resident);
            visit.number("efficiency", tile.efficiency);
            visit.number("overhead_s", tile.overhead.value);
            visit.number("step_s", tile.step.value);
        });
    });
}

template <class Kernel, class Visitor>
void visit_walk(std::string_view name, Kernel& kernel, Visitor& visit) {
    visit.group(name, [&] {
        visit.count("own_rows", kernel.own);
        visit.count("step_rows", kernel.step);
        visit.number("fraction", kernel.fraction);
        visit.number("block_s", kernel.block.value);
        visit.number("masked_steps", kernel.masked);
        visit.number("unmasked", kernel.unmasked);
        visit.number("ragged", kernel.ragged);
        visit.number("narrow_block", kernel.narrow_block);
        visit.number("narrow_walk", kernel.narrow_walk);
    });
}

template <class Kernel, class Visitor>
void visit_decode(std::string_view name, Kernel& kernel, Visitor& visit) {
    visit.group(name, [&] {
        visit.count("resident", kernel.resident);
        visit.number("block_s", kernel.block.value);
        visit.number("step_s", kernel.step.value);
        visit.number("memory_fraction", kernel.memory);
        visit.number("narrow", kernel.narrow);
    });
}

template <class Attention, class Visitor>
void visit_attention(std::string_view name, Attention& attention, Visitor& visit) {
    visit.group(name, [&] {
        visit.number("launch_s", attention.launch.value);
        visit.number("backward_launch_s", attention.backward_launch.value);
        visit.number("decode_launch_s", attention.decode_launch.value);
        visit.number("grouped_s", attention.grouped.value);
        visit.number("packed_s", attention.packed.value);
        visit.number("split_s", attention.split.value);
        visit.number("split_below", attention.split_below);
        visit.count("split_keys", attention.split_keys);
        visit.count("split_group", attention.split_group);
        visit.number("cache_copies", attention.cache);
        visit.number("exposed", attention.exposed);
        visit.number("passes_fraction", attention.passes);
        visit_decode("brief", attention.brief, visit);
        visit.list("kernels", attention.kernels, [&](auto& kernel) {
            visit.count("head_dim", kernel.head_dim);
            visit_walk("forward", kernel.forward, visit);
            visit_walk("backward", kernel.backward, visit);
            visit_decode("decode", kernel.decode, visit);
        });
    });
}

/// The protocols of a collective profile by name.
template <class Collective, class Do>
void for_each_protocol(Collective& collective, Do action) {
    action("ring_low", collective.ring_low);
    action("ring_bulk", collective.ring_bulk);
    action("peer_low", collective.peer_low);
    action("peer_bulk", collective.peer_bulk);
    action("in_switch", collective.in_switch);
    action("one_shot", collective.one_shot);
    action("two_shot", collective.two_shot);
}

template <class Collective, class Visitor>
void visit_collective(Collective& collective, Visitor& visit) {
    visit.group("collective", [&] {
        for_each_protocol(collective, [&](std::string_view name, auto& protocol) {
            visit.group(name, [&] {
                visit.number("launch_s", protocol.launch.value);
                visit.number("step_s", protocol.step.value);
                visit.number("link_fraction", protocol.fraction);
            });
        });
        visit.number("own_part", collective.own_part);
    });
}

template <class Learnt, class Visitor>
void visit_curve(std::string_view name, Learnt& curve, Visitor& visit) {
    static constexpr std::array<std::string_view, std::tuple_size_v<decltype(Curve::at)>> times{
        "2us", "8us", "32us", "128us", "512us", "2ms", "8ms"};
    visit.group(name, [&] {
        for (std::size_t i = 0; i < times.size(); ++i) visit.number(times[i], curve.at[i]);
    });
}

template <class Kernels, class Visitor>
void visit_streams(std::string_view name, Kernels& kernels, Visitor& visit) {
    visit.group(name, [&] {
        for (std::size_t kind = 0; kind < kernels.size(); ++kind) {
            visit.group(name_of(static_cast<StreamKind>(kind)), [&] {
                visit.number("fraction", kernels[kind].fraction);
                visit.number("launch_s", kernels[kind].launch.value);
                visit.number("fill_s", kernels[kind].fill.value);
                visit.number("element_s", kernels[kind].element.value);
                visit.number("row_s", kernels[kind].row.value);
                visit.number("exposed", kernels[kind].exposed);
                visit.number("ragged", kernels[kind].ragged);
                visit.number("once_elements", kernels[kind].once);
                visit.number("again", kernels[kind].again);
                visit_curve("learnt", kernels[kind].learnt, visit);
                visit.number("samples", kernels[kind].samples);
            });
        }
    });
}

/// The trees of kinds that are alike, by the one that stands for them.
template <class Learnt, class Visitor>
void visit_stream_trees(std::string_view name, Learnt& learnt, Visitor& visit) {
    visit.group(name, [&] {
        for (std::size_t i = 0; i < learnt.size(); ++i) {
            const auto kind = static_cast<StreamKind>(i);
            if (kin_of(kind) == kind) visit.trees(name_of(kind), learnt[i].trees);
        }
    });
}

template <class Profile, class Visitor>
void visit_intervals(Profile& profile, Visitor& visit) {
    static constexpr std::array<std::array<std::string_view, 2>, 3> bounds{
        {{"compute_low", "compute_high"}, {"memory_low", "memory_high"}, {"latency_low", "latency_high"}}};
    visit.group("intervals", [&] {
        for (const auto& [name, which] : names<KernelClass>) {
            auto& of_class = profile.intervals[static_cast<std::size_t>(which)];
            visit.group(name, [&] {
                for (std::size_t bound = 0; bound < bounds.size(); ++bound) {
                    visit.number(bounds[bound][0], of_class[bound].low);
                    visit.number(bounds[bound][1], of_class[bound].high);
                }
            });
        }
        visit.group("collective", [&] {
            visit.number("low", profile.collective_interval.low);
            visit.number("high", profile.collective_interval.high);
        });
    });
}

template <class Errors, class Visitor>
void visit_errors(Errors& errors, Visitor& visit) {
    visit.list("held_out_errors", errors, [&](auto& line) {
        visit.text("op", line.op);
        visit.text("by", line.by);
        visit.text("group", line.group);
        visit.count("points", line.points);
        visit.number("mean", line.mean);
        visit.number("median", line.median);
        visit.number("p95", line.p95);
        visit.number("inside", line.inside);
        visit.number("mean_sheet", line.sheet);
        visit.number("mean_constant", line.constant);
        visit.number("mean_roofline", line.roofline);
    });
}

template <class Correction, class Visitor>
void visit_correction(std::string_view name, Correction& correction, Visitor& visit) {
    visit.group(name, [&] {
        visit.number("first_s", correction.first_s);
        visit.count("knots", correction.knots);
        visit.number("offset", correction.offset);
        visit.number("of_batches", correction.of_batches);
        visit.trees("trees", correction.trees);
    });
}

template <class Profile, class Visitor>
void visit_profile(Profile& profile, Visitor& visit) {
    visit.text("source", profile.source);
    visit_errors(profile.errors, visit);
    visit.group("compute_fraction", [&] {
        static constexpr std::array<std::string_view, precision_count> words{"bf16", "fp16", "fp8", "tf32", "fp32"};
        for (std::size_t p = 0; p < precision_count; ++p) visit.number(words[p], profile.compute_fraction[p]);
    });
    visit.number("top_clock_hz", profile.top_clock.value);
    visit.group("power", [&] {
        visit.number("idle_w", profile.power.idle.value);
        visit.number("matrix_w", profile.power.matrix.value);
        visit.number("memory_w", profile.power.memory.value);
        visit.number("stream_w", profile.power.stream.value);
        visit.number("clocked", profile.power.clocked);
    });
    visit.number("bandwidth_fraction", profile.bandwidth_fraction);
    visit.number("bandwidth_ramp_bytes", profile.bandwidth_ramp.value);
    visit.number("kernel_gap_s", profile.kernel_gap.value);
    visit.number("host_launch_s", profile.host_launch.value);
    visit_collective(profile.collective, visit);
    for (std::size_t family = 0; family < gemm_family_count; ++family) {
        visit_gemm(gemm_family_names[family], profile.kernels(static_cast<GemmFamily>(family)), visit);
    }
    visit_attention("cudnn", profile.cudnn, visit);
    visit_attention("flash2", profile.flash2, visit);
    visit_streams("fused_streams", profile.stream.fused, visit);
    visit_streams("eager_streams", profile.stream.eager, visit);
    visit_streams("compiled_streams", profile.stream.compiled, visit);
    visit_stream_trees("stream_trees", profile.stream.learnt, visit);
    visit_intervals(profile, visit);
    visit_correction("gemm_correction", profile.gemm_corrections[0], visit);
    visit_correction("narrow_gemm_correction", profile.gemm_corrections[1], visit);
}

}  // namespace tilewright
