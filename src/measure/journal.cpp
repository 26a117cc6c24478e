#include "measure/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "files/input.h"
#include "files/output.h"
#include "measure/case.h"
#include "tilewright/read.h"

namespace tilewright::measure {
namespace {

/// The key of a sample as it is written today: a column that its file does not know yet has the table's fallback.
std::string key_today(Sample sample) {
    const CaseKind* kind = find_case_kind(sample.op);
    for (std::size_t i = 0; kind != nullptr && i < kind->columns.size(); ++i) {
        const Column& column = kind->columns[i];
        if (find_field(sample.sizes, column.name) || i > sample.sizes.size()) continue;
        sample.sizes.emplace(sample.sizes.begin() + static_cast<std::ptrdiff_t>(i), column.name, column.fallback);
    }
    return key(sample);
}

/// Whether a line that was cut off somewhere can have been one of ours.
bool may_be_torn(std::string_view line) {
    constexpr std::string_view start = R"({"schema":"tilewright.)";
    return line.substr(0, start.size()) == start.substr(0, line.size());
}

}  // namespace

Result<std::unique_ptr<Journal>> Journal::open(const std::string& path, Failures failures) {
    std::unique_ptr<Journal> journal(new Journal);
    if (path == "-") {
        journal->file_ = ::dup(STDOUT_FILENO);
    } else if (path.ends_with(".gz")) {
        return Problem{path, 0, "samples are not appended to a compressed file",
                       "name it .jsonl and compress it when the sweep is done"};
    } else if (Problems problems = journal->load(path, failures); !problems.empty()) {
        return problems;
    }
    return journal;
}

Problems Journal::load(const std::string& path, Failures failures) {
    const auto fault = [&](const char* fix) { return Problems{{path, 0, std::strerror(errno), fix}}; };
    struct stat old {};
    const bool there = ::stat(path.c_str(), &old) == 0;
    regular_ = !there || S_ISREG(old.st_mode);
    file_ = ::open(path.c_str(), (regular_ ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file_ < 0) return fault("name a file that can be written");
    if (!regular_) return {};
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return {{path, 0, "is being written by another program", "wait until it is done, or name another file"}};
    }
    if (!there && !files::sync_folder_of(path)) return fault("check the disk");
    Result<std::string> text = files::read_whole(path, files::largest_samples);
    if (!text) return text.problems();
    if (Problems problems = mend(*text, path); !problems.empty()) return problems;
    whole_ = static_cast<off_t>(text->size());
    const auto held = read_samples(*text, path);
    if (!held) return held.problems();
    for (const Sample& sample : held->samples) {
        if (const auto spent = find_field(sample.facts, spent_fact)) {
            spent_s_ = std::max(spent_s_, std::strtod(std::string(*spent).c_str(), nullptr));
        }
        if (failures == Failures::Kept || sample.status != SampleStatus::Failed) keys_.insert(key_today(sample));
    }
    return {};
}

/// Mends the end of the file, and of `text`, which it holds: NULs, which a power loss leaves, go; a last line that only
/// lacks its end gets one; one that was cut off goes.
Problems Journal::mend(std::string& text, const std::string& path) {
    const std::size_t kept = text.find_last_not_of('\0') + 1;
    const std::size_t last = text.rfind('\n', kept) == std::string::npos ? 0 : text.rfind('\n', kept) + 1;
    const std::string line = text.substr(std::min(last, kept), kept - std::min(last, kept));
    if (line.empty() && kept == text.size()) return {};
    const bool complete = line.empty() || read_samples(line + "\n", path).ok();
    if (!complete && !may_be_torn(line)) {
        return {{path, 0, "ends in what is no sample, and is left as it is", "name another file, or a new one"}};
    }
    // What stands before must be samples too, or it is not our file to change.
    if (const auto before = read_samples(std::string_view(text).substr(0, last), path); !before) {
        return before.problems();
    }
    const bool nuls = kept != text.size();
    text.resize(complete ? kept : last);
    const auto add = [&](const char* what) { mended_ += (mended_.empty() ? "" : ", ") + std::string(what); };
    if (nuls) add("removed the NULs at its end");
    if (!complete) add("cut off a torn last line");
    if (complete && !line.empty()) add("ended its last line");
    if (::ftruncate(file_, static_cast<off_t>(text.size())) != 0) return {{path, 0, std::strerror(errno), ""}};
    if (complete && !line.empty()) {
        text += '\n';
        if (!files::write_all(file_, "\n")) return {{path, 0, std::strerror(errno), ""}};
    }
    return {};
}

Journal::~Journal() {
    if (file_ < 0) return;
    sync();
    ::close(file_);
}

bool Journal::sync() {
    if (unsynced_ == 0 || !regular_) return true;
    unsynced_ = 0;
    if (::fsync(file_) == 0) return true;
    trouble_ = std::strerror(errno);
    return false;
}

bool Journal::write_line(const std::string& line) {
    if (!files::write_all(file_, line + "\n")) {
        trouble_ = std::strerror(errno);
        if (regular_ && ::ftruncate(file_, whole_) != 0) trouble_ += ", and the line stays torn";
        return false;
    }
    whole_ += static_cast<off_t>(line.size()) + 1;
    return ++unsynced_ < lines_between_syncs || sync();
}

bool Journal::append(const Sample& sample, const Run& run) {
    if (!run_written_ && !write_line(to_line(run))) return false;
    run_written_ = true;
    keys_.insert(key(sample));
    return write_line(to_line(sample));
}

}  // namespace tilewright::measure
