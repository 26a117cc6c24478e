// A line on stderr for work that takes over a second, on a terminal only.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tilewright::cli {

/// Whether results are written while the work lasts; on a terminal the line would stand among them.
enum class Stdout { Silent, InUse };

class Progress {
public:
    /// `unit` is what is counted. Nothing is shown when stderr is no terminal, or stdout is one and in use.
    explicit Progress(std::string unit, Stdout results = Stdout::Silent);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void step();

    /// So many are done of about `total`; shown with the time left.
    void at(std::int64_t done, double total);

private:
    void show(std::chrono::steady_clock::time_point now);

    std::string unit_;
    bool visible_;
    bool shown_ = false;
    std::int64_t done_ = 0;
    double total_ = 0.0;  ///< 0 where it is not known
    std::chrono::steady_clock::time_point start_;
    std::chrono::steady_clock::time_point last_;
};

}  // namespace tilewright::cli
