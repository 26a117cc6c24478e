// The checks of all rules, by code. Rules of one kind are one file.
#pragma once

#include "lint/counterfactual.h"

namespace tilewright::checks {

Findings vocabulary_not_aligned(const LintInput& input);
Findings hidden_not_aligned(const LintInput& input);
Findings attention_shard_not_aligned(const LintInput& input);
Findings mlp_shard_not_aligned(const LintInput& input);
Findings head_size_not_aligned(const LintInput& input);
Findings tokens_not_aligned(const LintInput& input);
Findings head_size_past_fused_limit(const LintInput& input);
Findings narrow_heads(const LintInput& input);
Findings mlp_width_not_aligned(const LintInput& input);
Findings mlp_width_8h_over_3(const LintInput& input);
Findings heads_not_divisible_by_tp(const LintInput& input);
Findings kv_heads_not_divisible_by_tp(const LintInput& input);
Findings vocabulary_not_divisible_by_tp(const LintInput& input);
Findings batch_heads_not_divisible_by_tp(const LintInput& input);
Findings layers_not_divisible_by_stages(const LintInput& input);
Findings micro_batch_smaller_than_memory_allows(const LintInput& input);
Findings tensor_parallel_wider_than_needed(const LintInput& input);
Findings gemm_just_past_a_tile(const LintInput& input);
Findings gemm_just_past_a_wave(const LintInput& input);
Findings expert_width_not_aligned(const LintInput& input);
Findings does_not_fit_in_memory(const LintInput& input);
Findings sequence_past_positions(const LintInput& input);
Findings host_bounds_the_step(const LintInput& input);

}  // namespace tilewright::checks
