// The tensors of one captured op, and how they lie in memory.
#pragma once

#include "tilewright/capture.h"

namespace tilewright::capture {

std::int64_t elements(const CapturedTensor& tensor);

/// Bytes that it occupies: broadcast dimensions once.
double distinct_bytes(const CapturedTensor& tensor);

/// Whether its elements fill their memory without gaps or repetition, in whatever order of dimensions.
bool is_dense(const CapturedTensor& tensor);

/// Dense, last dimension innermost.
bool is_contiguous(const CapturedTensor& tensor);

/// Size of the last dimension; 1 where there is none.
std::int64_t last_size(const CapturedTensor& tensor);

Precision precision_of(ElementType type);

/// One call's view of the capture.
class Operands {
public:
    Operands(const CapturedOp& op, const Capture& capture);

    std::string_view name() const { return name_; }
    /// The tensor that is positional argument `i`; null where it is none.
    const CapturedTensor* tensor(std::size_t i) const;
    const CapturedTensor* result(std::size_t i) const;
    bool has(std::size_t i) const;  ///< argument i is there and not None
    bool flag(std::size_t i, std::string_view name) const;
    std::vector<std::int64_t> integers(std::size_t i) const;

    /// Tensors on the GPU, those in lists too.
    const std::vector<const CapturedTensor*>& inputs() const { return inputs_; }
    const std::vector<const CapturedTensor*>& outputs() const { return outputs_; }
    bool only_on_host() const { return inputs_.empty() && outputs_.empty(); }
    Bytes read() const;
    Bytes written() const;
    bool waits() const { return leaves_gpu_; }  ///< a result on the host of tensors on the GPU

private:
    void gather(const CapturedValue& value, std::vector<const CapturedTensor*>& gpu, bool& host) const;

    const CapturedOp& op_;
    const Capture& capture_;
    std::string_view name_;
    std::vector<const CapturedTensor*> inputs_, outputs_;
    bool leaves_gpu_ = false;
};

using Kernels = std::vector<Op>;

void append_stream(const Operands& operands, const Stream& stream, Kernels& kernels);
void append_gemm(const Operands& operands, const Gemm& gemm, Kernels& kernels);

/// Appends the kernels of an op and says true, or says false of one that is not of its kind.
bool lower_product(const Operands& operands, Kernels& kernels);
bool lower_attention(const Operands& operands, Kernels& kernels);
bool lower_stream(const Operands& operands, Kernels& kernels);

}  // namespace tilewright::capture
