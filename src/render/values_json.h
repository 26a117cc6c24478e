// The parts that JSON documents share: shape, workload, device, cost. Times in seconds, memory in bytes.
#pragma once

#include "render/json.h"
#include "render/prediction.h"

namespace tilewright::render {

void write_shape(JsonWriter& json, const Shape& shape, const ParameterCount& params);
void write_workload(JsonWriter& json, const Workload& workload);
void write_device(JsonWriter& json, const Device& device);

/// The fields of a prediction without its kernels, inside an object that is already open.
void write_summary(JsonWriter& json, const Prediction& prediction);
void write_terms(JsonWriter& json, const std::array<Seconds, term_count>& terms);
void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts);

}  // namespace tilewright::render
