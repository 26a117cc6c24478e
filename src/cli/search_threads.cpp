#include "cli/search_threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
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

    /// Takes slices until there are none or the user asks to stop.
    void run() {
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
        ++finished_;
        done_.notify_one();
    }

    /// Shows progress until that many threads are done.
    void wait(std::size_t threads) {
        Progress progress("shapes", true);
        const double total = search_.size_bound();
        std::unique_lock lock(mutex_);
        while (!done_.wait_for(lock, std::chrono::milliseconds(200), [&] { return finished_ == threads; })) {
            progress.at(priced_.load(), total);
        }
    }

    const Kept& kept() const { return kept_; }

private:
    const Search& search_;
    std::atomic<std::size_t> next_{0};
    std::atomic<std::int64_t> priced_{0};
    std::mutex mutex_;
    std::condition_variable done_;
    std::size_t finished_ = 0;
    Kept kept_;
};

/// Stops early, with what was found so far, when interrupted.
SearchResult run_slices(const Search& search, std::size_t threads) {
    Work work(search);
    remember_interrupts();
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < threads; ++i) running.emplace_back([&] { work.run(); });
    work.wait(threads);
    for (std::thread& thread : running) thread.join();
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
