// Conversion on the host, copies to and from the device.
#include "measure/reference.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <random>

#include "measure/arena.h"

namespace tilewright::measure::reference {
namespace {

/// Calls f with a value of the element type.
template <class F>
auto with_element(Precision precision, F f) {
    if (precision == Precision::Bf16) return f(__nv_bfloat16{});
    if (precision == Precision::Fp16) return f(__half{});
    if (precision == Precision::Fp8) return f(__nv_fp8_e4m3{});
    return f(float{});
}

}  // namespace

Vector random_values(std::int64_t count, Precision precision, unsigned seed, double scale) {
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> normal(0.0, scale);
    Vector values(static_cast<std::size_t>(count));
    with_element(precision, [&](auto element) {
        using T = decltype(element);
        for (double& value : values)
            value = static_cast<double>(static_cast<float>(T(static_cast<float>(normal(engine)))));
    });
    return values;
}

Vector random_tokens(std::int64_t count, std::int64_t limit, unsigned seed) {
    std::mt19937_64 engine(seed);
    std::uniform_int_distribution<std::int64_t> uniform(0, limit - 1);
    Vector values(static_cast<std::size_t>(count));
    for (double& value : values) value = static_cast<double>(uniform(engine));
    return values;
}

Status upload(const Vector& values, Precision precision, void* device) {
    return with_element(precision, [&](auto element) -> Status {
        using T = decltype(element);
        std::vector<T> narrow(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) narrow[i] = T(static_cast<float>(values[i]));
        return check(cudaMemcpy(device, narrow.data(), narrow.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
    });
}

Status upload_tokens(const Vector& values, void* device) {
    const std::vector<std::int32_t> tokens(values.begin(), values.end());
    return check(cudaMemcpy(device, tokens.data(), tokens.size() * sizeof(std::int32_t), cudaMemcpyHostToDevice),
                 "upload");
}

Outcome<Vector> download(const void* device, std::int64_t count, Precision precision) {
    return with_element(precision, [&](auto element) -> Outcome<Vector> {
        using T = decltype(element);
        std::vector<T> narrow(static_cast<std::size_t>(count));
        TW_TRY(check(cudaMemcpy(narrow.data(), device, narrow.size() * sizeof(T), cudaMemcpyDeviceToHost), "download"));
        Vector values(narrow.size());
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(static_cast<float>(narrow[i]));
        return values;
    });
}

}  // namespace tilewright::measure::reference
