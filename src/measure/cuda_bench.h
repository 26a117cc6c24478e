// Runs jobs on the GPU: makes the op in the arena, times it under the job's clock mode, and writes down what happened.
#pragma once

#include <memory>
#include <string>

#include "measure/cuda_gpu.h"
#include "measure/runnable.h"
#include "measure/sweep.h"

namespace tilewright::measure {

class CudaBench final : public Bench {
public:
    /// Opens the device and takes its memory (`arena_gib` of it, or the program's own choice when 0).
    static Outcome<std::unique_ptr<CudaBench>> open(double arena_gib, const std::string& command);

    const std::string& device() const override { return gpu_->name(); }
    Sample measure(const Job& job) override;
    bool lost() const override { return lost_; }
    const Run& run() const override { return run_; }
    double now_s() const override { return gpu_->now().value; }

    /// Relative error of the op against its reference.
    Outcome<double> check(const Case& what);

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

/// A bench that takes jobs of the family `collective`, by NCCL: one process with all GPUs of a node, or one process a
/// GPU where a launcher started several (ranks.h). A fault when there is no GPU, or the program has no NCCL in it.
Outcome<std::unique_ptr<Bench>> open_collective_bench(const std::string& command);

/// Host time of launching an empty kernel one by one, with the queue never empty.
Outcome<Timing> time_eager_launch(cudaStream_t stream);

}  // namespace tilewright::measure
