// Every way in which a workload can be wrong by itself, one fault at a time.
#include "tilewright/workload.h"

#include <gtest/gtest.h>

#include <limits>

namespace tilewright {
namespace {

struct Fault {
    const char* where;
    void (*spoil)(Workload&);
};

TEST(ValidateWorkload, AcceptsTheDefaultsAndTheLimits) {
    EXPECT_EQ(validate(Workload{}), Problems{});
    Workload largest;
    largest.batch = 1;
    largest.seq = largest.kv_len = std::int64_t{1} << 31;
    largest.parallel = {.tp = 8, .pp = 1 << 10, .dp = 1 << 17, .cp = 2, .ep = 1 << 20, .zero_stage = 3};
    EXPECT_EQ(validate(largest), Problems{});
}

TEST(ValidateWorkload, NamesTheFault) {
    const Fault faults[] = {
        {"batch", [](Workload& w) { w.batch = 0; }},
        {"batch", [](Workload& w) { w.batch = (std::int64_t{1} << 20) + 1; }},
        {"seq", [](Workload& w) { w.seq = std::numeric_limits<std::int64_t>::max(); }},
        {"kv_len", [](Workload& w) { w.kv_len = -1; }},
        {"tp", [](Workload& w) { w.parallel.tp = 0; }},
        {"pp", [](Workload& w) { w.parallel.pp = -4; }},
        {"dp", [](Workload& w) { w.parallel.dp = std::numeric_limits<std::int64_t>::min(); }},
        {"cp", [](Workload& w) { w.parallel.cp = 0; }},
        {"ep", [](Workload& w) { w.parallel.ep = 0; }},
        {"zero_stage", [](Workload& w) { w.parallel.zero_stage = 4; }},
        {"tp", [](Workload& w) { w.parallel.tp = w.parallel.pp = w.parallel.dp = std::int64_t{1} << 31; }},
    };
    for (const Fault& fault : faults) {
        SCOPED_TRACE(fault.where);
        Workload workload;
        fault.spoil(workload);
        const Problems problems = validate(workload);
        ASSERT_EQ(problems.size(), 1u);
        EXPECT_EQ(problems[0].where, fault.where);
        EXPECT_NE(problems[0].fix, "");
    }
}

TEST(ValidateWorkload, ReportsEveryProblemTogether) {
    Workload workload;
    workload.batch = workload.seq = 0;
    workload.parallel.zero_stage = -1;
    EXPECT_EQ(validate(workload).size(), 3u);
}

}  // namespace
}  // namespace tilewright
