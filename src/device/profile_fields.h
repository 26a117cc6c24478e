// Every value that a profile's files hold, once: its key, unit, bounds and meaning. The writer, the reader with its
// checks and the table of docs/profiles.md all walk this list. A visitor has
//   number, count, text, word   one value;
//   again                       a count that was given before;
//   group                       values by name;
//   row, rows                   numbers by place, in one line or in as many as there are;
//   list, trees                 what a residual is made of.
#pragma once

#include <array>
#include <limits>
#include <string>

#include "tilewright/profile.h"

namespace tilewright {

inline constexpr std::string_view profile_schema = "tilewright.profile/2";
inline constexpr std::string_view residual_schema = "tilewright.residual/1";

/// What a value is counted in: how its key ends, and the program's own unit as a factor or as a part of it, either of
/// them exact: 5 us are then 5e-6 s to the last digit.
struct Unit {
    std::string_view name, ending;
    double factor = 1.0, parts = 1.0;

    double inward(double value) const { return value * factor / parts; }
    double outward(double value) const { return value * parts / factor; }
};
inline constexpr Unit no_unit{"", ""}, unit_us{"us", "_us", 1.0, 1e6}, unit_ns{"ns", "_ns", 1.0, 1e9},
    unit_s{"s", "_s"}, unit_mhz{"MHz", "_mhz", 1e6}, unit_w{"W", "_w"}, unit_bytes{"bytes", "_bytes"},
    unit_gb_per_s{"GB/s", "_gb_per_s", 1e9}, unit_rows{"rows", "_rows"}, unit_elements{"elements", "_elements"};

/// What a value may be.
struct Bounds {
    std::string_view words;
    double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
    bool above = false;  ///< the least itself is not allowed

    bool hold(double value) const { return (above ? value > least : value >= least) && value <= most; }
};
inline constexpr Bounds any{"any number"}, from_zero{"0 or more", 0.0}, from_one{"1 or more", 1.0},
    up_to_one{"0 to 1", 0.0, 1.0}, share{"above 0, at most 1", 0.0, 1.0, true},
    positive{"above 0", 0.0, std::numeric_limits<double>::max(), true}, whole{"a whole number from 1", 1.0, 65536.0},
    words{"text"};

struct Field {
    std::string_view key;
    Unit unit;
    Bounds bounds;
    std::string_view meaning;
};

inline constexpr std::array<std::string_view, gemm_family_count> gemm_family_names{
    "gemm", "gemm_rows_of_4_bytes", "gemm_rows_of_2_bytes", "gemm_tf32", "gemm_vector"};

/// Numbers of one kind by place, each with a name.
template <class Names, class Numbers, class Visitor>
void visit_places(Field field, const Names& places, Numbers& numbers, Visitor& visit) {
    visit.row(field.key, [&] {
        for (std::size_t i = 0; i < places.size(); ++i) {
            visit.number({places[i], field.unit, field.bounds, field.meaning}, numbers[i]);
        }
    });
}

template <class Gemm, class Visitor>
void visit_alignment(Gemm& gemm, Visitor& visit) {
    static constexpr std::array<std::string_view, 3> layouts{"TN", "NN", "NT"};
    static constexpr std::array<std::string_view, 7> rows{"2_bytes",  "4_bytes",  "8_bytes",  "16_bytes",
                                                          "32_bytes", "64_bytes", "128_bytes"};
    visit_places({"layout", no_unit, share, "of full speed, by layout"}, layouts, gemm.layout, visit);
    visit_places({"output_rows", no_unit, positive, "of full speed, by how contiguous rows that are kept divide"}, rows,
                 gemm.output, visit);
    visit_places({"reduced_rows", no_unit, positive, "of full speed, by how rows that are summed over divide"}, rows,
                 gemm.reduced, visit);
    visit_places(
        {"output_loads", no_unit, from_zero, "rows of the other edge that loading an operand of kept rows costs more"},
        rows, gemm.output_loads.rows, visit);
    visit_places({"reduced_loads", no_unit, from_zero,
                  "rows of the other edge that loading an operand of summed rows costs more"},
                 rows, gemm.reduced_loads.rows, visit);
    visit.number({"output_stray_rows", unit_rows, from_zero, "more of them where kept rows are narrow and stray"},
                 gemm.output_loads.stray);
    visit.number({"reduced_stray_rows", unit_rows, from_zero, "more of them where summed rows are narrow and stray"},
                 gemm.reduced_loads.stray);
}

template <class Gemm, class Visitor>
void visit_gemm(std::string_view name, Gemm& gemm, Visitor& visit) {
    visit.group(name, [&] {
        visit.number({"launch_us", unit_us, from_zero, "of starting and ending one kernel"}, gemm.launch.value);
        visit.number({"fill_us", unit_us, from_zero, "of starting thread blocks on every unit; fewer take their share"},
                     gemm.fill.value);
        visit.number({"split_overhead_us", unit_us, from_zero, "of reducing the parts of a split k"},
                     gemm.split_overhead.value);
        visit.number({"split_bandwidth_gb_per_s", unit_gb_per_s, positive, "at which those parts are written and read"},
                     gemm.split_bandwidth.value);
        visit.count({"max_split_k", no_unit, whole, "parts that k is split into at most"}, gemm.max_split_k);
        visit.number({"l2_bandwidth_gb_per_s", unit_gb_per_s, positive, "at which L2 feeds all units"},
                     gemm.l2_bandwidth.value);
        visit.number({"shared_overhead", no_unit, from_zero,
                      "of a block's overhead, what the blocks that share its unit do not hide"},
                     gemm.shared_overhead);
        visit.number({"exposed_store", no_unit, from_zero,
                      "of the time to write C, what the main loop of other tiles does not hide"},
                     gemm.exposed_store);
        visit.number({"exposed_load", no_unit, from_zero,
                      "of the shorter of computing and loading, what the longer does not hide"},
                     gemm.exposed_load);
        visit.number({"bandwidth", no_unit, share, "of a large stream's bandwidth, what the family loads at"},
                     gemm.bandwidth);
        visit_alignment(gemm, visit);
        auto& law = gemm.law;
        visit.row("tile_law", [&] {
            visit.count({"k", no_unit, whole, "elements of k in one step of any tile"}, law.k);
            visit.number({"best", no_unit, positive, "b of a tile's efficiency b / (1 + c / m + d / n)"}, law.best);
            visit.number({"cost_m", no_unit, from_zero, "c of it"}, law.cost_m);
            visit.number({"cost_n", no_unit, from_zero, "d of it"}, law.cost_n);
            visit.number({"overhead_us", unit_us, from_zero, "prologue and epilogue of any block"}, law.overhead.value);
            visit.number({"area_us", unit_us, from_zero, "more of it for an area of 256 x 128, others in proportion"},
                         law.area_overhead.value);
            visit.number({"step_us", unit_us, from_zero, "least time of a step along k"}, law.step.value);
            visit.number({"edge_us", unit_us, from_zero, "more of it for edges of 256 and 128, others in proportion"},
                         law.edge_step.value);
        });
        visit.rows("tiles", gemm.tiles, [&](auto& tile) {
            visit.count({"m", no_unit, whole, "rows of the tile"}, tile.m);
            visit.count({"n", no_unit, whole, "columns of the tile"}, tile.n);
            visit.count({"resident", no_unit, whole, "thread blocks that share one unit"}, tile.resident);
        });
    });
}

template <class Kernel, class Visitor>
void visit_walk(Kernel& kernel, Visitor& visit) {
    visit.count({"own_rows", unit_rows, whole, "of the tile that a thread block owns"}, kernel.own);
    visit.count({"step_rows", unit_rows, whole, "of the other side that it walks in one step"}, kernel.step);
    visit.number({"fraction", no_unit, positive, "of peak along the walk, at the top clock"}, kernel.fraction);
    visit.number({"block_us", unit_us, from_zero, "of starting and ending a thread block"}, kernel.block.value);
    visit.number({"masked", no_unit, from_zero, "steps more where the mask cuts a tile"}, kernel.masked);
    visit.number({"unmasked", no_unit, positive, "slow-down of the walk without a mask"}, kernel.unmasked);
    visit.number({"ragged", no_unit, positive, "more of it when the last step is not whole"}, kernel.ragged);
    visit.number({"narrow_block", no_unit, positive, "slow-down of a block where rows are not whole 32-byte words"},
                 kernel.narrow_block);
    visit.number({"narrow_walk", no_unit, positive, "slow-down of the walk there"}, kernel.narrow_walk);
}

template <class Kernel, class Visitor>
void visit_decode(Kernel& kernel, Visitor& visit) {
    visit.count({"resident", no_unit, whole, "thread blocks that share one unit"}, kernel.resident);
    visit.number({"block_us", unit_us, from_zero, "of starting and ending a thread block"}, kernel.block.value);
    visit.number(
        {"step_us", unit_us, from_zero, "of a step: 128 keys, in FlashAttention-2 256 up to heads of 64, 64 past 128"},
        kernel.step.value);
    visit.number({"memory", no_unit, positive, "of a large copy's bandwidth, what reading the cache reaches"},
                 kernel.memory);
    visit.number({"narrow", no_unit, positive, "slow-down where rows are not whole 32-byte words"}, kernel.narrow);
}

template <class Attention, class Visitor>
void visit_attention(std::string_view name, Attention& attention, Visitor& visit) {
    visit.group(name, [&] {
        visit.number({"launch_us", unit_us, from_zero, "of a forward call"}, attention.launch.value);
        visit.number({"backward_launch_us", unit_us, from_zero, "of a backward call"}, attention.backward_launch.value);
        visit.number({"decode_launch_us", unit_us, from_zero, "of a call for single queries"},
                     attention.decode_launch.value);
        visit.number({"grouped_us", unit_us, from_zero, "of summing dK and dV over the heads of a group"},
                     attention.grouped.value);
        visit.number({"packed_us", unit_us, from_zero, "of laying out the single queries that share keys"},
                     attention.packed.value);
        visit.number({"split_us", unit_us, from_zero, "of summing the parts of keys that were split"},
                     attention.split.value);
        visit.number({"part_us", unit_us, from_zero, "more for each part of a single query's"}, attention.part.value);
        visit.number({"split_below", no_unit, from_zero,
                      "fewer thread blocks a unit split the keys of many queries too; 0: never"},
                     attention.split_below);
        visit.count({"split_keys", no_unit, whole, "of a single query, more keys than these are split"},
                    attention.split_keys);
        visit.count({"split_group", no_unit, whole, "where at least so many query heads share them"},
                    attention.split_group);
        visit.number(
            {"cache_copies", no_unit, from_zero, "times that new keys and values are copied beside the kernel"},
            attention.cache);
        visit.number(
            {"exposed", no_unit, from_zero, "of the shorter of walking and loading, what the longer does not hide"},
            attention.exposed);
        visit.number({"passes", no_unit, positive,
                      "of a large copy's bandwidth, what the passes around a backward kernel reach"},
                     attention.passes);
        visit.row("brief", [&] { visit_decode(attention.brief, visit); });
        constexpr Field head_dim{"head_dim", no_unit, whole, "head size it is compiled for; smaller ones are padded"};
        visit.rows("forward", attention.kernels, [&](auto& head) {
            visit.count(head_dim, head.head_dim);
            visit_walk(head.forward, visit);
        });
        visit.rows("backward", attention.kernels, [&](auto& head) {
            visit.again(head_dim, head.head_dim);
            visit_walk(head.backward, visit);
        });
        visit.rows("decode", attention.kernels, [&](auto& head) {
            visit.again(head_dim, head.head_dim);
            visit_decode(head.decode, visit);
        });
    });
}

/// The protocols of a collective profile by name; without the bulk ones there is no price.
template <class Collective, class Visitor>
void visit_collective(Collective& collective, Visitor& visit) {
    const auto protocol = [&](std::string_view name, auto& one, Bounds of_link) {
        visit.row(name, [&] {
            visit.number({"launch_us", unit_us, from_zero, "of starting"}, one.launch.value);
            visit.number({"step_us", unit_us, from_zero, "of each step between two ranks"}, one.step.value);
            visit.number({"fraction", no_unit, of_link, "of the link's bandwidth; 0: there is no such protocol"},
                         one.fraction);
        });
    };
    visit.group("collective", [&] {
        visit.number({"own_part", no_unit, from_zero, "of its own part of a tensor, what a rank of a ring moves too"},
                     collective.own_part);
        protocol("ring_low", collective.ring_low, from_zero);
        protocol("ring_bulk", collective.ring_bulk, positive);
        protocol("peer_low", collective.peer_low, from_zero);
        protocol("peer_bulk", collective.peer_bulk, positive);
        protocol("in_switch", collective.in_switch, from_zero);
        protocol("one_shot", collective.one_shot, from_zero);
        protocol("two_shot", collective.two_shot, from_zero);
        protocol("far_low", collective.far_low, positive);
        protocol("far_bulk", collective.far_bulk, positive);
        visit.number({"far_samples", no_unit, from_zero, "between nodes, that the two before were learnt from"},
                     collective.far_samples);
    });
}

template <class Kernels, class Visitor>
void visit_streams(std::string_view name, Kernels& kernels, Visitor& visit) {
    visit.group(name, [&] {
        for (std::size_t kind = 0; kind < kernels.size(); ++kind) {
            auto& kernel = kernels[kind];
            visit.row(name_of(static_cast<StreamKind>(kind)), [&] {
                visit.number({"fraction", no_unit, positive, "of a large copy's bandwidth"}, kernel.fraction);
                visit.number({"launch_us", unit_us, from_zero, "of starting and ending one thread block"},
                             kernel.launch.value);
                visit.number(
                    {"fill_us", unit_us, from_zero, "more where the chip is filled; few bytes take their share"},
                    kernel.fill.value);
                visit.number({"element_ns", unit_ns, from_zero, "of one element of a row that a block walks by itself"},
                             kernel.element.value);
                visit.number({"row_ns", unit_ns, from_zero, "of one row beside its bytes, the whole chip busy"},
                             kernel.row.value);
                visit.number({"exposed", no_unit, from_zero,
                              "of the shorter of a row's walk and the stream, what the longer does not hide"},
                             kernel.exposed);
                visit.number({"ragged", no_unit, positive, "times longer where rows are not whole 16-byte words"},
                             kernel.ragged);
                visit.number({"once_elements", unit_elements, from_zero,
                              "of a row that the chip holds until it needs them again; 0: all"},
                             kernel.once);
                visit.number({"again", no_unit, from_one, "times longer the bytes of longer rows take"}, kernel.again);
                visit.number({"samples", no_unit, from_zero, "that these constants were learnt from"}, kernel.samples);
            });
        }
    });
}

/// The physics: what a person reads.
template <class Profile, class Visitor>
void visit_profile(Profile& profile, Visitor& visit) {
    static constexpr std::array<std::string_view, precision_count> precisions{"bf16", "fp16", "fp8", "tf32", "fp32"};
    visit.text({"source", no_unit, words, "the samples it was fitted to"}, profile.source);
    visit.word({"evidence", no_unit, words, "of products"}, profile.evidence);
    visit.word({"attention_evidence", no_unit, words, "of attention"}, profile.attention_evidence);
    visit.word({"stream_evidence", no_unit, words, "of kernels that stream memory"}, profile.stream_evidence);
    visit.word({"collective_evidence", no_unit, words, "of collectives within a node"}, profile.collective_evidence);
    visit.word({"reuse", no_unit, words, "what L2 held of the operands of the products it was fitted to"},
               profile.reuse);
    visit_places({"compute_fraction", no_unit, positive,
                  "of the data sheet's peak, what the best product reaches at the top clock"},
                 precisions, profile.compute_fraction, visit);
    visit.number({"top_clock_mhz", unit_mhz, from_zero, "the clock of burst prices; 0: not known"},
                 profile.top_clock.value);
    visit.number(
        {"bandwidth_fraction", no_unit, positive, "of the data sheet's bandwidth, what a large stream reaches"},
        profile.bandwidth_fraction);
    visit.number({"bandwidth_ramp_bytes", unit_bytes, from_zero, "a stream of so many bytes reaches half of that"},
                 profile.bandwidth_ramp.value);
    visit.number({"kernel_gap_us", unit_us, from_zero, "device time of an empty kernel queued behind another"},
                 profile.kernel_gap.value);
    visit.number({"host_launch_us", unit_us, from_zero, "host time of one eager launch"}, profile.host_launch.value);
    visit.group("power", [&] {
        visit.number({"idle_w", unit_w, from_zero, "drawn by an idle board"}, profile.power.idle.value);
        visit.number({"matrix_w", unit_w, from_zero, "more with all matrix units busy; 0: no limit is ever met"},
                     profile.power.matrix.value);
        visit.number({"memory_w", unit_w, from_zero, "more at full bandwidth"}, profile.power.memory.value);
        visit.number({"stream_w", unit_w, from_zero, "the same in kernels that only stream memory"},
                     profile.power.stream.value);
        visit.number({"clocked", no_unit, up_to_one, "of the matrix units' time, what follows the clock"},
                     profile.power.clocked);
    });
    visit_collective(profile.collective, visit);
    for (std::size_t family = 0; family < gemm_family_count; ++family) {
        visit_gemm(gemm_family_names[family], profile.kernels(static_cast<GemmFamily>(family)), visit);
    }
    visit_attention("cudnn", profile.cudnn, visit);
    visit_attention("flash2", profile.flash2, visit);
    visit_streams("fused_streams", profile.stream.fused, visit);
    visit_streams("eager_streams", profile.stream.eager, visit);
    visit_streams("compiled_streams", profile.stream.compiled, visit);
}

}  // namespace tilewright
