// A stream kernel as the family sees it: numbered buffers, what to launch on them and what should come out. Bytes,
// rotation and checks follow from the buffers.
#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/reference.h"
#include "measure/stream_kernels.h"

namespace tilewright::measure {

using reference::Vector;

enum class Role { Input, Output, InOut, Tokens, Scratch };

/// One operand of a kernel; `traffic` is the bytes that must pass through memory for it.
struct Buffer {
    Role role;
    std::int64_t count;
    Precision type;
    double traffic;
    std::int64_t limit = 0;  ///< tokens are below it
    double scale = 1.0;      ///< of the random values in a check
    bool shared = false;     ///< one for all operand sets: scratch, and tables of which a launch touches a part
};

using Pointers = std::vector<void*>;
using Values = std::vector<Vector>;
using Expected = std::vector<std::pair<std::size_t, Vector>>;

/// A kernel (or the few of an unfused op) on numbered buffers.
struct Kernel {
    std::vector<Buffer> buffers;
    std::function<Status(const Pointers&, cudaStream_t)> run;
    std::function<Expected(const Values&)> expect;  ///< what should be in the outputs; empty when nothing comes out
    std::function<Status(const Pointers&)> set_up;  ///< fills in constants once; may be empty
    double flops_per_element = 1.0;
};

/// What the case asks for.
struct Request {
    Extent e;
    bool backward = false;
    bool fused = false;

    std::int64_t count() const { return e.rows * e.width; }
};

/// Adds buffers to a kernel and gives their numbers.
class BufferList {
public:
    BufferList(Kernel& kernel, const Request& request) : k_(kernel), r_(request) {}

    std::size_t input(std::int64_t count) { return add(Role::Input, count, r_.e.type, 1.0); }
    std::size_t output(std::int64_t count) { return add(Role::Output, count, r_.e.type, 1.0); }
    std::size_t both(std::int64_t count) { return add(Role::InOut, count, r_.e.type, 2.0); }
    std::size_t float_input(std::int64_t count) { return add(Role::Input, count, Precision::Fp32, 1.0); }
    std::size_t float_output(std::int64_t count) { return add(Role::Output, count, Precision::Fp32, 1.0); }
    std::size_t float_both(std::int64_t count) { return add(Role::InOut, count, Precision::Fp32, 2.0); }
    std::size_t scratch(std::size_t bytes) {
        const std::size_t at = add(Role::Scratch, static_cast<std::int64_t>(bytes / 4), Precision::Fp32, 0.0);
        k_.buffers[at].shared = true;
        return at;
    }
    std::size_t tokens(std::int64_t count, std::int64_t limit) {
        const std::size_t at = add(Role::Tokens, count, Precision::Fp32, 1.0);
        k_.buffers[at].limit = limit;
        return at;
    }

private:
    std::size_t add(Role role, std::int64_t count, Precision type, double passes) {
        k_.buffers.push_back({role, count, type, passes * static_cast<double>(count) * element_bytes(type)});
        return k_.buffers.size() - 1;
    }
    Kernel& k_;
    const Request& r_;
};

inline float* as_float(void* pointer) { return static_cast<float*>(pointer); }

/// The kinds, one function each: a kernel for the request. An empty `run` means there is no such form.
Kernel layer_norm_kernel(const Request& request);
Kernel rms_norm_kernel(const Request& request);
Kernel gelu_kernel(const Request& request);
Kernel swiglu_kernel(const Request& request);
Kernel residual_kernel(const Request& request);
Kernel bias_kernel(const Request& request);
Kernel rotary_kernel(const Request& request);
Kernel softmax_kernel(const Request& request);
Kernel embedding_kernel(const Request& request);
Kernel loss_kernel(const Request& request);
Kernel adamw_kernel(const Request& request);

}  // namespace tilewright::measure
