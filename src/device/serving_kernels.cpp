// The constants of the serving engines' kernels, each with its unit, range and meaning.
#include "tilewright/serving_kernels.h"

namespace tilewright {
namespace {

constexpr std::string_view us = "us", none = "";

constexpr std::array<LawField<ProductLaw>, 27> of_products{{
    {"launch_us", us, 0.1, 50, &ProductLaw::launch_us, "of the product's kernel"},
    {"quantize_us", us, 0, 50, &ProductLaw::quantize_us, "of the kernels that quantise A, whatever its size"},
    {"quantize_passes", none, 0, 50, &ProductLaw::quantize_passes,
     "times A is read in 16 bits and written in 8, at the data sheet's bandwidth"},
    {"quantize_row_ns", "ns", 0, 200, &ProductLaw::quantize_row_ns, "of quantising a row of A, whatever its width"},
    {"short_us", us, 0, 50, &ProductLaw::short_us, "more where k is no longer than a step"},
    {"between", none, 1, 3, &ProductLaw::between, "slow-down of tiles where A's rows are no power of two"},
    {"peak", none, 0.01, 1, &ProductLaw::peak, "share of the data sheet's rate that a large tile reaches"},
    {"together", none, 0.01, 1, &ProductLaw::together,
     "share of it that all units together reach: power bounds the clock"},
    {"rows", none, 0, 1000, &ProductLaw::rows,
     "rows by which a tile is too low to reach it: times 1 + rows / tile rows"},
    {"columns", none, 0, 1000, &ProductLaw::columns, "the same of its columns"},
    {"block_us", us, 0, 50, &ProductLaw::block_us, "of a thread block beside its steps"},
    {"area_us", us, 0, 50, &ProductLaw::area_us, "more of it with a tile of 128 x 256"},
    {"step_us", us, 0, 10, &ProductLaw::step_us, "of a step of 128 bytes along k, at least"},
    {"vector", none, 1e-4, 1, &ProductLaw::vector,
     "share of the data sheet's rate that kernels without matrix units reach"},
    {"vector_us", us, 0, 50, &ProductLaw::vector_us, "of such a kernel beside its arithmetic"},
    {"vector_rows", none, 1, 16, &ProductLaw::vector_rows, "of A, up to which there are such kernels"},
    {"least_rows", none, 1, 128, &ProductLaw::least_rows, "of a tile: lower ones there are not"},
    {"least_columns", none, 1, 128, &ProductLaw::least_columns, "of a tile"},
    {"follows_rows", none, 1, 256, &ProductLaw::follows_rows,
     "of a tile, up to which it is at least as high as the next power of two of A's rows"},
    {"most_splits", none, 1, 32, &ProductLaw::most_splits, "of k"},
    {"split_us", us, 0, 1000, &ProductLaw::split_us, "of adding up the parts of a split k"},
    {"split_passes", none, 0, 1000, &ProductLaw::split_passes, "times each part is written and read in four bytes"},
    {"reread", none, 0, 1, &ProductLaw::reread,
     "of what L2 cannot hold of A, how much comes again for another column of tiles"},
    {"bandwidth", none, 0.01, 1, &ProductLaw::bandwidth, "share of the data sheet's bandwidth that operands reach"},
    {"exposed", none, 0, 1, &ProductLaw::exposed,
     "of the shorter of arithmetic and memory, what the longer leaves open"},
    {"fill_us", us, 0, 50, &ProductLaw::fill_us, "of filling all units"},
    {"ramp_us", us, 0, 50, &ProductLaw::ramp_us, "of filling the memory's pipeline"},
}};

constexpr std::array<LawField<EngineAttentionLaw>, 18> of_attention{{
    {"launch_us", us, 0.1, 100, &EngineAttentionLaw::launch_us, "of the call"},
    {"write_us", us, 0, 100, &EngineAttentionLaw::write_us, "of the kernel that writes keys and values to the cache"},
    {"write_passes", none, 0, 50, &EngineAttentionLaw::write_passes,
     "times the new keys and values are read and written, at the data sheet's bandwidth"},
    {"peak", none, 0.01, 1, &EngineAttentionLaw::peak, "share of the data sheet's rate that a high tile reaches"},
    {"softmax", none, 0, 1000, &EngineAttentionLaw::softmax,
     "elements of a head that a pair's exponential takes as long as"},
    {"rows", none, 0, 1000, &EngineAttentionLaw::rows, "rows by which a tile is too low: times 1 + rows / tile rows"},
    {"block_us", us, 0, 50, &EngineAttentionLaw::block_us, "of a thread block beside its steps"},
    {"step_us", us, 0, 10, &EngineAttentionLaw::step_us, "of a step of 128 keys of 128 elements, at least"},
    {"split_us", us, 0, 100, &EngineAttentionLaw::split_us, "of adding up the parts of split keys"},
    {"tail", none, 0, 2, &EngineAttentionLaw::tail, "of the longest block, what others do not hide at the end"},
    {"packed_us", us, 0, 50, &EngineAttentionLaw::packed_us, "more where heads that share keys share a tile"},
    {"packed_tokens", none, 1, 1e6, &EngineAttentionLaw::packed_tokens,
     "queries of a sequence up to which heads that share keys share a tile"},
    {"window_keys", none, 0, 4000, &EngineAttentionLaw::window_keys, "walked beyond a window that cuts off keys"},
    {"window_packs", none, 0.01, 1, &EngineAttentionLaw::window_packs,
     "whether they do so with a window too: from a half on"},
    {"alone_splits", none, 0.01, 1, &EngineAttentionLaw::alone_splits,
     "whether keys are split for tiles of a single head too: from a half on"},
    {"bandwidth", none, 0.01, 1, &EngineAttentionLaw::bandwidth, "share of the data sheet's bandwidth"},
    {"exposed", none, 0, 1, &EngineAttentionLaw::exposed,
     "of the shorter of arithmetic and memory, what the longer leaves open"},
    {"ramp_us", us, 0, 50, &EngineAttentionLaw::ramp_us, "of filling the memory's pipeline"},
}};

}  // namespace

const ServingKernels& serving_of(const Profile& profile) {
    static const ServingKernels assumed;
    return profile.serving ? *profile.serving : assumed;
}

std::span<const LawField<ProductLaw>> product_fields() { return of_products; }
std::span<const LawField<EngineAttentionLaw>> engine_attention_fields() { return of_attention; }

}  // namespace tilewright
