// Which function makes which op.
#include <algorithm>
#include <array>

#include "measure/runnable.h"

namespace tilewright::measure {
namespace {

struct Family {
    std::string_view op;
    Make make;
};

constexpr std::array families = {Family{"gemm", make_gemm},           Family{"attention", make_attention},
                                 Family{"stream", make_stream},       Family{"layer", make_layer},
                                 Family{"bandwidth", make_bandwidth}, Family{"launch", make_launch}};

}  // namespace

Make find_family(std::string_view op) {
    const auto found = std::find_if(families.begin(), families.end(), [&](const Family& f) { return f.op == op; });
    return found == families.end() ? nullptr : found->make;
}

}  // namespace tilewright::measure
