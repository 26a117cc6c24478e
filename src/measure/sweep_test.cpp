// Plans, resuming, budgets and interrupts, with a bench that measures nothing.
#include "measure/sweep.h"
#include "files/input.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "tilewright/read.h"

namespace tilewright::measure {
namespace {

class FakeBench : public Bench {
public:
    std::string name = "fake";
    tilewright::Run line{"r1", {{"driver", "1"}}};
    double now = 0.0;
    int runs = 0;
    int lost_at = -1;

    const std::string& device() const override { return name; }
    Sample measure(const Job& job) override {
        ++runs;
        now += 1.0;
        Sample sample = untimed(job, *this);
        sample.status = runs == lost_at ? SampleStatus::Failed : SampleStatus::Ok;
        return sample;
    }
    bool lost() const override { return runs == lost_at; }
    const tilewright::Run& run() const override { return line; }
    double now_s() const override { return now; }
};

/// A file of its own for each test, gone afterwards.
struct TemporaryFile {
    std::string path = ::testing::TempDir() + "sweep_test.XXXXXX";
    TemporaryFile() { ::close(::mkstemp(path.data())); }
    ~TemporaryFile() { std::remove(path.c_str()); }
    std::string text() const { return *files::read_whole(path); }
    void append(const std::string& text) const { std::ofstream(path, std::ios::app) << text; }
};

std::vector<Job> jobs_of(std::vector<std::string> arguments, const std::string& csv = "") {
    const auto options = parse_options(arguments);
    EXPECT_TRUE(options.ok());
    const auto jobs = plan_jobs(*options, csv);
    EXPECT_TRUE(jobs.ok()) << jobs.problems().front().what;
    return jobs.ok() ? *jobs : std::vector<Job>{};
}

SweepResult sweep_into(const std::string& path, const std::vector<Job>& jobs, FakeBench& bench,
                       const SweepControl& control = {}) {
    auto journal = Journal::open(path);
    EXPECT_TRUE(journal.ok());
    return run_sweep(jobs, bench, **journal, control);
}

TEST(Range, Lists) {
    const struct {
        const char* text;
        std::vector<std::string> values;
    } cases[] = {{"7", {"7"}},
                 {"1,2,4", {"1", "2", "4"}},
                 {"4..12:4", {"4", "8", "12"}},
                 {"1,8..10", {"1", "8", "9", "10"}},
                 {"1..9*2", {"1", "2", "4", "8"}},
                 {"TN,NT", {"TN", "NT"}}};
    for (const auto& [text, values] : cases) EXPECT_EQ(*parse_list(text, "--m"), values) << text;
    for (const char* bad : {"", "1,,2", "4..", "..4", "9..4", "1..4:0", "1..4*1", "0..4*2", "1..1000000000"}) {
        EXPECT_FALSE(parse_list(bad, "--m").ok()) << bad;
    }
    EXPECT_EQ(*parse_duration("10m", "--budget"), 600.0);
    EXPECT_EQ(*parse_duration("90", "--budget"), 90.0);
    EXPECT_FALSE(parse_duration("ten", "--budget").ok());
    EXPECT_FALSE(parse_duration("", "--budget").ok());
}

TEST(Plan, ProductOfListsWithDefaultsAndClocks) {
    const auto jobs = jobs_of({"gemm", "--m", "1,2", "--n", "8..24:8", "--k", "64", "--clock", "burst,sustained"});
    ASSERT_EQ(jobs.size(), 12U);
    EXPECT_EQ(jobs[0].what.word("layout"), "TN");
    EXPECT_EQ(jobs[0].what.word("dtype"), "bf16");
    EXPECT_EQ(jobs[0].clock, ClockMode::Burst);
    EXPECT_EQ(jobs[1].clock, ClockMode::Sustained);
    EXPECT_EQ(jobs[2].what.integer("n"), 16);
    EXPECT_EQ(jobs.back().what.integer("m"), 2);
}

TEST(Plan, CsvRowsKeepUnknownColumnsAndTheirOwnClock) {
    const auto jobs =
        jobs_of({"gemm", "--from", "f.csv"}, "layout,m,n,k,clock,split\nNN,3,4,5,burst,judge\nTN,1,1,1,,fit\n");
    ASSERT_EQ(jobs.size(), 2U);
    EXPECT_EQ(jobs[0].clock, ClockMode::Burst);
    EXPECT_EQ(jobs[0].what.tags, (Fields{{"split", "judge"}}));
    EXPECT_EQ(jobs[1].clock, ClockMode::Quick);
}

TEST(Plan, BadRowsAreAllReportedWithTheirLines) {
    const auto options = parse_options({"gemm", "--from", "f.csv"});
    const auto jobs = plan_jobs(*options, "layout,m,n,k\nTN,1,2,3\nXX,1,2,3\nTN,1,,3\nTN,-1,2,3\n");
    ASSERT_FALSE(jobs.ok());
    ASSERT_EQ(jobs.problems().size(), 3U);
    EXPECT_EQ(jobs.problems()[0].line, 3);
    EXPECT_EQ(jobs.problems()[2].line, 5);
}

TEST(Plan, ShuffleKeepsTheJobs) {
    const auto plain = jobs_of({"gemm", "--m", "1..50", "--n", "8", "--k", "8"});
    const auto mixed = jobs_of({"gemm", "--m", "1..50", "--n", "8", "--k", "8", "--shuffle", "3"});
    ASSERT_EQ(plain.size(), mixed.size());
    std::int64_t sum = 0;
    bool moved = false;
    for (std::size_t i = 0; i < mixed.size(); ++i) {
        sum += mixed[i].what.integer("m");
        moved = moved || !(mixed[i].what == plain[i].what);
    }
    EXPECT_EQ(sum, 50 * 51 / 2);
    EXPECT_TRUE(moved);
}

TEST(Sweep, ResumesWhereItStopped) {
    const TemporaryFile file;
    const auto jobs = jobs_of({"gemm", "--m", "1..10", "--n", "8", "--k", "8"});
    FakeBench first;
    const SweepResult part = sweep_into(file.path, jobs, first, {4.0, 0.0, false, nullptr, {}});
    EXPECT_EQ(part.end, SweepEnd::Budget);
    EXPECT_EQ(part.measured, 4U);
    EXPECT_EQ(part.left, 6U);
    FakeBench second;
    const SweepResult rest = sweep_into(file.path, jobs, second);
    EXPECT_EQ(rest.end, SweepEnd::Finished);
    EXPECT_EQ(rest.skipped, 4U);
    EXPECT_EQ(second.runs, 6);
    const auto held = read_samples(file.text(), file.path);
    ASSERT_TRUE(held.ok());
    EXPECT_EQ(held->samples.size(), 10U);
    EXPECT_EQ(held->runs.size(), 2U);
}

TEST(Sweep, ATornLastLineIsCutOffAndMeasuredAgain) {
    const TemporaryFile file;
    const auto jobs = jobs_of({"gemm", "--m", "1..3", "--n", "8", "--k", "8"});
    FakeBench bench;
    sweep_into(file.path, jobs, bench);
    const std::string whole = file.text();
    ASSERT_EQ(::truncate(file.path.c_str(), static_cast<off_t>(whole.size() - 9)), 0);
    EXPECT_EQ(sweep_into(file.path, jobs, bench).skipped, 2U);
    EXPECT_EQ(read_samples(file.text(), file.path)->samples.size(), 3U);
}

TEST(Journal, MendsTheEndOfAFileAndSaysSo) {
    const auto jobs = jobs_of({"gemm", "--m", "1..3", "--n", "8", "--k", "8"});
    const TemporaryFile whole;
    FakeBench bench;
    sweep_into(whole.path, jobs, bench);
    const std::string text = whole.text();
    const std::string nuls(4096, '\0');
    struct Case {
        std::string text;
        std::size_t samples;
        const char* said;
    };
    for (const Case& one :
         {Case{text, 3, ""}, Case{text.substr(0, text.size() - 1), 3, "ended its last line"},
          Case{text + nuls, 3, "removed the NULs at its end"},
          Case{text.substr(0, text.size() - 9) + nuls, 2, "removed the NULs at its end, cut off a torn last line"},
          Case{text.substr(0, text.size() - 1) + nuls, 3, "removed the NULs at its end, ended its last line"},
          Case{nuls, 0, "removed the NULs at its end"}, Case{"", 0, ""}}) {
        const TemporaryFile file;
        file.append(one.text);
        const auto journal = Journal::open(file.path);
        ASSERT_TRUE(journal.ok()) << one.said;
        EXPECT_EQ((*journal)->mended(), one.said);
        EXPECT_EQ((*journal)->size(), one.samples) << one.said;
        EXPECT_EQ(read_samples(file.text(), file.path)->samples.size(), one.samples);
        EXPECT_TRUE(file.text().empty() || file.text().back() == '\n');
    }
}

TEST(Journal, HasOneWriterAndIsNotCompressed) {
    const TemporaryFile file;
    const auto first = Journal::open(file.path);
    ASSERT_TRUE(first.ok());
    const auto second = Journal::open(file.path);
    ASSERT_FALSE(second.ok());
    EXPECT_NE(second.problems()[0].what.find("another program"), std::string::npos);
    EXPECT_FALSE(Journal::open(file.path + ".gz").ok());
    EXPECT_TRUE(Journal::open("/dev/null").ok()) << "a device remembers nothing";
}

TEST(Journal, ADiskThatIsFullEndsTheSweepWithTheReason) {
    FakeBench bench;
    const SweepResult result = sweep_into("/dev/full", jobs_of({"gemm", "--m", "1..3", "--n", "8", "--k", "8"}), bench);
    EXPECT_EQ(result.end, SweepEnd::DiskFull);
    EXPECT_FALSE(result.trouble.empty());
}

TEST(Sweep, AFileFromBeforeAColumnWasAddedIsStillResumed) {
    const TemporaryFile file;
    const auto jobs = jobs_of({"gemm", "--m", "1..3", "--n", "8", "--k", "8"});
    FakeBench bench;
    sweep_into(file.path, jobs, bench);
    const std::string now = file.text();
    const std::string dtype = ",\"dtype\":\"bf16\"";
    std::string before;
    for (std::size_t at = 0, next = 0; at < now.size(); at = next) {
        const std::size_t found = now.find(dtype, at);
        before += now.substr(at, found - at);
        next = found == std::string::npos ? now.size() : found + dtype.size();
    }
    ASSERT_EQ(now.size() - before.size(), 3 * dtype.size());
    std::ofstream(file.path, std::ios::trunc) << before;
    EXPECT_EQ(sweep_into(file.path, jobs, bench).skipped, 3U);
}

TEST(Sweep, WhatFailedIsMeasuredAgainOnlyWhenAskedTo) {
    const TemporaryFile file;
    const auto jobs = jobs_of({"gemm", "--m", "1..3", "--n", "8", "--k", "8"});
    FakeBench bench;
    bench.lost_at = 3;
    sweep_into(file.path, jobs, bench);
    EXPECT_EQ((*Journal::open(file.path))->size(), 3U);
    EXPECT_EQ((*Journal::open(file.path, Failures::Retried))->size(), 2U);
}

TEST(Sweep, ABadLineInTheMiddleIsNotSilentlyDropped) {
    const TemporaryFile file;
    file.append("{\"broken\n{}\n");
    EXPECT_FALSE(Journal::open(file.path).ok());
}

TEST(Sweep, AFileOfAnotherKindIsLeftAsItIs) {
    for (const std::string text : {"no newline at all", "\x1f\x8b\x08 compressed\nand so on", "{}\n", "a\nb"}) {
        const TemporaryFile file;
        file.append(text);
        EXPECT_FALSE(Journal::open(file.path).ok()) << text;
        EXPECT_EQ(file.text(), text);
    }
}

TEST(Sweep, InterruptAndLossEndItWithEverythingWritten) {
    const TemporaryFile file;
    const auto jobs = jobs_of({"gemm", "--m", "1..10", "--n", "8", "--k", "8"});
    std::atomic<bool> interrupted = false;
    FakeBench bench;
    const SweepControl control{0.0, 0.0, false, &interrupted,
                               [&](std::size_t done, std::size_t, double) { interrupted = done == 3; }};
    EXPECT_EQ(sweep_into(file.path, jobs, bench, control).end, SweepEnd::Interrupted);
    EXPECT_EQ(bench.runs, 3);
    bench.lost_at = 5;
    const SweepResult lost = sweep_into(file.path, jobs, bench);
    EXPECT_EQ(lost.end, SweepEnd::DeviceLost);
    EXPECT_EQ(lost.failed, 1U);
    EXPECT_EQ(read_samples(file.text(), file.path)->samples.size(), 5U);
}

TEST(Plan, SizesAreAboveZeroUnlessZeroIsTheDefault) {
    const auto plans = [](const std::vector<std::string>& arguments) {
        return plan_jobs(*parse_options(arguments), "").ok();
    };
    EXPECT_FALSE(plans({"gemm", "--m", "0", "--n", "8", "--k", "8"}));
    EXPECT_FALSE(plans({"bandwidth", "--bytes", "0"}));
    EXPECT_TRUE(plans({"collective", "--bytes", "8", "--ranks", "0"}));
    EXPECT_FALSE(plans({"attention", "--heads", "1", "--kv_heads", "1", "--q_len", "8", "--kv_len", "8", "--head_dim",
                        "8", "--causal", "2"}));
}

TEST(Options, Faults) {
    EXPECT_FALSE(parse_options({"gemm", "--heads", "3"}).ok());
    EXPECT_FALSE(parse_options({"gemm", "--clock", "slow"}).ok());
    EXPECT_FALSE(parse_options({"gemm", "--m"}).ok());
    EXPECT_EQ(parse_options({"gem", "--m", "1"}).problems().front().where, "gem");
    EXPECT_FALSE(parse_options({"gemm", "--budget", "x"}).ok());
    EXPECT_FALSE(parse_options({"layer"}).ok());
    EXPECT_FALSE(parse_options({"gemm", "attention"}).ok());
    EXPECT_EQ(parse_options({"attention", "--kv-heads=2"})->columns, (Fields{{"kv_heads", "2"}}));
}

}  // namespace
}  // namespace tilewright::measure
