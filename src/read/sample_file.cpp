// Lines of samples and runs, member by member; members that are not known are passed over.
#include <algorithm>
#include <charconv>

#include "quantity/suggest.h"
#include "read/fields.h"
#include "read/json.h"
#include "tilewright/read.h"

namespace tilewright::read {
namespace {

/// One line on its way to becoming a sample or a run.
class Line {
public:
    Line(std::string_view text, const std::string& where, int number)
        : walk_(text, where, number), where_(where), number_(number) {}

    /// Whether it was JSON.
    bool read() {
        if (walk_.object([&](const std::string& name) { return member(name); }) && walk_.end()) return true;
        walk_.problems.back().fix = "remove the line, or measure again into a new file";
        return false;
    }

    /// Adds what the line holds, unless there were problems.
    void add_to(SampleFile& file) {
        if (schema_ == run_schema) {
            file.runs.push_back({std::move(sample_.run), std::move(sample_.facts)});
        } else if (schema_ != sample_schema) {
            report("schema is " + quoted(schema_), "it must be " + std::string(sample_schema));
        } else {
            take_word("clock", clock_, sample_.clock);
            take_word("status", status_, sample_.status);
            check_sizes();
            if (problems().empty()) file.samples.push_back(std::move(sample_));
        }
    }

    const Problems& problems() const { return walk_.problems; }

private:
    bool member(const std::string& name) {
        if (std::find(seen_.begin(), seen_.end(), name) != seen_.end()) report_twice(name);
        seen_.push_back(name);
        if (std::string* text = find_text(name)) return walk_.scalar(*text);
        if (tilewright::Fields* fields = find_fields(name)) return read_fields(*fields);
        if (double* number = find_number(name)) return read_number(name, *number);
        int* count = name == "repeats"     ? &sample_.time.repeats
                     : name == "discarded" ? &sample_.time.discarded
                     : name == "launches"  ? &sample_.time.launches
                                           : nullptr;
        if (count == nullptr) return walk_.skip();
        double value = 0.0;
        if (!read_number(name, value)) return false;
        *count = static_cast<int>(std::clamp(value, 0.0, 2147483647.0));  // what no run could have counted
        return true;
    }

    std::string* find_text(std::string_view name) {
        const std::pair<std::string_view, std::string*> texts[] = {
            {"schema", &schema_}, {"op", &sample_.op},         {"device", &sample_.device}, {"clock", &clock_},
            {"status", &status_}, {"reason", &sample_.reason}, {"run", &sample_.run}};
        return find(texts, name);
    }

    tilewright::Fields* find_fields(std::string_view name) {
        const std::pair<std::string_view, tilewright::Fields*> tables[] = {
            {"sizes", &sample_.sizes}, {"facts", &sample_.facts}, {"tags", &sample_.tags}};
        return find(tables, name);
    }

    double* find_number(std::string_view name) {
        TimeStatistics& time = sample_.time;
        const std::pair<std::string_view, double*> numbers[] = {
            {"time_us", &time.median_us},  {"min_us", &time.min_us},          {"mad_us", &time.mad_us},
            {"iqr_us", &time.iqr_us},      {"clock_mhz", &sample_.clock_mhz}, {"cycles", &sample_.cycles},
            {"power_w", &sample_.power_w}, {"energy_j", &sample_.energy_j},   {"flops", &sample_.flops},
            {"bytes", &sample_.bytes}};
        return find(numbers, name);
    }

    template <class Table>
    static auto find(const Table& table, std::string_view name) -> decltype(table[0].second) {
        for (const auto& [known, target] : table) {
            if (known == name) return target;
        }
        return nullptr;
    }

    bool read_fields(tilewright::Fields& fields) {
        return walk_.object([&](std::string name) {
            if (find_field(fields, name)) report_twice(name);
            return walk_.scalar(fields.emplace_back(std::move(name), std::string()).second);
        });
    }

    bool read_number(const std::string& name, double& value) {
        if (!walk_.scalar(scratch_)) return false;
        if (scratch_.empty()) return true;
        const char* end = scratch_.data() + scratch_.size();
        const auto [stop, fault] = std::from_chars(scratch_.data(), end, value);
        if (fault != std::errc{} || stop != end) report(name + " is " + quoted(scratch_), "it must be a number");
        return true;
    }

    template <class E>
    void take_word(std::string_view name, std::string_view text, E& value) {
        if (const std::optional<E> known = find_named<E>(text)) {
            value = *known;
        } else {
            refuse_word(name, text, words<E>());
        }
    }

    void check_sizes() {
        const OpKind* kind = find_op_kind(sample_.op);
        if (kind == nullptr) {
            std::vector<std::string> known;
            for (const OpKind& one : op_kinds()) known.emplace_back(one.name);
            return refuse_word("op", sample_.op, known);
        }
        const Result<Described> described = decode(*kind, sample_.sizes, {where_, number_});
        if (described) return;
        for (const Problem& problem : described.problems()) walk_.problems.push_back(problem);
    }

    void refuse_word(std::string_view name, std::string_view text, const std::vector<std::string>& known) {
        const WordFault fault = unknown_word(text, known);
        report(std::string(name) + ": " + fault.what, fault.fix);
    }

    void report_twice(const std::string& name) {
        report("the key " + quoted(name) + " is given twice", "remove one of them");
    }

    void report(std::string what, std::string fix) {
        walk_.problems.push_back({where_, number_, std::move(what), std::move(fix)});
    }

    JsonWalk walk_;
    const std::string& where_;
    int number_;
    std::string schema_, clock_, status_, scratch_;
    std::vector<std::string> seen_;  ///< names of members so far
    Sample sample_;
};

}  // namespace
}  // namespace tilewright::read

namespace tilewright {

Result<SampleFile> read_samples(std::string_view text, const std::string& where) {
    constexpr std::size_t told = 10;  // of problems: a file of another kind has as many as lines
    SampleFile file;
    Problems problems;
    for (int number = 1; !text.empty() && problems.size() <= told; ++number) {
        const std::size_t end = text.find('\n');
        const std::string_view bytes = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (bytes.empty()) continue;
        read::Line line(bytes, where, number);
        const bool whole = line.read();
        if (whole) line.add_to(file);
        file.torn = !whole && end == std::string_view::npos;
        if (!file.torn) problems.insert(problems.end(), line.problems().begin(), line.problems().end());
    }
    if (problems.size() > told) {
        problems.resize(told);
        problems.push_back({where, 0, "more lines are bad", "give a file of samples (docs/samples.md)"});
    }
    if (!problems.empty()) return problems;
    return file;
}

}  // namespace tilewright
