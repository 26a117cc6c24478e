// A file that an answer goes to. It is written beside its place, flushed, checked and renamed, so that whatever fails
// (a full disk, a kill, a bad input found late) leaves the old file as it was. Links are resolved and kept, modes are
// kept, pipes and devices are written directly, "-" is standard output.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tilewright/result.h"

namespace tilewright::files {

/// What becomes of a file that was begun and not finished.
enum class Unfinished {
    Removed,
    Kept,  ///< as PATH.partial, when anything was written; one from before is refused
};

class Output {
public:
    /// Opens it before the work starts, so that a bad path is known at once.
    static Result<Output> open(const std::string& path, Unfinished unfinished = Unfinished::Removed);
    Output(Output&& other) noexcept;
    Output& operator=(Output&&) = delete;
    ~Output();

    /// What went wrong, or nothing. After a problem the file is not to be finished.
    Problems write(std::string_view bytes);
    /// All was written: puts it in its place.
    Problems finish();
    /// Where the bytes of a file that is not finished will stay; empty when nowhere.
    std::string partial() const { return unfinished_ == Unfinished::Kept && written_ ? beside_ : std::string(); }

private:
    Output() = default;
    Problems begin();
    bool flush();
    Problem fault(int error) const;

    int file_ = -1;
    std::string buffer_;
    std::string path_;    ///< as it was given
    std::string target_;  ///< behind all links
    std::string beside_;  ///< what is written; empty when `path` itself is
    Unfinished unfinished_ = Unfinished::Removed;
    bool written_ = false;
};

/// Opens, writes and finishes.
Problems write_file(const std::string& path, std::string_view bytes);

/// A problem when `output` is one of the files that are read, under whatever name; `flag` named it.
Problems refuse_inputs(const std::string& output, std::span<const std::string> inputs, const std::string& flag);

/// Writes all of it, whatever interrupts; false, with errno set, when it cannot.
bool write_all(int file, std::string_view bytes);

/// Asks the disk to keep the names in a file's folder; whether it did.
bool sync_folder_of(const std::string& path);

/// Fills the places of standard streams that are closed, so that no file takes one and gets what was meant for it.
/// Writing to them, or reading, fails as before.
void occupy_standard_streams();

/// Removes the file that is being written, if any: for signal handlers that end the program.
void remove_unfinished() noexcept;

}  // namespace tilewright::files
