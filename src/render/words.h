// Phrases that the text and the page of an answer share.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "quantity/suggest.h"
#include "render/style.h"
#include "tilewright/answer.h"

namespace tilewright::render {

/// "int4 weights, fp8 cache".
std::string formats_text(const Workload& workload);

/// "train, 4 × 2048 tokens, bf16, compiled, attention auto, sustained clock".
std::string workload_text(const Workload& workload);

/// "The host bounds this step: the GPU idles 46%." and what helps by how much.
std::string host_bound_text(const Prediction& prediction);

/// "tokens/s", and on how many GPUs when there is more than one.
std::string throughput_unit(const Workload& workload);

/// "power 12%, wave 4%": the losses of at least `least` of the time, largest first; "-" when there are none.
std::string losses_text(const std::array<Seconds, term_count>& terms, Seconds time, double least);

/// "assumed (data-sheet …)": a grade of evidence and what it is worth.
std::string evidence_text(Evidence evidence);

/// "mlp up", "mlp up: pad weights".
std::string kernel_text(const Op& op);

/// "TN 8192×2304×768": the sizes of a kernel in as few characters as they can be read in.
std::string size_text(const Op& op);

/// "128×256/2": a tile and the split of k; "-" where there is none.
std::string tile_text(const Cost& cost);

/// "vocab 50257 -> 50304 saves 12.1 ms, +120 k parameters".
std::string fix_text(const Fix& fix);

/// "heads 32 -> 20, ffn 10240 -> 10368".
std::string changes_text(const Candidate& candidate);

/// "heads 32 -> 20: attention 1.48 times faster; vocab 50257 -> 50272: head 4.44 times faster".
std::string causes_text(const Candidate& candidate);

/// The speed-up of a candidate with the host that is assumed, to the baseline's loss where that is the objective.
std::string gain_text(const Candidate& candidate, Objective objective);

/// What to take, or that there is nothing to gain; what that does to loss; what else might be better.
std::vector<std::string> recommendation_points(const SearchResult& found);
std::vector<std::string> recommendation_points(const Advice& advice);  ///< and why there is none, where memory is it
std::string recommendation(const Advice& advice);                      ///< the points in one
void append_recommendation(std::string& out, const std::vector<std::string>& points, const Style& style);
std::string loss_text(const LossChange& loss);        ///< "+0.2% (-0.4 to +0.8)"
std::string loss_short_text(const LossChange& loss);  ///< "+0.2±0.6%"
std::string reach_text(const LossChange& loss);       ///< what the law is asked beyond; empty within its runs
std::string law_evidence_text();                      ///< what the law of loss stands on

/// Which is the fastest, and by how much.
std::string fastest_text(const Comparison& comparison);

/// What the expected losses of a comparison mean and where the law of loss does not reach; empty where there are none.
std::string learning_text(const Comparison& comparison);

/// "from batch 256", or that it never does.
std::string takeover_text(const Serving::Limit& limit);

/// Flags of Megatron-LM and of torchtitan that ask for the same plan.
std::vector<std::string> megatron_flags(const Workload& workload);
std::vector<std::string> torchtitan_flags(const Workload& workload);

/// A heading of a text answer, under an empty line.
void append_title(std::string& out, std::string_view title, const Style& style);

/// What memory is made of, in the order of its fields: "weights", … "allocated", … "total".
std::array<std::pair<std::string_view, Bytes>, 12> memory_lines(const Memory& memory);

/// "137 GiB that may be used of 141 GiB".
std::string room_text(const Device& device);

/// Why it cannot run, with the numbers; empty where it can.
std::string misfit_text(const Prediction& prediction);

/// What the kernels of a prediction make up: a step, a layer, or a part of the step that many share.
std::string_view priced_text(const Prediction& prediction);

/// Title, parameters, GPU and workload: the lines that open a text answer.
void append_header(std::string& out, const Prediction& prediction, const Style& style);

/// Where the numbers come from and how far off they may be, in a sentence.
void append_evidence(std::string& out, const Prediction& prediction, const Style& style);

/// One finding: severity, code, what is off, what it costs, its fixes.
void append_finding(std::string& out, const Finding& finding, const Style& style);

/// At most `most` of each kind; several alike are listed once.
void append_candidates(std::string& out, const SearchResult& found, std::size_t most, const Style& style);

/// The terms of a step, largest first, with what hides behind other work.
void append_step(std::string& out, const Step& step, const Style& style);

}  // namespace tilewright::render
