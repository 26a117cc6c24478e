// What `plan` shows: the best plan, why the others lose, what it costs, and the flags that say the same elsewhere.
// JSON: schema tilewright.plan/1 and, when serving, tilewright.serving/1.
#pragma once

#include <optional>
#include <string>

#include "render/json.h"
#include "render/style.h"
#include "tilewright/plan.h"

namespace tilewright::render {

/// What was asked and found.
struct PlanAnswer {
    Shape shape;
    Device device;
    std::string cluster;  ///< empty when only a GPU was named
    std::int64_t gpus = 1;
    PlanResult found;
    TrainingBudget budget;        ///< of the best plan
    std::optional<double> price;  ///< of a GPU-hour
};

std::string plan_text(const PlanAnswer& answer, const Style& style);
std::string plan_json(const PlanAnswer& answer);

/// Flags of Megatron-LM and of torchtitan that ask for the same plan.
std::vector<std::string> megatron_flags(const Workload& workload, std::int64_t global_batch);
std::vector<std::string> torchtitan_flags(const Workload& workload, std::int64_t global_batch);

/// The terms of a step, largest first, with what hides behind other work.
void append_step(std::string& out, const Step& step, const Style& style);
void write_step(JsonWriter& json, const Step& step);

std::string serving_text(const Shape& shape, const Device& device, const Serving& serving, const Style& style);
std::string serving_json(const Shape& shape, const Device& device, const Serving& serving);

/// "from batch 256", or that it never does.
std::string takeover_text(const Serving::Limit& limit);

/// The limits and the points, inside an object that is already open.
void write_serving(JsonWriter& json, const Serving& serving);

}  // namespace tilewright::render
