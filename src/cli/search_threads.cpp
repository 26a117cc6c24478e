#include "cli/search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "cli/interrupt.h"
#include "cli/progress.h"

namespace tilewright::cli {
namespace {

/// Slices not yet taken, and what those that are done have kept.
class Work {
public:
    explicit Work(const Search& search) : search_(search) {}

    /// Takes slices until there are none or the user asks to stop. A fault ends the search; `kept` throws it.
    void run() noexcept {
        std::exception_ptr fault;
        try {
            take_slices();
        } catch (...) {
            fault = std::current_exception();
            next_ = search_.slices();
        }
        const std::lock_guard lock(mutex_);
        if (fault) fault_ = fault;
        ++finished_;
        done_.notify_one();
    }

    /// Shows progress until that many threads are done.
    void wait(std::size_t threads) {
        Progress progress("shapes");
        const double total = search_.size_bound();
        std::unique_lock lock(mutex_);
        while (!done_.wait_for(lock, std::chrono::milliseconds(200), [&] { return finished_ == threads; })) {
            progress.at(priced_.load(), total);
        }
    }

    const Kept& kept() const {
        if (fault_) std::rethrow_exception(fault_);
        return kept_;
    }

private:
    void take_slices() {
        Kept mine;
        while (!interrupted()) {
            const std::size_t slice = next_.fetch_add(1);
            if (slice >= search_.slices()) break;
            const Kept found = search_.walk(slice);
            priced_.fetch_add(found.priced);
            mine.merge(found, search_.keep());
        }
        const std::lock_guard lock(mutex_);
        kept_.merge(mine, search_.keep());
    }

    const Search& search_;
    std::atomic<std::size_t> next_{0};
    std::atomic<std::int64_t> priced_{0};
    std::mutex mutex_;
    std::condition_variable done_;
    std::size_t finished_ = 0;
    Kept kept_;
    std::exception_ptr fault_;
};

/// Stops early, with what was found so far, when interrupted.
SearchResult run_slices(const Search& search, std::size_t threads) {
    Work work(search);
    remember_interrupts();
    std::vector<std::jthread> running;
    running.reserve(threads);
    try {
        while (running.size() < threads) running.emplace_back([&] { work.run(); });
    } catch (const std::exception&) {  // the system has no more: those that run do the work, or this one
    }
    if (running.empty()) work.run();
    work.wait(std::max<std::size_t>(1, running.size()));
    running.clear();
    SearchResult result = search.finish(work.kept());
    result.exhaustive = !interrupted();
    if (!result.exhaustive) result.shapes_in_space = static_cast<std::int64_t>(search.size_bound());
    return result;
}

}  // namespace

Walk walk_on(std::size_t threads) {
    return [threads](const Search& search) { return run_slices(search, threads); };
}

std::size_t core_count() { return std::max<std::size_t>(1, std::thread::hardware_concurrency()); }

}  // namespace tilewright::cli
