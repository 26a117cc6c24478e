// fit_choices DEVICE PROFILE.toml TABLE.csv…: learns the trees of products anew from public tables, on the physics of a
// profile as it is, and which kernels the library chooses; writes it again. Where the profile is of samples of our own
// its trees stay, and choices are for products timed as in the tables alone (Correction::of_others); with logs by the
// wall clock beside the tables the trees, which both taught, stay too. Batches of a table teach trees of their own.
// Prints how far off weights held out are, or batches of as many products, before and after.
#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/catalogue.h"
#include "cli/learn.h"
#include "fit/judge.h"
#include "fit/steps.h"

namespace {

using namespace tilewright;

struct Table {
    Device device;
    std::vector<Observation> seen;
};

std::int64_t count_of(const Observation& one) { return std::get<Gemm>(one.op.work).batch; }
bool is_tabled_batch(const Observation& one) { return !one.by_host && count_of(one) > 1; }

std::vector<ErrorLine> held_out(const Table& table, const Profile& profile) {
    std::vector<ErrorLine> lines =
        errors_of(Judge(table.seen, table.device, profile).kernels(table.seen, Split::HeldOut));
    for (const ErrorLine& line : lines) {
        if (line.by != "kernel") continue;
        std::printf("%-12s %-18s %5lld held out, mean %.2f%%, median %.2f%%, p95 %.1f%%, in 90%% %.1f%%\n",
                    table.device.name.c_str(), line.group.c_str(), static_cast<long long>(line.points), 100 * line.mean,
                    100 * line.median, 100 * line.p95, 100 * line.inside);
    }
    return lines;
}

/// The intervals are of counts left out in turn.
void teach_batches(Profile& profile, const Device& device, const Observations& batches) {
    std::map<std::int64_t, Observations> of_count;
    for (const Observation* one : batches) of_count[count_of(*one)].push_back(one);
    std::vector<FoldPrice> outcomes;
    for (const auto& [count, unseen] : of_count) {
        Profile fold = profile;
        Observations others = batches;
        std::erase_if(others, [left_out = count](const Observation* one) { return count_of(*one) == left_out; });
        fit_gemm_batches(others, device, fold);
        add_outcomes(unseen, device, fold, outcomes);
    }
    fit_gemm_batches(batches, device, profile);
    Profile with_intervals = profile;
    fit_intervals(outcomes, with_intervals);
    constexpr auto batched = static_cast<std::size_t>(KernelClass::Batched);
    profile.intervals[batched] = with_intervals.intervals[batched];
}

void teach(Profile& profile, const Table& table) {
    Correction& correction = profile.gemm_corrections[0];
    const bool of_others = profile.reuse != Reuse::Rotated;
    correction.choices.clear();
    correction.of_others = of_others ? 1.0 : 0.0;
    held_out(table, profile);
    Observations fitted, batches;
    for (const Observation& one : table.seen) {
        if (!one.held_out) (is_tabled_batch(one) ? batches : fitted).push_back(&one);
    }
    const bool logs = std::any_of(fitted.begin(), fitted.end(), [](const Observation* one) { return one->by_host; });
    if (!of_others && !logs) {
        correction = {};
        fit_gemm_correction(fitted, table.device, profile);
    }
    fit_gemm_choices(fitted, table.device, profile);
    if (!batches.empty()) teach_batches(profile, table.device, batches);
    constexpr const char* others = "gemm, by others";
    std::erase_if(profile.errors,
                  [&](const ErrorLine& line) { return of_others ? line.group == others : line.op == "gemm"; });
    std::vector<ErrorLine> lines = held_out(table, profile);
    if (of_others) {
        lines.resize(1);  // of all
        lines[0].by = "kernel";
        lines[0].group = others;
    }
    profile.errors.insert(of_others ? profile.errors.end() : profile.errors.begin(), lines.begin(), lines.end());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return std::fputs("usage: fit_choices DEVICE PROFILE.toml TABLE.csv…\n", stderr), 2;
    const auto fail = [](const Problems& problems) {
        return std::fprintf(stderr, "%s: %s\n", problems[0].where.c_str(), problems[0].what.c_str()), 2;
    };
    const auto sheet = cli::find_data_sheet(argv[1]);
    if (!sheet) return fail(sheet.problems());
    auto profile = cli::read_profile(argv[2], sheet->device.name);
    if (!profile) return fail(profile.problems());
    Table table{sheet->device, {}};
    for (int i = 3; i < argc; ++i) {
        const auto more = cli::read_observations(argv[i]);
        if (!more) return fail(more.problems());
        table.seen.insert(table.seen.end(), more->begin(), more->end());
    }
    for (Observation& one : table.seen) {  // tables have batches of two sizes, and of many counts
        const Gemm by_count{.n = count_of(one), .k = count_of(one)};
        if (is_tabled_batch(one)) one.held_out = held_out_by_kin(kin_of(by_count));
    }
    take_off_host_time(table.seen, table.device, assumed_profile(table.device));
    teach(*profile, table);
    const Problems bad = cli::write_profile(*profile, table.device.name, argv[2]);
    return bad.empty() ? 0 : fail(bad);
}
