// Samples -> Profile: physics first (positive constants by Levenberg-Marquardt on log errors), then a bounded
// correction by boosted trees, then intervals by cross-validation. docs/model.md says why.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/cost.h"
#include "tilewright/device.h"
#include "tilewright/sample.h"

namespace tilewright {

/// One timed kernel as the fit sees it.
struct Observation {
    Op op;
    double time_s = 0.0;
    double clock_mhz = 0.0;  ///< 0: not known, taken as the top clock
    double power_w = 0.0;    ///< 0: not known
    ClockMode mode = ClockMode::Quick;
    bool held_out = false;
    bool by_host = false;   ///< timed by the wall clock, with the host's time of a call inside
    std::string family;     ///< of kernels: gemm, batched gemm, cudnn forward, stream, …
    std::string device;     ///< as the driver calls it; empty: not known
    std::uint64_t kin = 0;  ///< equal for shapes too alike to be on both sides of a split
};

/// The kernels among samples (gemm, attention, stream, collective); samples without a time are left out.
Result<std::vector<Observation>> observe(const std::vector<Sample>& samples);

/// A product, an attention or a collective of a table of timings, without its time. Whole shapes are held out.
Observation observation_of(const Described& described);

/// What tells kin apart where a sample names no family: a hash of layout, n and k, or of heads, key heads and head
/// size.
std::uint64_t kin_of(const Gemm& gemm);
std::uint64_t kin_of(const Attention& attention);
std::uint64_t kin_of(const Collective& collective);

/// The family of an attention kernel: back end and pass.
std::string family_of(const Attention& attention);

/// All but sustained samples that had not settled: their clock had fallen while the board drew less than its limit.
std::vector<Observation> settled(std::vector<Observation> observations, const Device& device);

/// Whether a driver's name for a GPU ("NVIDIA A100-SXM4-80GB") can be this device's.
bool is_called(const Device& device, std::string_view name);

/// Whether a kernel can have taken this time: not less than any launch takes, nor than its FLOPs at the data sheet's
/// peak and a clock far above the sheet's.
bool plausible(const Observation& observation, const Device& device);

/// Whether kin are held out where nothing else says: every fourth.
constexpr bool held_out_by_kin(std::uint64_t kin) { return ((kin >> 40U) & 3U) == 0; }

/// What a learnt part of a profile buys: mean errors of kernels whose price it changes, under profiles that saw none of
/// their kin.
struct Gain {
    std::string part;
    std::int64_t points = 0;
    double with_part = 0.0, without = 0.0;
    bool kept = true;  ///< a part that buys under half a point is left out

    double bought() const { return without - with_part; }
};

/// What was learnt, with its errors on the samples it was fitted to; those held out are in the profile.
struct Fit {
    Profile profile;
    std::vector<ErrorLine> fitted_errors;
    std::vector<Gain> gains;
    std::int64_t set_aside = 0;  ///< samples that no kernel can have given: see `plausible`
};

/// The host's time inside one call of products that were timed by the wall clock: single ones, and batches.
using HostTimes = std::array<Seconds, 2>;

/// Takes the host's time off every product that was timed with it. It is a latent of its source: what a launch on
/// `start`'s device does not explain.
HostTimes take_off_host_time(std::vector<Observation>& observations, const Device& device, const Profile& start);

/// Learns a profile from `start`, the assumed one or a relative's: what has no samples stays as it is there. Samples of
/// another device are a problem, and so are too few. Times that are not plausible are left out and counted.
Result<Fit> fit(const std::vector<Observation>& observations, const Device& device, const Profile& start);

enum class Split { Fitted, HeldOut };

/// The price of an observation under its own clock.
Cost price_of(const Observation& observation, const Pricer& sustained);

/// A driver's name for a GPU as the name of a file: "NVIDIA GeForce RTX 4090" is rtx-4090.
std::string plain_name(std::string_view driver_name);

/// The device that a run's facts describe (docs/samples.md): units, clocks, memory, bus, caches, power limit. Peaks
/// follow from what a unit of its compute capability does in a cycle. Facts that are missing are problems.
Result<Device> device_of_facts(const Fields& facts);

/// Raises peaks and bandwidth to what kernels were seen to reach, where that is more than the facts say.
void raise_to_seen(Device& device, const std::vector<Sample>& samples);

/// The samples of one GPU, and what its driver told.
struct GpuSamples {
    std::string device;  ///< as the driver calls it
    Fields facts;
    std::vector<Sample> samples;
};

/// By the GPU they were taken on; none for a GPU without samples.
std::vector<GpuSamples> by_gpu(std::vector<SampleFile> files);

/// A data sheet as the board at hand has it.
struct Board {
    Device device;
    bool own_sheet = false;  ///< it is not as built in, and belongs to the profile
};

/// `known`, the data sheet built in, under the board's own power limit where it has as many units; else the driver's
/// facts and what the samples reach.
Result<Board> board_of(const GpuSamples& gpu, const std::optional<Device>& known);

/// The costs of a launch as they were timed, into the profile that a fit starts from.
void take_launch_costs(const std::vector<Sample>& samples, Profile& start);

}  // namespace tilewright
