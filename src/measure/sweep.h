// A sweep is a list of jobs, each an op and a clock mode. It leaves out what the journal has, appends as it goes, and
// ends early when its time is up, when it is interrupted or when the device is lost.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "measure/case.h"
#include "measure/fault.h"
#include "measure/journal.h"
#include "measure/options.h"
#include "tilewright/result.h"

namespace tilewright::measure {

struct Job {
    Case what;
    ClockMode clock = ClockMode::Quick;
};

/// The jobs that flags and a CSV file (its text, or empty) ask for, in the order they are run.
Result<std::vector<Job>> plan_jobs(const Options& options, std::string_view csv);

/// What is run to learn the device's ceilings: products that are fast on any recent GPU in every precision, burst and
/// sustained; copies and reads from 1 MiB to 8 GiB; an empty kernel in a graph and launched by the host.
std::vector<Job> peak_jobs();

/// Rough seconds that jobs take, from what each mode needs at least; large ops take longer.
double planned_seconds(const std::vector<Job>& jobs);

/// "17 samples, at least 0.2 s".
std::string plan_text(const std::vector<Job>& jobs);

/// What runs one job; the real one has a GPU behind it.
class Bench {
public:
    virtual ~Bench() = default;
    virtual const std::string& device() const = 0;
    virtual Sample measure(const Job& job) = 0;  ///< a fault becomes a sample that says so
    virtual bool lost() const = 0;               ///< the device answers no more
    virtual const Run& run() const = 0;
    virtual double now_s() const = 0;
    /// Relative error of an op against its reference.
    virtual Outcome<double> check(const Case&) { return unsupported("no reference for this op"); }
};

/// The sample of a job before it is timed.
Sample untimed(const Job& job, const Bench& bench);

enum class SweepEnd { Finished, Budget, Interrupted, DeviceLost, DiskFull };

struct SweepResult {
    SweepEnd end = SweepEnd::Finished;
    std::size_t measured = 0;
    std::size_t unsupported = 0;
    std::size_t failed = 0;
    std::size_t skipped = 0;  ///< already in the journal
    std::size_t left = 0;
    std::string trouble;  ///< why the disk did not take a sample
};

struct SweepControl {
    double budget_s = 0.0;  ///< 0: none
    double spent_s = 0.0;   ///< of the budget, by runs before this one
    bool stamped = false;   ///< whether each sample says how much of the budget was spent when it was done
    const std::atomic<bool>* interrupted = nullptr;
    /// Called after each job with how many are done and left, and the seconds gone.
    std::function<void(std::size_t done, std::size_t left, double elapsed_s)> progress;
};

SweepResult run_sweep(const std::vector<Job>& jobs, Bench& bench, Journal& journal, const SweepControl& control);

/// One part of the plan, where several processes share it.
struct Share {
    int rank = 0;
    int world = 1;
};

/// What `profile` takes of a GPU, in an order of which every prefix is balanced: whenever the time is up, what was
/// taken until then is products, products with clocks, attention and streams in the same shares. Ceilings first, in
/// seconds; then blocks of two or three seconds, every world-th of them for this rank. One family of shapes in five is
/// set aside for judging, as everywhere.
std::vector<Job> profile_jobs(const Share& share);

}  // namespace tilewright::measure
