// ablation: what each learnt part of a shipped profile buys. Prints, for each family of samples that were held out of
// it, the mean error with everything, and how many points it rises when one part is taken away.
#include <cstdio>

#include "bench/committed_samples.h"
#include "fit/learnt.h"

namespace {

using namespace tilewright;

std::vector<ErrorLine> errors_with(const bench::Committed& committed, const Profile& profile) {
    return errors_of(bench::judge(committed, profile));
}

}  // namespace

int main() {
    const auto committed = bench::read_committed(TILEWRIGHT_SOURCE_DIR);
    if (!committed) return std::fprintf(stderr, "%s\n", committed.problems()[0].what.c_str()), 2;
    const Profile whole = find_profile(committed->device);
    const std::vector<ErrorLine> base = errors_with(*committed, whole);
    std::vector<std::vector<ErrorLine>> without;
    std::printf("%-10s %-34s %6s %7s", "op", "held out", "points", "error");
    for (const LearntPart& part : learnt_parts()) {
        std::printf(" %22s", part.name.data());
        Profile less = whole;
        part.remove(less);
        without.push_back(errors_with(*committed, less));
    }
    std::printf("\n");
    for (const ErrorLine& line : base) {
        if (line.by == "bound") continue;  // a part moves points between these groups
        std::printf("%-10s %-34s %6lld %6.2f%%", line.op.c_str(), line.group.c_str(),
                    static_cast<long long>(line.points), 100 * line.mean);
        for (const std::vector<ErrorLine>& lines : without) {
            for (const ErrorLine& other : lines) {
                if (other.op == line.op && other.by == line.by && other.group == line.group)
                    std::printf(" %+22.2f", 100 * (other.mean - line.mean));
            }
        }
        std::printf("\n");
    }
    return 0;
}
