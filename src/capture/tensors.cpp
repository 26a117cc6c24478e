// Sizes and strides of captured tensors.
#include "capture/tensors.h"

#include <algorithm>

namespace tilewright::capture {

std::int64_t elements(const CapturedTensor& tensor) {
    std::int64_t count = 1;
    for (const std::int64_t size : tensor.sizes) count *= size;
    return count;
}

double distinct_bytes(const CapturedTensor& tensor) {
    double bytes = bytes_of(tensor.type);
    for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
        if (tensor.strides[i] != 0 || tensor.sizes[i] == 0) bytes *= static_cast<double>(tensor.sizes[i]);
    }
    return bytes;
}

bool is_dense(const CapturedTensor& tensor) {
    std::vector<std::pair<std::int64_t, std::int64_t>> dimensions;
    for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
        if (tensor.sizes[i] != 1) dimensions.emplace_back(tensor.strides[i], tensor.sizes[i]);
    }
    std::sort(dimensions.begin(), dimensions.end());
    std::int64_t expected = 1;
    for (const auto& [stride, size] : dimensions) {
        if (stride != expected) return false;
        expected *= size;
    }
    return true;
}

bool is_contiguous(const CapturedTensor& tensor) {
    std::int64_t expected = 1;
    for (std::size_t i = tensor.sizes.size(); i-- > 0;) {
        if (tensor.sizes[i] == 1) continue;
        if (tensor.strides[i] != expected) return false;
        expected *= tensor.sizes[i];
    }
    return true;
}

std::int64_t last_size(const CapturedTensor& tensor) {
    return tensor.sizes.empty() ? 1 : std::max<std::int64_t>(1, tensor.sizes.back());
}

Precision precision_of(ElementType type) {
    switch (type) {
        case ElementType::Fp16: return Precision::Fp16;
        case ElementType::Fp8:
        case ElementType::Int8: return Precision::Fp8;
        case ElementType::Fp32:
        case ElementType::Fp64: return Precision::Fp32;
        default: return Precision::Bf16;
    }
}

Operands::Operands(const CapturedOp& op, const Capture& capture)
    : op_(op), capture_(capture), name_(short_name(op.name)) {
    bool host_input = false, host_output = false;
    for (const CapturedValue& value : op.arguments) gather(value, inputs_, host_input);
    for (const auto& [key, value] : op.named) gather(value, inputs_, host_input);
    for (const CapturedValue& value : op.results) gather(value, outputs_, host_output);
    leaves_gpu_ = host_output && !inputs_.empty() && outputs_.empty();
}

void Operands::gather(const CapturedValue& value, std::vector<const CapturedTensor*>& gpu, bool& host) const {
    if (const auto* list = std::get_if<std::vector<CapturedValue>>(&value.data)) {
        for (const CapturedValue& item : *list) gather(item, gpu, host);
    } else if (const auto* index = std::get_if<TensorIndex>(&value.data)) {
        const CapturedTensor& tensor = capture_.tensors[index->value];
        if (tensor.on_gpu) gpu.push_back(&tensor);
        if (!tensor.on_gpu) host = true;
    }
}

const CapturedTensor* Operands::tensor(std::size_t i) const {
    if (i >= op_.arguments.size()) return nullptr;
    const auto* index = std::get_if<TensorIndex>(&op_.arguments[i].data);
    return index == nullptr ? nullptr : &capture_.tensors[index->value];
}

const CapturedTensor* Operands::result(std::size_t i) const {
    if (i >= op_.results.size()) return nullptr;
    const auto* index = std::get_if<TensorIndex>(&op_.results[i].data);
    return index == nullptr ? nullptr : &capture_.tensors[index->value];
}

bool Operands::has(std::size_t i) const {
    return i < op_.arguments.size() && !std::holds_alternative<std::monostate>(op_.arguments[i].data);
}

bool Operands::flag(std::size_t i, std::string_view name) const {
    const auto is_true = [](const CapturedValue& value) {
        const bool* flag = std::get_if<bool>(&value.data);
        return flag != nullptr && *flag;
    };
    for (const auto& [key, value] : op_.named) {
        if (key == name) return is_true(value);
    }
    return i < op_.arguments.size() && is_true(op_.arguments[i]);
}

std::vector<std::int64_t> Operands::integers(std::size_t i) const {
    std::vector<std::int64_t> found;
    if (i >= op_.arguments.size()) return found;
    const auto take = [&](const CapturedValue& value) {
        if (const auto* integer = std::get_if<std::int64_t>(&value.data)) found.push_back(*integer);
    };
    take(op_.arguments[i]);
    if (const auto* list = std::get_if<std::vector<CapturedValue>>(&op_.arguments[i].data)) {
        for (const CapturedValue& item : *list) take(item);
    }
    return found;
}

Bytes Operands::read() const {
    double bytes = 0;
    for (const CapturedTensor* tensor : inputs_) bytes += distinct_bytes(*tensor);
    return {bytes};
}

Bytes Operands::written() const {
    double bytes = 0;
    for (const CapturedTensor* tensor : outputs_) bytes += distinct_bytes(*tensor);
    return {bytes};
}

void append_stream(const Operands& operands, const Stream& stream, Kernels& kernels) {
    if ((stream.read + stream.written).value <= 0) return;
    Op op;
    op.name = operands.name();
    op.work = stream;
    kernels.push_back(op);
}

void append_gemm(const Operands& operands, const Gemm& gemm, Kernels& kernels) {
    if (gemm.m < 1 || gemm.n < 1 || gemm.k < 1 || gemm.batch < 1) return;
    Op op;
    op.name = operands.name();
    Gemm fresh = gemm;
    fresh.reuse = Reuse::Input;
    op.work = fresh;
    kernels.push_back(op);
}

}  // namespace tilewright::capture
