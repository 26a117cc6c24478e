// Runs jobs on the GPU: makes the op in the arena, times it under the job's clock mode, and writes down what happened.
#pragma once

#include <memory>
#include <string>

#include "measure/benches.h"
#include "measure/cuda_gpu.h"
#include "measure/runnable.h"

namespace tilewright::measure {

class CudaBench final : public Bench {
public:
    /// Opens the device and takes its memory.
    static Outcome<std::unique_ptr<CudaBench>> open(const GpuChoice& choice, const std::string& command);

    const std::string& device() const override { return gpu_->name(); }
    Sample measure(const Job& job) override;
    bool lost() const override { return lost_; }
    const Run& run() const override { return run_; }
    double now_s() const override { return gpu_->now().value; }

    Outcome<double> check(const Case& what) override;

private:
    CudaBench(std::unique_ptr<CudaGpu> gpu, Arena arena);
    Status make(const Case& what);
    Outcome<Timing> time(const Job& job);
    void describe(const std::string& command);
    void give_up(const Fault& fault);

    std::unique_ptr<CudaGpu> gpu_;
    Arena arena_;
    Run run_;
    Policy policy_;
    bool lost_ = false;
    Case made_of_;  ///< what `op_` was made of; the next job often is the same op under another clock
    std::unique_ptr<Runnable> op_;
};

/// Host time of launching an empty kernel one by one, with the queue never empty.
Outcome<Timing> time_eager_launch(cudaStream_t stream);

}  // namespace tilewright::measure
