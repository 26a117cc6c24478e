// refit attention|decoding|streams|eager-norms DEVICE PROFILE.toml SAMPLES…: learns one part of a profile anew and
// leaves the others as they are; writes it again with that part's intervals and errors. Attention starts from what is
// assumed of it; intervals, which PyTorch's kernels share, stay where its norms alone are learnt. Prints how far off
// kernels held out are, before and after.
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "cli/catalogue.h"
#include "cli/learn.h"
#include "fit/judge.h"
#include "fit/steps.h"

namespace {

using namespace tilewright;

/// What is learnt anew: of which work, from where, by which step of a fit, and again without a fold of the samples.
struct Learnable {
    std::string_view name, op;
    bool (*is)(const Observation&);
    void (*start)(const Profile& assumed, Profile&);
    void (*fit)(const Observations&, const Device&, Profile&);
    void (*fit_again)(const Observations&, const Device&, Profile&);
    std::uint64_t folds;
    KernelClass first, last;  ///< whose intervals
};

template <class Work>
bool is(const Observation& one) {
    return std::holds_alternative<Work>(one.op.work);
}

bool is_decoding(const Observation& one) {
    const Attention* attention = std::get_if<Attention>(&one.op.work);
    return attention != nullptr && class_of(*attention) == KernelClass::AttentionDecode;
}

void start_attention(const Profile& assumed, Profile& profile) {
    profile.cudnn = assumed.cudnn;
    profile.flash2 = assumed.flash2;
}

void start_decoding(const Profile& assumed, Profile& profile) {
    for (AttentionProfile Profile::*kernels : {&Profile::cudnn, &Profile::flash2}) {
        AttentionProfile& to = profile.*kernels;
        const AttentionProfile& from = assumed.*kernels;
        to.decode_launch = from.decode_launch;
        to.packed = from.packed;
        to.split = from.split;
        to.part = from.part;
        to.brief = from.brief;
        for (std::size_t i = 0; i < to.kernels.size(); ++i) to.kernels[i].decode = from.kernels[i].decode;
    }
}

/// Single queries say nothing of what many copy into the cache.
void fit_decoding(const Observations& seen, const Device& device, Profile& profile) {
    const double cudnn = profile.cudnn.cache, flash2 = profile.flash2.cache;
    fit_attention(seen, device, profile);
    profile.cudnn.cache = cudnn;
    profile.flash2.cache = flash2;
}

void start_streams(const Profile& assumed, Profile& profile) { profile.stream = assumed.stream; }

void fit_eager_norms(const Observations& seen, const Device& device, Profile& profile) {
    Profile whole = profile;
    start_streams(assumed_profile(device), whole);
    fit_streams(seen, device, whole);
    for (const StreamKind kind : {StreamKind::Norm, StreamKind::RmsNorm}) {
        const auto i = static_cast<std::size_t>(kind);
        profile.stream.eager[i] = whole.stream.eager[i];
    }
}

constexpr Learnable learnings[] = {{"attention", "attention", is<Attention>, start_attention, fit_attention,
                                    refit_attention, 4, KernelClass::AttentionForward, KernelClass::AttentionDecode},
                                   {"decoding", "attention", is_decoding, start_decoding, fit_decoding, refit_attention,
                                    4, KernelClass::AttentionDecode, KernelClass::AttentionDecode},
                                   {"streams", "stream", is<Stream>, start_streams, fit_streams, fit_streams, 16,
                                    KernelClass::Stream, KernelClass::EagerStream},
                                   {"eager-norms", "stream", is<Stream>, [](const Profile&, Profile&) {},
                                    fit_eager_norms, nullptr, 0, KernelClass::Stream, KernelClass::EagerStream}};

std::vector<ErrorLine> held_out(const std::vector<Observation>& seen, const Device& device, const Profile& profile) {
    std::vector<ErrorLine> lines = errors_of(Judge(seen, device, profile).kernels(seen, Split::HeldOut));
    for (const ErrorLine& line : lines) {
        if (line.by == "alignment") continue;
        std::printf("%-12s %-8s %-36s %5lld held out, mean %5.2f%%, median %5.2f%%, p95 %5.1f%%, in 90%% %5.1f%%\n",
                    device.name.c_str(), line.by.c_str(), line.group.c_str(), static_cast<long long>(line.points),
                    100 * line.mean, 100 * line.median, 100 * line.p95, 100 * line.inside);
    }
    return lines;
}

/// From folds left out in turn.
void fit_intervals_of(const Learnable& part, const Observations& fitted, const Device& device, Profile& profile) {
    std::vector<FoldPrice> outcomes;
    for (std::uint64_t fold = 0; fold < part.folds; ++fold) {
        Profile without = profile;
        if (part.fit == part.fit_again) part.start(assumed_profile(device), without);
        Observations others, left_out;
        for (const Observation* one : fitted) (fold_of(*one, part.folds) == fold ? left_out : others).push_back(one);
        part.fit_again(others, device, without);
        add_outcomes(left_out, device, without, outcomes);
    }
    Profile with_intervals = profile;
    fit_intervals(outcomes, with_intervals);
    for (auto i = static_cast<std::size_t>(part.first); i <= static_cast<std::size_t>(part.last); ++i) {
        profile.intervals[i] = with_intervals.intervals[i];
    }
}

/// Lines of groups that have new ones; sums over more than the part stay.
void renew_errors(const Learnable& part, std::vector<ErrorLine> lines, Profile& profile) {
    if (part.first == part.last) std::erase_if(lines, [](const ErrorLine& line) { return line.by != "kernel"; });
    const bool whole = part.first != part.last;
    std::erase_if(profile.errors, [&](const ErrorLine& old) {
        return old.op == part.op && (whole || std::any_of(lines.begin(), lines.end(), [&](const ErrorLine& line) {
                                         return line.by == old.by && line.group == old.group;
                                     }));
    });
    profile.errors.insert(profile.errors.end(), lines.begin(), lines.end());
}

void learn(const Learnable& part, const std::vector<Observation>& seen, const Device& device, Profile& profile) {
    held_out(seen, device, profile);
    Observations fitted;
    for (const Observation& one : seen) {
        if (!one.held_out) fitted.push_back(&one);
    }
    part.start(assumed_profile(device), profile);
    part.fit(fitted, device, profile);
    fit_intervals_of(part, fitted, device, profile);
    renew_errors(part, held_out(seen, device, profile), profile);
}

}  // namespace

int main(int argc, char** argv) {
    const auto part = std::find_if(std::begin(learnings), std::end(learnings),
                                   [&](const Learnable& one) { return argc >= 5 && one.name == argv[1]; });
    if (part == std::end(learnings)) {
        return std::fputs("usage: refit attention|decoding|streams|eager-norms DEVICE PROFILE.toml SAMPLES…\n", stderr),
               2;
    }
    const auto fail = [](const Problems& problems) {
        return std::fprintf(stderr, "%s: %s\n", problems[0].where.c_str(), problems[0].what.c_str()), 2;
    };
    const auto sheet = cli::find_data_sheet(argv[2]);
    if (!sheet) return fail(sheet.problems());
    auto profile = cli::read_profile(argv[3], sheet->device.name);
    if (!profile) return fail(profile.problems());
    std::vector<Observation> seen;
    for (int i = 4; i < argc; ++i) {
        const auto more = cli::read_observations(argv[i]);
        if (!more) return fail(more.problems());
        seen.insert(seen.end(), more->begin(), more->end());
    }
    seen = settled(std::move(seen), sheet->device);
    std::erase_if(seen, [&](const Observation& one) { return !part->is(one) || !plausible(one, sheet->device); });
    learn(*part, seen, sheet->device, *profile);
    const Problems bad = cli::write_profile(*profile, sheet->device.name, argv[3]);
    return bad.empty() ? 0 : fail(bad);
}
