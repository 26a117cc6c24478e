// The file that samples are appended to, one write a line. A run that is killed loses at most the sample under way; a
// power loss at most the last `lines_between_syncs` lines. Opening it mends its end and tells what is already there.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <unordered_set>

#include "tilewright/result.h"
#include "tilewright/sample.h"

namespace tilewright::measure {

/// Lines that are written before the disk is asked to keep them.
inline constexpr int lines_between_syncs = 50;

/// The fact of a sample that says how many seconds of its budget were spent when it was done.
inline constexpr const char* spent_fact = "spent_s";

/// What a journal makes of ops that failed in an earlier run.
enum class Failures { Kept, Retried };

class Journal {
public:
    /// Opens or creates the file and locks it against other writers; "-" is standard output, which remembers nothing,
    /// as pipes and devices do.
    static Result<std::unique_ptr<Journal>> open(const std::string& path, Failures failures = Failures::Kept);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    bool has(const std::string& key) const { return keys_.count(key) != 0; }
    std::size_t size() const { return keys_.size(); }
    double spent_s() const { return spent_s_; }            ///< of a budget, by what is there (spent_fact)
    const std::string& mended() const { return mended_; }  ///< what was done to the file's end; empty: nothing

    /// The first sample of a run writes the run's line before its own. False when the disk does not take it: a line of
    /// which only a part was written is taken back.
    bool append(const Sample& sample, const Run& run);
    /// Asks the disk to keep what was written; false when it does not.
    bool sync();
    const std::string& trouble() const { return trouble_; }  ///< why the last call gave false

private:
    Journal() = default;
    Problems load(const std::string& path, Failures failures);
    Problems mend(std::string& text, const std::string& path);
    bool write_line(const std::string& line);

    int file_ = -1;
    bool regular_ = false;  ///< can be synced and cut
    bool run_written_ = false;
    off_t whole_ = 0;  ///< bytes of whole lines
    int unsynced_ = 0;
    std::string mended_;
    std::string trouble_;
    double spent_s_ = 0.0;
    std::unordered_set<std::string> keys_;
};

}  // namespace tilewright::measure
