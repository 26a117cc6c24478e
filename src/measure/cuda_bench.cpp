#include "measure/cuda_bench.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace tilewright::measure {
namespace {

/// How a family makes a Runnable; `arena` was reset just before. What the library refuses is unsupported(reason).
using Make = Outcome<std::unique_ptr<Runnable>> (*)(const Case& what, Arena& arena);

struct Family {
    std::string_view op;
    Make make;
};

constexpr std::array families = {Family{"gemm", make_gemm}, Family{"attention", make_attention},
                                 Family{"stream", make_stream}, Family{"bandwidth", make_bandwidth},
                                 Family{"launch", make_launch}};

std::string utc_time() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    const std::size_t length = std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
    return std::string(text, length);
}

void record(const Outcome<Timing>& timing, Sample& sample) {
    if (!timing) {
        sample.status = timing.fault().unsupported ? SampleStatus::Unsupported : SampleStatus::Failed;
        sample.reason = timing.fault().reason;
        return;
    }
    sample.time = timing->time;
    sample.clock_mhz = timing->clock_mhz;
    sample.cycles = timing->cycles;
    sample.power_w = timing->power_w;
    sample.energy_j = timing->energy_j;
    sample.reason = timing->doubt;
}

}  // namespace

CudaBench::CudaBench(std::unique_ptr<CudaGpu> gpu, Arena arena) : gpu_(std::move(gpu)), arena_(std::move(arena)) {}

Outcome<std::unique_ptr<CudaBench>> CudaBench::open(const GpuChoice& choice, const std::string& command) {
    Outcome<std::unique_ptr<CudaGpu>> gpu = CudaGpu::open(choice.index);
    if (!gpu) return gpu.fault();
    Outcome<Arena> arena = Arena::take(static_cast<std::size_t>(choice.arena_gib * 1073741824.0));
    if (!arena) return arena.fault();
    std::unique_ptr<CudaBench> bench(new CudaBench(std::move(*gpu), std::move(*arena)));
    bench->describe(command);
    return bench;
}

void CudaBench::describe(const std::string& command) {
    const std::string time = utc_time();
    run_.id = time + "-" + std::to_string(::getpid());
    run_.facts = gpu_->facts();
    for (const Fields& versions : {gemm_versions(), attention_versions()}) {
        run_.facts.insert(run_.facts.end(), versions.begin(), versions.end());
    }
    run_.facts.emplace_back("time", time);
    run_.facts.emplace_back("command", command);
}

Status CudaBench::make(const Case& what) {
    if (op_ != nullptr && made_of_ == what) return Done{};
    gpu_->load(nullptr);
    op_.reset();
    arena_.reset();
    const auto family =
        std::find_if(families.begin(), families.end(), [&](const Family& known) { return known.op == what.op; });
    if (family == families.end()) return unsupported("'" + what.op + "' is not measured here");
    Outcome<std::unique_ptr<Runnable>> made = family->make(what, arena_);
    if (!made) return made.fault();
    op_ = std::move(*made);
    made_of_ = what;
    gpu_->load(op_.get());
    return Done{};
}

Outcome<Timing> CudaBench::time(const Job& job) {
    if (job.what.op == "launch" && job.what.word("kind") == "eager") return time_eager_launch(gpu_->stream());
    TW_TRY(make(job.what));
    return time_op(*gpu_, job.clock, policy_);
}

Sample CudaBench::measure(const Job& job) {
    Sample sample = untimed(job, *this);
    const Outcome<Timing> timing = time(job);
    record(timing, sample);
    if (op_ != nullptr && made_of_ == job.what) {
        sample.facts = op_->facts();
        sample.facts.emplace_back("copies", std::to_string(op_->copies()));
        sample.flops = op_->flops();
        sample.bytes = op_->bytes();
    }
    if (!timing) give_up(timing.fault());
    return sample;
}

/// A library may report its own error for what broke the device before, so the device itself is asked.
void CudaBench::give_up(const Fault& fault) {
    const Status device = measure::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    lost_ = fault.fatal || (!device.ok() && device.fault().fatal);
    if (lost_) return;
    gpu_->load(nullptr);
    op_.reset();
}

Outcome<std::unique_ptr<Bench>> open_gpu_bench(const GpuChoice& choice, const std::string& command) {
    auto bench = CudaBench::open(choice, command);
    if (!bench) return bench.fault();
    return std::unique_ptr<Bench>(std::move(*bench));
}

std::string opening_advice() {
    return "run it where an NVIDIA GPU and a driver for CUDA " + std::to_string(CUDART_VERSION / 1000) +
           " are; --plan and --fake need neither";
}

Outcome<double> CudaBench::check(const Case& what) {
    op_.reset();
    constexpr unsigned seed = 20;
    const Status made = make(what);
    const Outcome<double> error = made ? op_->check(seed) : Outcome<double>(made.fault());
    if (!error) give_up(error.fault());
    return error;
}

}  // namespace tilewright::measure
