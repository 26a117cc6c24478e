// The file that samples are appended to, one write a line, so that a run cut off at any moment loses at most the
// sample under way. Opening it repairs a torn last line and tells what is already there.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>

#include "tilewright/result.h"
#include "tilewright/sample.h"

namespace tilewright::measure {

/// What a journal makes of ops that failed in an earlier run.
enum class Failures { Kept, Retried };

class Journal {
public:
    /// Opens or creates the file; "-" is standard output, which remembers nothing.
    static Result<std::unique_ptr<Journal>> open(const std::string& path, Failures failures = Failures::Kept);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    bool has(const std::string& key) const { return keys_.count(key) != 0; }
    std::size_t size() const { return keys_.size(); }
    bool repaired() const { return repaired_; }  ///< a torn last line was cut off

    /// The first sample of a run writes the run's line before its own. False when the disk does not take it.
    bool append(const Sample& sample, const Run& run);

private:
    Journal() = default;
    Problems load(const std::string& path, Failures failures);
    bool write_line(const std::string& line);

    int file_ = -1;
    bool run_written_ = false;
    bool repaired_ = false;
    int unsynced_ = 0;
    std::unordered_set<std::string> keys_;
};

/// The whole of a file, or why it cannot be read.
Result<std::string> read_whole_file(const std::string& path);

}  // namespace tilewright::measure
