// score_runs FILE.csv...: prices published training runs (docs/clusters.md, "Validation") and prints how far off each
// is, and the mean and the worst of every source. With --why, the terms of each step.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>

#include "files/input.h"
#include "read/files.h"
#include "tilewright/cluster.h"
#include "tilewright/names.h"
#include "tilewright/plan.h"
#include "tilewright/read.h"

namespace {

using namespace tilewright;

struct Tally {
    double sum = 0, signed_sum = 0, worst = 0;
    int runs = 0, beyond = 0;
};

int complain(const Problems& problems) {
    for (const Problem& problem : problems) {
        std::cerr << problem.where << ":" << problem.line << ": " << problem.what << " " << problem.fix << "\n";
    }
    return 2;
}

void explain(const Step& step) {
    for (const auto& [name, term] : names<StepTerm>) {
        const StepShare share = step.term(term);
        if (share.exposed.value + share.hidden.value <= 0) continue;
        std::printf("      %-22s %9.4f s  %5.1f%%   hidden %8.4f s\n", std::string(name).c_str(), share.exposed.value,
                    100 * (share.exposed / step.time), share.hidden.value);
    }
}

Result<Plan> replay(const read::PublishedRun& run) {
    const Result<Cluster> cluster = find_cluster(run.cluster);
    if (!cluster) return cluster.problems();
    const Result<Device> device = find_device(cluster->gpu);
    if (!device) return device.problems();
    const Pricer pricer(in_cluster(*device, *cluster), find_profile(*device));
    PlanSpace space;
    space.global_batch = run.global_batch;
    space.micro_batch = run.micro_batch;
    space.virtual_stages = run.virtual_stages;
    space.recompute = run.recompute;
    return fastest_schedule(run.shape, run.workload, space, pricer);
}

int score(const std::string& path, bool why, std::map<std::string, Tally>& tallies) {
    const Result<std::string> text = files::read_whole(path);
    if (!text) return complain(text.problems());
    const Result<std::vector<read::PublishedRun>> runs = read::read_runs(*text, path);
    if (!runs) return complain(runs.problems());
    for (const read::PublishedRun& run : *runs) {
        const Result<Plan> plan = replay(run);
        if (!plan) return complain(plan.problems());
        const Parallelism& p = plan->workload.parallel;
        const double error = plan->step.time.value / run.iteration_s - 1.0;
        std::printf(
            "%-24s %-12s gpus %5lld seq %5lld mb %2lld m %3lld v %2lld %-9s measured %9.3f s predicted %9.3f s "
            "%+6.1f%%%s\n",
            run.source.c_str(), run.model.c_str(), static_cast<long long>(gpu_count(p)),
            static_cast<long long>(run.workload.seq), static_cast<long long>(plan->workload.batch),
            static_cast<long long>(plan->workload.micro_batches), static_cast<long long>(p.virtual_stages),
            std::string(name_of(plan->workload.recompute)).c_str(), run.iteration_s, plan->step.time.value, 100 * error,
            plan->step.fits ? "" : "  does not fit");
        if (why) explain(plan->step);
        for (const std::string& group : {run.source, std::string("all")}) {
            Tally& tally = tallies[group];
            tally.sum += std::abs(error);
            tally.signed_sum += error;
            tally.worst = std::max(tally.worst, std::abs(error));
            tally.beyond += std::abs(error) > 0.25 ? 1 : 0;
            ++tally.runs;
        }
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, Tally> tallies;
    bool why = false;
    for (int i = 1; i < argc; ++i) why = why || std::string(argv[i]) == "--why";
    for (int i = 1; i < argc; ++i) {
        if (std::string(argv[i]) == "--why") continue;
        if (const int code = score(argv[i], why, tallies); code != 0) return code;
    }
    for (const auto& [source, tally] : tallies) {
        std::printf("%-24s %4d runs  mean error %5.1f%%  bias %+5.1f%%  worst %5.1f%%  beyond 25%%: %d\n",
                    source.c_str(), tally.runs, 100 * tally.sum / tally.runs, 100 * tally.signed_sum / tally.runs,
                    100 * tally.worst, tally.beyond);
    }
    return 0;
}
