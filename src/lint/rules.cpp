// The table of rules, written by hand: a code is stable and never used again, a name says the fault.
#include "lint/rules.h"

namespace tilewright {
namespace {

constexpr Rule table[] = {
    {"TW001", "vocabulary-not-aligned", "the vocabulary divides by too small a power of two",
     checks::vocabulary_not_aligned},
    {"TW002", "hidden-not-aligned", "the hidden size divides by too small a power of two", checks::hidden_not_aligned},
    {"TW003", "attention-shard-not-aligned", "tensor parallelism leaves each GPU an unaligned slice of the heads",
     checks::attention_shard_not_aligned},
    {"TW004", "mlp-shard-not-aligned", "tensor parallelism leaves each GPU an unaligned slice of the MLP",
     checks::mlp_shard_not_aligned},
    {"TW005", "head-size-not-aligned", "the attention kernels pad this head size, or read it unaligned",
     checks::head_size_not_aligned},
    {"TW006", "tokens-not-aligned", "the tokens of a micro-batch divide by too small a power of two",
     checks::tokens_not_aligned},
    {"TW007", "head-size-past-fused-limit", "the head is too wide for any fused attention kernel",
     checks::head_size_past_fused_limit},
    {"TW008", "narrow-heads", "fewer, wider heads would take less time", checks::narrow_heads},
    {"TW009", "mlp-width-not-aligned", "the MLP width divides by too small a power of two",
     checks::mlp_width_not_aligned},
    {"TW010", "mlp-width-8h-over-3", "the width of a gated MLP is 8h/3 taken literally", checks::mlp_width_8h_over_3},
    {"TW011", "heads-not-divisible-by-tp", "the heads cannot be dealt out evenly", checks::heads_not_divisible_by_tp},
    {"TW012", "kv-heads-not-divisible-by-tp", "the key/value heads cannot be dealt out evenly",
     checks::kv_heads_not_divisible_by_tp},
    {"TW013", "vocabulary-not-divisible-by-tp", "the vocabulary cannot be dealt out evenly",
     checks::vocabulary_not_divisible_by_tp},
    {"TW014", "batch-heads-not-divisible-by-tp", "batch times heads over tensor parallelism is not a whole number",
     checks::batch_heads_not_divisible_by_tp},
    {"TW015", "layers-not-divisible-by-stages", "the pipeline stages have unequal numbers of layers",
     checks::layers_not_divisible_by_stages},
    {"TW016", "micro-batch-smaller-than-memory-allows", "a larger micro-batch would fit and run faster per token",
     checks::micro_batch_smaller_than_memory_allows},
    {"TW017", "tensor-parallel-wider-than-needed", "fewer GPUs would hold the model and each would do more",
     checks::tensor_parallel_wider_than_needed},
    {"TW018", "gemm-just-past-a-tile", "a product ends just past the edge of a tile", checks::gemm_just_past_a_tile},
    {"TW019", "gemm-just-past-a-wave", "the last wave of a product leaves most of the chip idle",
     checks::gemm_just_past_a_wave},
    {"TW020", "expert-width-not-aligned", "an expert's width divides by too small a power of two",
     checks::expert_width_not_aligned},
    {"TW021", "does-not-fit-in-memory", "the step needs more memory than the GPU has", checks::does_not_fit_in_memory},
    {"TW022", "sequence-past-positions", "the sequence is longer than the table of learned positions",
     checks::sequence_past_positions},
    {"TW023", "host-bounds-the-step", "the GPU waits for the host to issue its kernels", checks::host_bounds_the_step,
     Severity::Info},
};

}  // namespace

std::span<const Rule> rules() { return table; }

}  // namespace tilewright
