#include "measure/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "measure/case.h"

namespace tilewright::measure {
namespace {

constexpr int lines_between_syncs = 200;

Result<std::string> read_all(int file, const std::string& path) {
    std::string text;
    char buffer[1 << 16];
    while (true) {
        const ssize_t got = ::read(file, buffer, sizeof buffer);
        if (got < 0) return Problem{path, 0, std::strerror(errno), ""};
        if (got == 0) return text;
        text.append(buffer, static_cast<std::size_t>(got));
    }
}

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

Result<std::string> read_whole_file(const std::string& path) {
    if (path == "-") return read_all(STDIN_FILENO, path);
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return Problem{path, 0, std::strerror(errno), "check the path"};
    Result<std::string> text = read_all(file, path);
    ::close(file);
    return text;
}

Result<std::unique_ptr<Journal>> Journal::open(const std::string& path, Failures failures) {
    std::unique_ptr<Journal> journal(new Journal);
    if (path == "-") {
        journal->file_ = ::dup(STDOUT_FILENO);
    } else if (Problems problems = journal->load(path, failures); !problems.empty()) {
        return problems;
    }
    return journal;
}

Problems Journal::load(const std::string& path, Failures failures) {
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file_ < 0) return {{path, 0, std::strerror(errno), "name a file that can be written"}};
    const Result<std::string> text = read_all(file_, path);
    if (!text) return text.problems();
    const std::size_t whole = text->rfind('\n') == std::string::npos ? 0 : text->rfind('\n') + 1;
    const auto held = read_samples(std::string_view(*text).substr(0, whole), path);
    if (!held) return held.problems();
    repaired_ = whole != text->size();
    if (repaired_ && !may_be_torn(std::string_view(*text).substr(whole))) {
        return {{path, 0, "ends in what is no sample, and is left as it is", "name another file, or a new one"}};
    }
    if (repaired_ && ::ftruncate(file_, static_cast<off_t>(whole)) != 0) return {{path, 0, std::strerror(errno), ""}};
    for (const Sample& sample : held->samples) {
        if (failures == Failures::Kept || sample.status != SampleStatus::Failed) keys_.insert(key_today(sample));
    }
    return {};
}

Journal::~Journal() {
    if (file_ < 0) return;
    ::fsync(file_);
    ::close(file_);
}

bool Journal::write_line(const std::string& line) {
    const std::string text = line + "\n";
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t wrote = ::write(file_, text.data() + done, text.size() - done);
        if (wrote < 0 && errno != EINTR) return false;
        if (wrote > 0) done += static_cast<std::size_t>(wrote);
    }
    if (++unsynced_ >= lines_between_syncs) {
        ::fsync(file_);
        unsynced_ = 0;
    }
    return true;
}

bool Journal::append(const Sample& sample, const Run& run) {
    if (!run_written_ && !write_line(to_line(run))) return false;
    run_written_ = true;
    keys_.insert(key(sample));
    return write_line(to_line(sample));
}

}  // namespace tilewright::measure
