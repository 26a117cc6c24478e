// transfer_report DEVICE=FILE…: how far off a profile is on a device that it was not fitted on. Each device named is
// left out: its samples (bulk CSV with latency_us, or JSON Lines) are priced as if it had none. Then every fitted
// profile is carried over to it. Prints the factor by which intervals must widen to hold nine tenths of the samples
// again. src/device/transfer.cpp takes its constants from here.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/learn.h"
#include "fit/judge.h"
#include "tilewright/read.h"

namespace {

using namespace tilewright;

struct Receiver {
    Device device;
    std::vector<Observation> seen;
};

double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

/// The factor on either end of an interval that would just reach the measured time.
double reach(const Judged& one) {
    return std::max({1.0, one.cost.low.value / one.measured_s, one.measured_s / one.cost.high.value});
}

void print(const std::string& from, const Profile& carried, const Receiver& target, std::string_view op) {
    const Judge judge(target.seen, target.device, carried);
    std::vector<double> errors, logs, reaches;
    for (Split split : {Split::Fitted, Split::HeldOut}) {
        for (const Judged& one : judge.kernels(target.seen, split)) {
            if (one.op != op) continue;
            errors.push_back(std::abs(one.error()));
            logs.push_back(std::log1p(one.error()));
            reaches.push_back(reach(one));
        }
    }
    if (errors.empty()) return;
    double mean = 0.0;
    for (double error : errors) mean += error / static_cast<double>(errors.size());
    std::printf("%-13s -> %-13s %s, %6zu points, mean %5.1f%%, median %5.1f%%, centre %+5.1f%%, widen by %.2f\n",
                from.c_str(), target.device.name.c_str(), op.data(), errors.size(), 100 * mean,
                100 * quantile(errors, 0.5), 100 * std::expm1(quantile(logs, 0.5)), quantile(reaches, 0.9));
}

}  // namespace

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const std::size_t equals = word.find('=');
        const auto device = find_device(word.substr(0, equals));
        if (equals == std::string::npos || !device)
            return std::fputs("usage: transfer_report DEVICE=FILE…\n", stderr), 2;
        auto seen = cli::read_observations(word.substr(equals + 1));
        if (!seen) return std::fprintf(stderr, "%s: %s\n", argv[i], seen.problems()[0].what.c_str()), 2;
        const Receiver target{*device, std::move(*seen)};
        const Profile left_out = unmeasured_profile(target.device);
        const std::string carried_from =
            left_out.carried_from.empty() ? "data sheet" : "(" + left_out.carried_from + ")";
        for (const char* op : {"gemm", "attention"}) print(carried_from, left_out, target, op);
        for (const std::string& name : device_names()) {
            const Device from = *find_device(name);
            const Profile profile = find_profile(from);
            if (profile.evidence != Evidence::Fitted) continue;
            Profile carried = transferred(profile, from, target.device);
            carried.intervals = profile.intervals;
            for (const char* op : {"gemm", "attention"}) print(from.name, carried, target, op);
        }
    }
    return 0;
}
