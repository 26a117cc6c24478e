#include "measure/peaks.h"

#include <string>

namespace tilewright::measure {
namespace {

struct Cube {
    const char* m;
    const char* n;
    const char* k;
};

constexpr Cube cubes[] = {{"4096", "4096", "4096"}, {"8192", "8192", "8192"},  {"8448", "8192", "8192"},
                          {"8448", "8448", "4096"}, {"16896", "8192", "4096"}, {"16384", "8192", "8192"},
                          {"8192", "4096", "16384"}};

void append(std::vector<Job>& jobs, const Case& what, std::initializer_list<ClockMode> clocks) {
    for (const ClockMode clock : clocks) jobs.push_back({what, clock});
}

}  // namespace

std::vector<Job> peak_jobs() {
    std::vector<Job> jobs;
    for (const char* kind : {"graph", "eager"}) append(jobs, {"launch", {{"kind", kind}}, {}}, {ClockMode::Quick});
    for (std::int64_t mib = 1; mib <= 8192; mib *= 2) {
        for (const char* kind : {"copy", "read"}) {
            append(jobs, {"bandwidth", {{"kind", kind}, {"bytes", std::to_string(mib << 20)}}, {}}, {ClockMode::Quick});
        }
    }
    for (const char* dtype : {"bf16", "fp16", "fp8", "tf32"}) {
        for (const Cube& cube : cubes) {
            const Case what{
                "gemm",
                {{"layout", "TN"}, {"m", cube.m}, {"n", cube.n}, {"k", cube.k}, {"batch", "1"}, {"dtype", dtype}},
                {}};
            append(jobs, what, {ClockMode::Burst, ClockMode::Sustained});
        }
    }
    return jobs;
}

}  // namespace tilewright::measure
