// The policy's device on a real GPU: batches are CUDA graphs of launches that rotate over the op's operand sets, timed
// with events, between two readings of the SM clock, all queued on one stream.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "measure/nvml.h"
#include "measure/policy.h"
#include "measure/runnable.h"

namespace tilewright::measure {

/// Cycles counted by one SM while the global timer moved this many nanoseconds.
struct ClockReading {
    long long cycles = 0;
    long long nanoseconds = 0;
};

class CudaGpu final : public Gpu {
public:
    /// The GPU of that index, starting again at the first where there are fewer.
    static Outcome<std::unique_ptr<CudaGpu>> open(int index);
    ~CudaGpu() override;

    /// The op that the next calls are about; null unloads. It must outlive its use.
    void load(Runnable* op);

    const std::string& name() const { return name_; }
    cudaStream_t stream() const { return stream_; }
    Fields facts() const;  ///< of the device and the driver, for the run's header

    Outcome<Seconds> warm_up() override;
    Outcome<int> prepare(int launches) override;
    Status start() override;
    Outcome<Reading> finish() override;
    void rest(Seconds time) override;
    Outcome<Hertz> clock() override;
    Hertz top_clock() const override { return top_clock_; }
    Seconds now() const override;
    std::optional<double> energy_j() override { return nvml_->energy_j(); }

private:
    static constexpr int slots = 4;

    struct Slot {
        cudaEvent_t before = nullptr;
        cudaEvent_t after = nullptr;
        cudaEvent_t done = nullptr;
    };

    CudaGpu() = default;
    Status set_up(int index);
    Status capture(int nodes, cudaGraph_t& graph);
    void drop_graph();
    Status read_clock(int place);
    Hertz clock_at(int place) const;

    int device_ = 0;
    int count_ = 1;  ///< GPUs of this machine
    std::string name_;
    Hertz top_clock_;
    std::unique_ptr<Nvml> nvml_;
    cudaStream_t stream_ = nullptr;
    ClockReading* clocks_ = nullptr;  ///< pinned; two a slot and one more
    std::array<Slot, slots> slot_;
    std::uint64_t started_ = 0;
    std::uint64_t finished_ = 0;
    Runnable* op_ = nullptr;
    cudaGraphExec_t graph_ = nullptr;
    int nodes_ = 0;
    int replays_ = 0;
};

}  // namespace tilewright::measure
