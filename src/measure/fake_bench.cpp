// The law. Products: tiles of 128 x 128 in waves over the units, each at 0.9 of a unit's peak, at 0.35 of it where a
// row is no whole number of 16 bytes; or the operands at 0.9 of the bandwidth; and 3 us. Attention: 0.6 of the peak, or
// its bytes, and 5 us. Streams: 0.85 of the bandwidth, and 2.5 us. Collectives: a ring, 10 us and 2 for each step, at
// 200 GB/s in a node of four, at 100 with 10 us more for each node. Each time is off by up to 1%, by a hash of what is
// timed. The board draws 0.25 of its limit idle and as much again as the limit with the matrix units busy, by the
// square of the clock: busy ones settle where that meets the limit.
#include "measure/benches.h"

#include <algorithm>
#include <cmath>

#include "measure/generate.h"

namespace tilewright::measure {
namespace {

constexpr FakeGpuFacts fakes[] = {{"large", "Fake GPU 1000", 100, 1.5e9, 2.0e12, 400.0},
                                  {"small", "Fake GPU 500", 48, 1.5e9, 0.8e12, 250.0}};
constexpr int node_size = 4;
constexpr double flops_per_cycle = 2048.0;  ///< of a unit, in bf16: that of compute capability 8.0

/// Seconds at the top clock, and how busy the matrix units are in them.
struct Law {
    double seconds = 0.0;
    double busy = 0.0;
    double flops = 0.0, bytes = 0.0;
};

class FakeBench final : public Bench {
public:
    FakeBench(const FakeGpuFacts& facts, int ranks, const std::string& command)
        : facts_(facts), ranks_(ranks), name_(facts.name) {
        const auto text = [](double value) { return std::to_string(static_cast<long long>(value)); };
        run_ = {"fake-" + std::string(facts.choice),
                {{"device", name_},
                 {"units", text(facts.units)},
                 {"compute_capability", "8.0"},
                 {"l2_bytes", "41943040"},
                 {"shared_per_unit_bytes", "167936"},
                 {"memory_bytes", "80000000000"},
                 {"top_clock_mhz", text(facts.clock_hz * 1e-6)},
                 {"memory_clock_mhz", text(facts.bandwidth / 1024.0 * 4e-6)},
                 {"memory_bus_bits", "1024"},
                 {"power_limit_w", text(facts.power_w)},
                 {"gpus", text(node_size)},
                 {"command", command}}};
    }

    const std::string& device() const override { return name_; }
    bool lost() const override { return false; }
    const Run& run() const override { return run_; }
    double now_s() const override { return now_s_; }

    Sample measure(const Job& job) override {
        Sample sample = untimed(job, *this);
        for (auto& [name, value] : sample.sizes) {
            if (sample.op == "collective" && name == "ranks") value = std::to_string(ranks_);
        }
        now_s_ += job.clock == ClockMode::Quick ? 0.015 : job.clock == ClockMode::Sustained ? 0.3 : 0.08;
        const auto described = decode(*find_op_kind(job.what.op), sample.sizes, {job.what.op});
        if (!described) {
            sample.status = SampleStatus::Unsupported;
            sample.reason = described.problems().front().what;
            return sample;
        }
        if (find_field(sample.sizes, "dtype") == "fp8") {
            sample.status = SampleStatus::Unsupported;
            sample.reason = "compute capability 8.0 has no fp8";
            return sample;
        }
        std::visit([&](const auto& work) { set(sample, law(work, job.what)); }, described->work);
        return sample;
    }

private:
    double peak() const { return facts_.units * facts_.clock_hz * flops_per_cycle; }

    double rate(Precision precision) const {
        const double share = precision == Precision::Fp8    ? 2.0
                             : precision == Precision::Tf32 ? 0.5
                             : precision == Precision::Fp32 ? 0.0625
                                                            : 1.0;
        return share * peak();
    }

    static double moved(const Op& op) { return bytes_read(op).value + bytes_written(op).value; }

    Law law(const auto&, const Case&) const { return {}; }  // engines' kernels are not timed here
    Law law(const Gemm& gemm, const Case&) const {
        constexpr double side = 128.0;
        const double whole = row_bytes(gemm) >= 16 ? 0.9 : 0.35;
        const double tiles = std::ceil(static_cast<double>(gemm.m) / side) *
                             std::ceil(static_cast<double>(gemm.n) / side) * static_cast<double>(gemm.batch);
        const double tile_s =
            2.0 * side * side * static_cast<double>(gemm.k) / (whole * rate(gemm.precision) / facts_.units);
        Op op;
        op.work = gemm;
        const double compute = std::ceil(tiles / facts_.units) * tile_s;
        const double total = std::max(compute, moved(op) / (0.9 * facts_.bandwidth)) + 3e-6;
        return {total, flops(op).value / rate(gemm.precision) / total, flops(op).value, moved(op)};
    }

    Law law(const Attention& attention, const Case&) const {
        Op op;
        op.work = attention;
        const double compute = flops(op).value / (0.6 * rate(attention.precision));
        const double total = std::max(compute, moved(op) / (0.9 * facts_.bandwidth)) + 5e-6;
        return {total, 0.6 * compute / total, flops(op).value, moved(op)};
    }

    Law law(const StreamCall& call, const Case&) const {
        const double elements = static_cast<double>(call.rows) * static_cast<double>(call.width);
        const auto stream = stream_of(call);
        const double bytes = stream && stream->read.value > 0.0 ? stream->read.value : 4.0 * elements;
        return {bytes / (0.85 * facts_.bandwidth) + 2.5e-6, 0.0, 0.0, bytes};
    }

    Law law(const Collective& collective, const Case&) const {
        const double parts = static_cast<double>(ranks_ - 1) / ranks_, far = (ranks_ - 1) / node_size;
        const double times = collective.kind == CollectiveKind::AllReduce ? 2.0 : 1.0;
        const double rate = far > 0.0 ? 1e11 : 2e11;
        return {1e-5 + 2e-6 * (ranks_ - 1) + 1e-5 * far + times * parts * collective.bytes.value / rate, 0.0};
    }

    Law law(const Stack&, const Case&) const { return {1e-3, 0.0}; }

    Law law(const Probe&, const Case& what) const {
        if (what.op == "launch") return {what.word("kind") == "graph" ? 1.2e-6 : 4e-6, 0.0};
        const double bytes = static_cast<double>(what.integer("bytes")) * (what.word("kind") == "copy" ? 2.0 : 1.0);
        return {bytes / (0.92 * facts_.bandwidth) + 2e-6, 0.0, 0.0, bytes};
    }

    /// Of the top clock, where the draw of units so busy meets the limit.
    static double settled(double busy) { return busy <= 0.75 ? 1.0 : std::sqrt(0.75 / busy); }

    void set(Sample& sample, const Law& law) const {
        const double clock = sample.clock == ClockMode::Sustained ? settled(law.busy) : 1.0;
        const double noise = 1.0 + 0.01 * (static_cast<double>(hash_of(key(sample)) % 2001) / 1000.0 - 1.0);
        sample.time.median_us = sample.time.min_us = law.seconds * noise / clock * 1e6;
        sample.flops = law.flops;
        sample.bytes = law.bytes;
        sample.time.repeats = 3;
        sample.time.launches = 1;
        sample.clock_mhz = clock * facts_.clock_hz * 1e-6;
        sample.cycles = sample.time.median_us * sample.clock_mhz;
        sample.power_w = facts_.power_w * (0.25 + clock * clock * law.busy);
        sample.energy_j = sample.power_w * sample.time.median_us * 1e-6;
    }

    FakeGpuFacts facts_;
    int ranks_;
    std::string name_;
    tilewright::Run run_;
    double now_s_ = 0.0;
};

}  // namespace

const FakeGpuFacts* find_fake(std::string_view choice) {
    const auto found =
        std::find_if(std::begin(fakes), std::end(fakes), [&](const FakeGpuFacts& one) { return one.choice == choice; });
    return found == std::end(fakes) ? nullptr : found;
}

std::unique_ptr<Bench> open_fake_bench(const FakeGpuFacts& facts, int ranks, const std::string& command) {
    return std::make_unique<FakeBench>(facts, ranks, command);
}

}  // namespace tilewright::measure
