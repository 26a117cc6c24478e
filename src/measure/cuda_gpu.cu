#include "measure/cuda_gpu.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace tilewright::measure {
namespace {

constexpr int most_nodes = 512;               // of one graph; longer batches replay it
constexpr long long clock_window_ns = 25000;  // long against the timer's tick, short against a batch

__device__ long long global_nanoseconds() {
    long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

/// Counts SM cycles between two ticks of the global timer.
__global__ void clock_kernel(ClockReading* out, long long window_ns) {
    const long long first = global_nanoseconds();
    long long start = first;
    while (start == first) start = global_nanoseconds();
    const long long cycles = clock64();
    long long end = start;
    while (end - start < window_ns) end = global_nanoseconds();
    out->cycles = clock64() - cycles;
    out->nanoseconds = end - start;
}

}  // namespace

Outcome<std::unique_ptr<CudaGpu>> CudaGpu::open(int index) {
    std::unique_ptr<CudaGpu> gpu(new CudaGpu);
    TW_TRY(gpu->set_up(index));
    return Outcome<std::unique_ptr<CudaGpu>>(std::move(gpu));
}

Status CudaGpu::set_up(int index) {
    TW_TRY(check(cudaGetDeviceCount(&count_), "cudaGetDeviceCount"));
    if (count_ < 1) return failed("no GPU");
    device_ = index % count_;
    cudaDeviceProp properties{};
    TW_TRY(check(cudaGetDeviceProperties(&properties, device_), "cudaGetDeviceProperties"));
    TW_TRY(check(cudaSetDevice(device_), "cudaSetDevice"));
    name_ = properties.name;
    std::array<char, 32> bus{};
    TW_TRY(check(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device_), "cudaDeviceGetPCIBusId"));
    nvml_ = std::make_unique<Nvml>(bus.data());
    int kilohertz = 0;
    TW_TRY(check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device_), "cudaDeviceGetAttribute"));
    top_clock_ = {nvml_->top_clock_mhz().value_or(kilohertz * 1e-3) * 1e6};
    TW_TRY(check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"));
    TW_TRY(check(cudaMallocHost(&clocks_, sizeof(ClockReading) * (2 * slots + 1)), "cudaMallocHost"));
    for (Slot& slot : slot_) {
        TW_TRY(check(cudaEventCreate(&slot.before), "cudaEventCreate"));
        TW_TRY(check(cudaEventCreate(&slot.after), "cudaEventCreate"));
        TW_TRY(check(cudaEventCreate(&slot.done), "cudaEventCreate"));
    }
    return Done{};
}

CudaGpu::~CudaGpu() {
    drop_graph();
    for (const Slot& slot : slot_) {
        for (cudaEvent_t event : {slot.before, slot.after, slot.done}) {
            if (event != nullptr) cudaEventDestroy(event);
        }
    }
    if (clocks_ != nullptr) cudaFreeHost(clocks_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

Fields CudaGpu::facts() const {
    int driver = 0;
    int runtime = 0;
    const auto attribute = [&](cudaDeviceAttr which) {
        int value = 0;
        cudaDeviceGetAttribute(&value, which, device_);
        return value;
    };
    const auto text = [&](cudaDeviceAttr which) { return std::to_string(attribute(which)); };
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    cudaMemGetInfo(&free_bytes, &total_bytes);
    Fields facts = {
        {"device", name_},
        {"units", text(cudaDevAttrMultiProcessorCount)},
        {"compute_capability", text(cudaDevAttrComputeCapabilityMajor) + "." + text(cudaDevAttrComputeCapabilityMinor)},
        {"l2_bytes", text(cudaDevAttrL2CacheSize)},
        {"shared_per_unit_bytes", text(cudaDevAttrMaxSharedMemoryPerMultiprocessor)},
        {"memory_clock_mhz", std::to_string(attribute(cudaDevAttrMemoryClockRate) / 1000)},
        {"memory_bus_bits", text(cudaDevAttrGlobalMemoryBusWidth)},
        {"gpus", std::to_string(count_)},
        {"memory_bytes", std::to_string(total_bytes)},
        {"top_clock_mhz", std::to_string(static_cast<int>(top_clock_.value / 1e6))},
        {"cuda_driver", std::to_string(driver)},
        {"cuda_runtime", std::to_string(runtime)}};
    for (auto& fact : nvml_->facts()) facts.push_back(std::move(fact));
    const Seconds start = now();
    if (nvml_->energy_j()) facts.emplace_back("energy_read_us", std::to_string(in_microseconds(now() - start)));
    return facts;
}

void CudaGpu::load(Runnable* op) {
    cudaDeviceSynchronize();  // what filled the operands, and batches left behind by a fault
    finished_ = started_;
    drop_graph();
    op_ = op;
}

void CudaGpu::drop_graph() {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
    graph_ = nullptr;
}

/// One launch loads the kernels, the next are timed; their rough time includes the cost of launching.
Outcome<Seconds> CudaGpu::warm_up() {
    TW_TRY(op_->launch(stream_, 0));
    TW_TRY(check(cudaStreamSynchronize(stream_), "first launch"));
    const Slot& slot = slot_[0];
    Seconds best{1e9};
    for (int copy = 0; copy < 2; ++copy) {
        TW_TRY(check(cudaEventRecord(slot.before, stream_), "cudaEventRecord"));
        TW_TRY(op_->launch(stream_, copy % op_->copies()));
        TW_TRY(check(cudaEventRecord(slot.after, stream_), "cudaEventRecord"));
        TW_TRY(check(cudaStreamSynchronize(stream_), "warm-up launch"));
        float milliseconds = 0.0F;
        TW_TRY(check(cudaEventElapsedTime(&milliseconds, slot.before, slot.after), "cudaEventElapsedTime"));
        best = std::min(best, Seconds{std::max(milliseconds, 0.001F) * 1e-3});
        if (best.value > 0.002) break;
    }
    return best;
}

Status CudaGpu::capture(int nodes, cudaGraph_t& graph) {
    TW_TRY(check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture"));
    Status status = Done{};
    for (int node = 0; node < nodes && status.ok(); ++node) status = op_->launch(stream_, node % op_->copies());
    const Status ended = check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    return status.ok() ? ended : status;
}

Outcome<int> CudaGpu::prepare(int launches) {
    drop_graph();
    nodes_ = std::clamp(launches, 1, most_nodes);
    replays_ = std::max(1, (launches + nodes_ / 2) / nodes_);
    cudaGraph_t graph = nullptr;
    Status status = capture(nodes_, graph);
    if (status.ok()) status = check(cudaGraphInstantiate(&graph_, graph, 0), "cudaGraphInstantiate");
    if (graph != nullptr) cudaGraphDestroy(graph);
    TW_TRY(status);
    TW_TRY(check(cudaGraphUpload(graph_, stream_), "cudaGraphUpload"));
    return nodes_ * replays_;
}

Status CudaGpu::read_clock(int place) {
    clock_kernel<<<1, 1, 0, stream_>>>(clocks_ + place, clock_window_ns);
    return check(cudaGetLastError(), "clock kernel");
}

Hertz CudaGpu::clock_at(int place) const {
    const ClockReading& reading = clocks_[place];
    return {reading.nanoseconds > 0
                ? 1e9 * static_cast<double>(reading.cycles) / static_cast<double>(reading.nanoseconds)
                : 0.0};
}

Status CudaGpu::start() {
    const int place = static_cast<int>(started_ % slots);
    const Slot& slot = slot_[place];
    TW_TRY(read_clock(2 * place));
    TW_TRY(check(cudaEventRecord(slot.before, stream_), "cudaEventRecord"));
    for (int i = 0; i < replays_; ++i) TW_TRY(check(cudaGraphLaunch(graph_, stream_), "cudaGraphLaunch"));
    TW_TRY(check(cudaEventRecord(slot.after, stream_), "cudaEventRecord"));
    TW_TRY(read_clock(2 * place + 1));
    TW_TRY(check(cudaEventRecord(slot.done, stream_), "cudaEventRecord"));
    ++started_;
    return Done{};
}

Outcome<Reading> CudaGpu::finish() {
    const int place = static_cast<int>(finished_ % slots);
    const Slot& slot = slot_[place];
    TW_TRY(check(cudaEventSynchronize(slot.done), "batch"));
    ++finished_;
    float milliseconds = 0.0F;
    TW_TRY(check(cudaEventElapsedTime(&milliseconds, slot.before, slot.after), "cudaEventElapsedTime"));
    return Reading{nodes_ * replays_, {milliseconds * 1e-3}, clock_at(2 * place), clock_at(2 * place + 1)};
}

void CudaGpu::rest(Seconds time) { std::this_thread::sleep_for(std::chrono::duration<double>(time.value)); }

Outcome<Hertz> CudaGpu::clock() {
    TW_TRY(read_clock(2 * slots));
    TW_TRY(check(cudaStreamSynchronize(stream_), "clock kernel"));
    return clock_at(2 * slots);
}

Seconds CudaGpu::now() const {
    return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

}  // namespace tilewright::measure
