// What prices are made of besides the data sheet: what was learnt, or is assumed, of how a GPU runs kernels.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/correction.h"
#include "tilewright/device.h"
#include "tilewright/engine_kernels.h"

namespace tilewright {

/// Where a number comes from, best first.
enum class Evidence { Measured, Fitted, Transferred, Assumed };
template <>
inline constexpr std::array<NameTable<Evidence>, 4> names<Evidence>{{{"measured", Evidence::Measured},
                                                                     {"fitted", Evidence::Fitted},
                                                                     {"transferred", Evidence::Transferred},
                                                                     {"assumed", Evidence::Assumed}}};

/// Fractions of full speed by how a dimension divides: entry i is for 2^i elements of two bytes, i = 0 … 6 (1 … 64).
using AlignmentLadder = std::array<double, 7>;

/// One kernel variant of the matrix library.
struct Tile {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    int resident = 1;         ///< thread blocks of it that share one unit
    double efficiency = 1.0;  ///< of the unit's peak, in the main loop of a full tile
    Seconds overhead;         ///< prologue and epilogue of one thread block
    Seconds step;             ///< least time of one step along k: a thread block waits for its next operands
};

/// What the constants of a family's tiles follow from: small tiles load more for their work, large ones have more to
/// write.
struct TileLaw {
    std::int64_t k = 64;                              ///< of every tile
    double best = 1.0, cost_m = 4.0, cost_n = 4.0;    ///< efficiency best / (1 + cost_m / m + cost_n / n)
    Seconds overhead{0.5e-6}, area_overhead{0.3e-6};  ///< of any tile, and more by its area, of one of 256 x 128
    Seconds step{0.06e-6}, edge_step{0.1e-6};         ///< of any tile, and more by its edges, of that one

    void set(Tile& tile) const {
        constexpr double full_area = 256.0 * 128.0, full_edge = 256.0 + 128.0;
        const double m = static_cast<double>(tile.m), n = static_cast<double>(tile.n);
        tile.k = k;
        tile.efficiency = best / (1.0 + cost_m / m + cost_n / n);
        tile.overhead = overhead + area_overhead * (m * n / full_area);
        tile.step = step + edge_step * ((m + n) / full_edge);
    }
};

/// What loading an operand adds to a block's arithmetic, in rows of the other operand's edge of the tile, where the
/// family cannot load whole words.
struct OperandLoads {
    AlignmentLadder rows{};  ///< by how the operand's rows divide
    double stray = 0.0;      ///< more where they are narrow and far from a multiple of 512 bytes
};

/// Families of kernels that a matrix library keeps: for rows of whole 16-byte words; for rows of 4 or 8 bytes and of 2
/// bytes, which bulk copies cannot load; for tf32; and for one row times a matrix, which those that
/// are not Whole may take too.
enum class GemmFamily { Whole, Words, Halves, Tf32, Vector };
inline constexpr std::size_t gemm_family_count = 5;

/// One family of kernels of the matrix library and what its variants share.
struct GemmProfile {
    std::vector<Tile> tiles;
    TileLaw law;                            ///< that they follow
    AlignmentLadder output{};               ///< when the dimension is contiguous and kept (n, or m of NT)
    AlignmentLadder reduced{};              ///< when it is contiguous and summed over (k)
    std::array<double, 3> layout{1, 1, 1};  ///< of full speed, by Layout
    OperandLoads output_loads;              ///< of an operand whose rows are kept (B of NN and NT, A of NT)
    OperandLoads reduced_loads;             ///< of one whose rows are summed over (A of TN and NN, B of TN)
    double bandwidth = 1.0;                 ///< of a large stream's bandwidth
    std::int64_t max_split_k = 1;
    Seconds launch;                  ///< of starting and ending one kernel
    Seconds fill;                    ///< of starting thread blocks on every unit; fewer take their share of it
    Seconds split_overhead;          ///< of reducing the parts of a split k
    BytesPerSecond split_bandwidth;  ///< at which the parts are written and read
    BytesPerSecond l2_bandwidth;
    double shared_overhead = 0.5;  ///< of a block's overhead, what the blocks that share its unit do not hide
    double exposed_store = 0.5;    ///< of the time to write C, what the main loop of other tiles does not hide
    double exposed_load = 0.1;     ///< of the shorter of computing and loading, what the longer does not hide

    void follow_law() {
        for (Tile& tile : tiles) law.set(tile);
    }
};

/// A fused kernel whose thread blocks each own a tile of rows and walk the rows of the other side in steps: queries
/// walk the keys forward, keys walk the queries backward.
struct WalkKernel {
    std::int64_t own = 128;                        ///< rows of a block's tile
    std::int64_t step = 128;                       ///< rows of the other side
    double fraction = 0.5;                         ///< of peak along the walk, at the top clock
    Seconds block;                                 ///< of starting and ending a thread block
    double masked = 0.1;                           ///< steps more that a block takes where the mask cuts its tile
    double unmasked = 1.0;                         ///< slow-down of the walk without a mask
    double ragged = 1.0;                           ///< further slow-down without a mask when the last step is not whole
    double narrow_block = 1.0, narrow_walk = 1.0;  ///< slow-down where rows are not whole 32-byte words
};

/// A kernel for single queries: a thread block reads the keys of one key head, or a part of them, in steps.
struct DecodeKernel {
    std::int64_t resident = 1;  ///< thread blocks that share one unit
    Seconds block;              ///< of starting and ending one
    Seconds step;               ///< of one: 128 keys, or as FlashAttention-2 has them (`flash2_step_keys`)
    double memory = 1.0;        ///< of a large copy's bandwidth, what reading the cache reaches
    double narrow = 1.0;        ///< slow-down where rows are not whole 32-byte words
};

/// Fused attention compiled for one head size; smaller ones are padded up to it.
struct HeadKernel {
    std::int64_t head_dim = 0;
    WalkKernel forward, backward;
    DecodeKernel decode;
};

/// Keys of a step of FlashAttention-2 over a single query's keys: it takes fewer of wide heads
/// (run_mha_fwd_splitkv_dispatch in its source).
constexpr std::int64_t flash2_step_keys(std::int64_t head_dim) {
    return head_dim <= 64 ? 256 : head_dim <= 128 ? 128 : 64;
}

struct AttentionProfile {
    std::vector<HeadKernel> kernels;                 ///< ascending; empty when the device has no such back end
    Seconds launch, backward_launch, decode_launch;  ///< of the call
    Seconds grouped;                                 ///< of summing dK and dV over the heads of a group
    Seconds
        packed;  ///< of laying out the single queries that share keys, where there are several key heads and sequences
    Seconds split;                  ///< of summing the parts of keys that were split
    Seconds part;                   ///< more for each part of a single query's
    double split_below = 0.0;       ///< fewer thread blocks a unit split the keys of many queries too; 0: never
    std::int64_t split_keys = 512;  ///< of a single query, more than these are split
    std::int64_t split_group = 1;   ///< where at least so many query heads share them
    double cache = 0.01;            ///< times that new keys and values are copied beside the kernel
    double exposed = 0.3;           ///< of the shorter of walking and loading, what the longer does not hide
    double passes = 0.8;            ///< of a large copy's bandwidth, what the passes around a backward kernel reach
    DecodeKernel brief;             ///< for few keys, at head size 128; a step of zero: there is none
};

/// Elements of a row that a kernel of torch.compile keeps at once.
inline constexpr std::int64_t compiled_row = 1024;

/// One kind of kernel that streams memory.
struct StreamKernel {
    double fraction = 1.0;  ///< of a large copy's bandwidth
    Seconds launch{};       ///< of starting and ending one thread block
    Seconds fill{};         ///< more where the chip is filled; kernels of few bytes take their share of it
    Seconds element{};      ///< of one element of a row, which a thread block walks by itself
    Seconds row{};          ///< of one row beside its bytes, the whole chip busy
    double exposed = 1.0;   ///< of the shorter of a row's walk and the stream, what the longer does not hide
    double ragged = 1.0;    ///< how many times longer rows take that are not whole 16-byte words
    double once = 0.0;      ///< elements of a row that the chip holds until it needs them again
    double again = 1.0;     ///< how many times longer the bytes of longer rows take
    Curve learnt{};         ///< what these leave over
    double samples = 0.0;   ///< that these constants were learnt from
};

/// Kernels that stream memory, by StreamKind.
using StreamKernels = std::array<StreamKernel, stream_kind_count>;

/// Kernels that stream memory, by whose they are.
struct StreamProfile {
    StreamKernels fused, eager, compiled;
    std::array<SharedCorrection, stream_kind_count> learnt;  ///< of `fused`, where kinds alike share their first's

    const StreamKernels& of(StreamForm form) const {
        return form == StreamForm::Eager ? eager : form == StreamForm::Compiled ? compiled : fused;
    }
    StreamKernels& of(StreamForm form) { return const_cast<StreamKernels&>(std::as_const(*this).of(form)); }
};

/// One protocol of a collective: what starting costs, what each step between two ranks costs, what share of the link it
/// reaches.
struct Protocol {
    Seconds launch;
    Seconds step;
    double fraction = 0.0;  ///< 0: there is no such protocol
};

/// How the ranks of a node talk: NCCL's flag-based protocol for few bytes and its bulk one for many, in a ring or
/// straight to each peer, reductions inside the switch (NVLS), and the all-reduce kernels of serving engines.
struct CollectiveProfile {
    Protocol ring_low, ring_bulk;
    Protocol peer_low, peer_bulk;
    Protocol in_switch;
    Protocol one_shot, two_shot;
    double own_part = 0.5;  ///< of its own part of a tensor, what a rank of a ring moves too
    /// Between nodes: a step, and what of an adapter's rate is reached. Assumed: NCCL 2.19, src/graph/tuning.cc, hwLat
    /// of the network, ring; LL sends a flag with every word and leaves half of the rate, bulk transfers reach most.
    Protocol far_low{{}, {2.7e-6}, 0.4}, far_bulk{{}, {14e-6}, 0.9};
    double far_samples = 0.0;  ///< that those were learnt from
};

/// A half-width of the 90% interval, as factors on the time.
struct Interval {
    double low = 1.0;
    double high = 1.0;
};

/// What the board draws: at clock f (of the top one) idle + f^2 (matrix * share of the time at the best rate + memory *
/// share at the full bandwidth), with `stream` for memory in kernels that do nothing but stream it. Where that would
/// pass the board's limit, the clock settles below the top.
struct PowerProfile {
    Watts idle;
    Watts matrix;  ///< zero: no limit is ever met
    Watts memory;
    Watts stream;
    double clocked = 1.0;  ///< of the time of the matrix units, what follows the clock
};

/// Kernels whose errors are alike: products by the narrowest contiguous row of an operand (whole 16-byte words, 4 or 8
/// bytes, 2 bytes), by themselves and in batches; those of other precisions; attention; streams, those
/// that sum over rows or columns apart, and PyTorch's.
enum class KernelClass {
    Gemm,
    Gemm8,
    Gemm2,
    Batched,
    Batched8,
    Batched2,
    GemmFp8,
    GemmTf32,
    AttentionForward,
    AttentionBackward,
    AttentionDecode,
    Stream,
    RowStream,
    EagerStream
};
inline constexpr std::size_t kernel_class_count = 14;
template <>
inline constexpr std::array<NameTable<KernelClass>, kernel_class_count> names<KernelClass>{
    {{"gemm", KernelClass::Gemm},
     {"gemm_rows_of_8_bytes", KernelClass::Gemm8},
     {"gemm_rows_of_2_bytes", KernelClass::Gemm2},
     {"batched", KernelClass::Batched},
     {"batched_rows_of_8_bytes", KernelClass::Batched8},
     {"batched_rows_of_2_bytes", KernelClass::Batched2},
     {"gemm_fp8", KernelClass::GemmFp8},
     {"gemm_tf32", KernelClass::GemmTf32},
     {"attention_forward", KernelClass::AttentionForward},
     {"attention_backward", KernelClass::AttentionBackward},
     {"attention_decode", KernelClass::AttentionDecode},
     {"stream", KernelClass::Stream},
     {"row_stream", KernelClass::RowStream},
     {"eager_stream", KernelClass::EagerStream}}};

/// 90% intervals of each class by what bounds the kernel: compute, memory, latency.
using Intervals = std::array<std::array<Interval, 3>, kernel_class_count>;

/// How far off prices are on one group of samples, as fractions of the measured time.
struct ErrorLine {
    std::string op;     ///< gemm, attention, stream
    std::string by;     ///< what the group is told apart by: all, kernel, clock, bound, alignment
    std::string group;  ///< all, batched gemm, sustained, memory, rows of 2 bytes, …
    std::int64_t points = 0;
    double mean = 0.0, median = 0.0, p95 = 0.0;
    double inside = 0.0;    ///< share of the points within the 90% interval
    double sheet = 0.0;     ///< mean error of simple models on the same points: the data sheet's roofline,
    double constant = 0.0;  ///< a constant share of the peak rate (of the bandwidth, for streams),
    double roofline = 0.0;  ///< a fitted roofline plus a fitted launch
};

struct ServingKernels;

/// What prices are made of besides the data sheet.
struct Profile {
    Evidence evidence = Evidence::Assumed;  ///< of products
    Evidence attention_evidence = Evidence::Assumed;
    Evidence stream_evidence = Evidence::Assumed;
    Evidence collective_evidence = Evidence::Assumed;  ///< within a node
    std::string source;         ///< what it was fitted from, or which document it is assumed from
    Reuse reuse = Reuse::None;  ///< of the products it was fitted to
    std::array<double, precision_count> compute_fraction{
        1, 1, 1, 1, 1};  ///< of the data-sheet peak the best product reaches at the burst clock
    Hertz top_clock;     ///< the clock of burst prices; 0 where it is not known
    PowerProfile power;
    double bandwidth_fraction = 0.9;  ///< of the data-sheet bandwidth a large stream reaches
    Bytes bandwidth_ramp;             ///< a stream of this many bytes reaches half of that
    Seconds kernel_gap;               ///< device time of an empty kernel queued behind another
    Seconds host_launch;              ///< host time of one eager launch
    GemmProfile gemm;                 ///< GemmFamily::Whole
    std::array<GemmProfile, gemm_family_count - 1> other_gemm;  ///< the families after it
    std::array<Correction, 3> gemm_corrections;  ///< of GemmFamily::Whole, of the others, of batches by others
    AttentionProfile cudnn;
    AttentionProfile flash2;
    StreamProfile stream;
    CollectiveProfile collective;
    EngineKernels engines;                          ///< of serving engines, from tables of their own
    std::shared_ptr<const ServingKernels> serving;  ///< null: nothing is known of them
    Intervals intervals{};
    Interval collective_interval;
    std::string carried_from;       ///< the device it was fitted on, when that is another
    std::string streams_from;       ///< that on which the stream kernels were, when that is another
    double carried_error = 0.0;     ///< mean error of products carried over to parts like it, left out in turn
    std::vector<ErrorLine> errors;  ///< on samples that neither constants nor intervals were fitted to

    const GemmProfile& kernels(GemmFamily family) const {
        return family == GemmFamily::Whole ? gemm : other_gemm[static_cast<std::size_t>(family) - 1];
    }
    GemmProfile& kernels(GemmFamily family) {
        return family == GemmFamily::Whole ? gemm : other_gemm[static_cast<std::size_t>(family) - 1];
    }

    /// FlashAttention-2's kernels stand for cuDNN's where PyTorch has no use for these (before Hopper).
    const AttentionProfile& kernels(AttentionBackend backend) const {
        return backend == AttentionBackend::Cudnn && !cudnn.kernels.empty() ? cudnn : flash2;
    }
};

/// The profile used when nothing was fitted: published constants of the architecture, evidence Assumed.
Profile assumed_profile(const Device& device);

/// A relative's profile carried over by data-sheet numbers; its intervals widen, and it says `transferred`.
Profile transferred(const Profile& profile, const Device& from, const Device& to);

/// Sets the stream kernels of a part on which nobody timed them to those of one on which they were, by data sheets.
void carry_streams(const Profile& known, const Device& from, const Device& to, Profile& profile);

}  // namespace tilewright
