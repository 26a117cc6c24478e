// What a PyTorch program dispatched in one step, recorded by tilewright_capture: aten ops with their tensors, in order.
// Each becomes the kernels that it launches; docs/capture.md has the file and the table of ops.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tilewright/ops.h"

namespace tilewright {

enum class ElementType : std::uint8_t { Bool, Int8, Int16, Int32, Int64, Fp8, Bf16, Fp16, Fp32, Fp64 };

/// PyTorch's words.
template <>
inline constexpr std::array<NameTable<ElementType>, 14> names<ElementType>{{{"bool", ElementType::Bool},
                                                                            {"int8", ElementType::Int8},
                                                                            {"uint8", ElementType::Int8},
                                                                            {"int16", ElementType::Int16},
                                                                            {"int32", ElementType::Int32},
                                                                            {"int64", ElementType::Int64},
                                                                            {"float8_e4m3fn", ElementType::Fp8},
                                                                            {"float8_e5m2", ElementType::Fp8},
                                                                            {"bfloat16", ElementType::Bf16},
                                                                            {"float16", ElementType::Fp16},
                                                                            {"float32", ElementType::Fp32},
                                                                            {"float64", ElementType::Fp64},
                                                                            {"complex64", ElementType::Fp64},
                                                                            {"uint16", ElementType::Int16}}};

constexpr int bytes_of(ElementType type) {
    switch (type) {
        case ElementType::Bool:
        case ElementType::Int8:
        case ElementType::Fp8: return 1;
        case ElementType::Int16:
        case ElementType::Bf16:
        case ElementType::Fp16: return 2;
        case ElementType::Int32:
        case ElementType::Fp32: return 4;
        case ElementType::Int64:
        case ElementType::Fp64: return 8;
    }
    return 0;
}

struct CapturedTensor {
    ElementType type = ElementType::Bf16;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;  ///< in elements, as many as sizes; 0 where a dimension is broadcast
    bool on_gpu = true;
};

/// One of the capture's tensors.
struct TensorIndex {
    std::size_t value = 0;
};

/// An argument or a result of an op.
struct CapturedValue {
    std::variant<std::monostate, bool, std::int64_t, double, std::string, TensorIndex, std::vector<CapturedValue>> data;
};

/// One op with the tensors it was called with; calls that are alike share it.
struct CapturedOp {
    std::string name;  ///< of the dispatcher: "aten.mm.default"
    std::vector<CapturedValue> arguments;
    std::vector<std::pair<std::string, CapturedValue>> named;
    std::vector<CapturedValue> results;
};

struct CapturedCall {
    std::size_t op = 0;
    std::size_t module = 0;
    Pass pass = Pass::Forward;
};

/// A recorded step. Indices are within bounds, strides as many as sizes.
struct Capture {
    std::string program;  ///< the class, or what was run
    std::string phase;    ///< train, forward, prefill, decode
    std::string master;   ///< the type of the weights that are trained: bf16, fp32
    std::int64_t batch = 0;
    std::int64_t seq = 0;  ///< of a sequence; decoding: of the prompt
    std::vector<std::string> versions;
    std::string recorded_with;
    std::vector<std::string> notes;  ///< what could not be recorded
    std::int64_t parameters = 0;
    Bytes weights;               ///< of all parameters
    Bytes peak;                  ///< most bytes of tensors alive at once
    std::optional<Shape> shape;  ///< where the program is a class of a known family
    std::vector<CapturedTensor> tensors;
    std::vector<std::string> modules;  ///< paths; "" is the program itself
    std::vector<CapturedOp> ops;
    std::vector<CapturedCall> calls;  ///< in order
};

/// What the host does for an op, as far as its time depends on it.
enum class HostWork : std::uint8_t {
    Nothing,    ///< only the recording has it
    View,       ///< a tensor over the same memory
    Launch,     ///< issues kernels
    Optimizer,  ///< walks all parameters
    Wait        ///< reads a value back
};

/// What one call of an op is: its kernels, once each in order, and the host's part.
struct CapturedWork {
    std::vector<Op> kernels;  ///< named after the op; count 1; on no particular device yet
    HostWork host = HostWork::Launch;
    bool by_bytes = false;  ///< nothing is known of the op but the bytes of its tensors
};

/// Views into `capture`, whose strings its names are.
CapturedWork lower(const CapturedOp& op, const Capture& capture);

/// "aten.mm.default" -> "mm"
std::string_view short_name(std::string_view dispatcher_name);

}  // namespace tilewright
