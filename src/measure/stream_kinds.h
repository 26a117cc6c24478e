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

/// A kernel on numbered buffers.
struct Kernel {
    std::vector<Buffer> buffers;
    std::function<Status(const Pointers&, cudaStream_t)> run;
    std::function<Expected(const Values&)> expect;  ///< what should be in the outputs
    std::function<Status(const Pointers&)> set_up;  ///< fills in constants once; may be empty
    double flops_per_element = 1.0;
};

/// What the case asks for.
struct Request {
    Extent e;
    bool backward = false;

    std::int64_t count() const { return e.rows * e.width; }
};

/// The kernel of a kind ("layernorm", "gelu", ...), pass and form; without `run` when there is none. A kind exists in
/// one form: fused where a runtime that does not fuse it launches several kernels, else eager.
Kernel stream_kernel(std::string_view kind, std::string_view form, const Request& request);

}  // namespace tilewright::measure
