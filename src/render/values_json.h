// The parts that JSON documents share: shape, workload, device, cost, findings, candidates. Times in seconds, memory in
// bytes. Each writes fields of an object that is already open.
#pragma once

#include "render/json.h"
#include "tilewright/answer.h"

namespace tilewright::render {

void write_shape(JsonWriter& json, const Shape& shape, const ParameterCount& params);
void write_formats(JsonWriter& json, const Workload& workload);
void write_workload(JsonWriter& json, const Workload& workload);
void write_device(JsonWriter& json, const Device& device);

/// A prediction without its kernels.
void write_summary(JsonWriter& json, const Prediction& prediction);
void write_kernel(JsonWriter& json, const PricedOp& priced);
void write_terms(JsonWriter& json, const std::array<Seconds, term_count>& terms);
void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts);
void write_findings(JsonWriter& json, const std::vector<Finding>& findings);
void write_memory(JsonWriter& json, const Memory& memory, const Device& device);
void write_step(JsonWriter& json, const Step& step, const Device& device);
void write_serving(JsonWriter& json, const Serving& serving);
void write_errors(JsonWriter& json, std::string_view key, const std::vector<ErrorLine>& lines);

void write_candidates(JsonWriter& json, const SearchResult& found);

/// A member `loss`: the change at equal tokens; null where no such model was trained.
void write_loss(JsonWriter& json, const LossChange& loss);

/// Members of the open object: a shape's speed-up, size and loss against its baseline.
void write_proposal(JsonWriter& json, const Candidate& candidate);

}  // namespace tilewright::render
