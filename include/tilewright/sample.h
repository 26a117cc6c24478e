// One timed kernel or layer with everything needed to trust it. Written one JSON object a line, see docs/samples.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/codec.h"
#include "tilewright/result.h"

namespace tilewright {

/// How the clock was treated: settled on the kernel itself, rested to the top, or read beside a short sample.
enum class ClockMode { Sustained, Burst, Quick };

enum class SampleStatus { Ok, Unsupported, Failed };

template <>
inline constexpr std::array<NameTable<ClockMode>, 3> names<ClockMode>{
    {{"sustained", ClockMode::Sustained}, {"burst", ClockMode::Burst}, {"quick", ClockMode::Quick}}};
template <>
inline constexpr std::array<NameTable<SampleStatus>, 3> names<SampleStatus>{
    {{"ok", SampleStatus::Ok}, {"unsupported", SampleStatus::Unsupported}, {"failed", SampleStatus::Failed}}};

/// Times of one launch in microseconds over the kept repeats.
struct TimeStatistics {
    double median_us = 0.0;
    double min_us = 0.0;
    double mad_us = 0.0;  ///< median absolute deviation from the median
    double iqr_us = 0.0;  ///< third quartile less the first
    int repeats = 0;
    int discarded = 0;  ///< repeats thrown away because the clock moved
    int launches = 0;   ///< in one repeat; a repeat's time is divided by it

    friend bool operator==(const TimeStatistics&, const TimeStatistics&) = default;
};

/// One op on one device under one clock mode.
struct Sample {
    std::string op;  ///< gemm, attention, stream, layer, or a peak's name
    Fields sizes;    ///< what describes the op, in its family's order
    std::string device;
    ClockMode clock = ClockMode::Quick;
    SampleStatus status = SampleStatus::Ok;
    std::string reason;  ///< when the status is not Ok, or a doubt about the sample ("clock did not settle")
    TimeStatistics time;
    double clock_mhz = 0.0;  ///< SM clock, mean of the readings before and after the kept repeats
    double cycles = 0.0;     ///< median over repeats of time times clock
    double power_w = 0.0;    ///< mean over the timed part; 0 where the driver does not tell
    double energy_j = 0.0;   ///< of one launch; 0 where the driver does not tell
    double flops = 0.0;      ///< of one launch
    double bytes = 0.0;      ///< of one launch
    Fields facts;            ///< what the library chose
    Fields tags;             ///< what the sweep's file said of it: family, split
    std::string run;         ///< which run line describes the machine

    friend bool operator==(const Sample&, const Sample&) = default;
};

/// The circumstances of one run of the program: device, driver, libraries, temperatures, flags. One line of its own.
struct Run {
    std::string id;
    Fields facts;

    friend bool operator==(const Run&, const Run&) = default;
};

inline constexpr std::string_view sample_schema = "tilewright.sample/1";
inline constexpr std::string_view run_schema = "tilewright.run/1";

/// What makes two samples the same measurement: op, sizes, device, clock mode.
std::string key(const Sample& sample);

/// One line without its newline.
std::string to_line(const Sample& sample);
std::string to_line(const Run& run);

/// A file of samples as read (read.h).
struct SampleFile {
    std::vector<Run> runs;
    std::vector<Sample> samples;
    bool torn = false;  ///< the last line was cut off and left out
};

/// Median, minimum and spread of launch times in microseconds; zero repeats give zeros.
TimeStatistics summarize(std::vector<double> times_us);

}  // namespace tilewright
