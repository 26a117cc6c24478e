// Between the references' doubles and device memory: fresh random inputs in the kernel's own precision, and results
// back.
#pragma once

#include <cstdint>

#include "measure/fault.h"
#include "measure/reference.h"
#include "tilewright/workload.h"

namespace tilewright::measure::reference {

/// `count` normal values times `scale`, rounded to `precision` (Bf16, Fp16 or Fp32).
Vector random_values(std::int64_t count, Precision precision, unsigned seed, double scale = 1.0);
/// Whole numbers from 0 to limit - 1, as doubles.
Vector random_tokens(std::int64_t count, std::int64_t limit, unsigned seed);

Status upload(const Vector& values, Precision precision, void* device);
Status upload_tokens(const Vector& values, void* device);
Outcome<Vector> download(const void* device, std::int64_t count, Precision precision);

}  // namespace tilewright::measure::reference
