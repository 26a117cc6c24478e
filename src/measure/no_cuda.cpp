// The program without CUDA: everything but the GPU.
#include "measure/benches.h"

namespace tilewright::measure {

Outcome<std::unique_ptr<Bench>> open_gpu_bench(const GpuChoice&, const std::string&) {
    return failed("this tilewright-measure was built without CUDA");
}

Outcome<std::unique_ptr<Bench>> open_collective_bench(const std::string&) {
    return failed("this tilewright-measure was built without CUDA");
}

std::string opening_advice() {
    return "install the CUDA toolkit (nvcc, cuBLASLt, cuDNN 9) and build again; --plan and --fake need neither";
}

}  // namespace tilewright::measure
