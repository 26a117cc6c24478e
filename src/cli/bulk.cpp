// The loop over a bulk file. The output is opened before the first row is read; a run that is cut off leaves the rows
// priced so far in a file of their own.
#include "cli/bulk.h"

#include <algorithm>
#include <cstdio>

#include "cli/bulk_columns.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "files/output.h"
#include "read/bulk.h"

namespace tilewright::cli {
namespace {

/// Cells of a row: one more than its commas outside quotes.
std::size_t cells_in(std::string_view row) {
    bool quoted = false;
    return 1 + static_cast<std::size_t>(std::count_if(row.begin(), row.end(), [&](char c) {
               quoted = quoted != (c == '"');
               return c == ',' && !quoted;
           }));
}

const BulkColumns* find_kind(std::string_view name) {
    for (const BulkColumns& kind : bulk_columns()) {
        if (kind.kind == name) return &kind;
    }
    return nullptr;
}

/// The rows of one file on their way to one output.
class Bulk {
public:
    Bulk(const BulkColumns& kind, const BulkContext& context, Session& session, files::Output output)
        : kind_(kind), context_(context), session_(session), output_(std::move(output)) {}

    bool keep_going = false;
    bool to_file = false;

    Result<int> run(const read::BulkFile& file) {
        const read::CsvTable& table = file.table;
        warn_of_taken_columns(table);
        write(std::string(table.header) + "," + std::string(kind_.added));
        Progress progress("rows", to_file);
        for (std::size_t i = 0; i < table.rows.size() && problems_.empty() && !interrupted(); ++i) {
            price_row(file, table.rows[i]);
            progress.step();
        }
        if (problems_.empty() && !interrupted()) problems_ = output_.finish();
        if (const std::string partial = output_.partial(); !partial.empty()) {
            warn(session_, "the rows priced so far are in " + partial);
        }
        if (!problems_.empty()) return problems_;
        if (bad_rows_ > 0) warn(session_, table.where + ": " + std::to_string(bad_rows_) + " bad rows were left empty");
        return interrupted() ? exit_interrupted : exit_fine;
    }

private:
    void warn_of_taken_columns(const read::CsvTable& table) const {
        for (const std::string& name : split(kind_.added, ',')) {
            if (std::find(table.columns.begin(), table.columns.end(), name) == table.columns.end()) continue;
            warn(session_, table.where + ": has a column " + name + " already; ours comes after it");
        }
    }

    void price_row(const read::BulkFile& file, const read::CsvRow& row) {
        std::string line(row.text);
        const Result<Described> described = read::read_row(file, row, context_.defaults);
        if (described) {
            kind_.price(*described, context_, line);
            return write(line);
        }
        if (!keep_going) {
            problems_ = described.problems();
            return;
        }
        ++bad_rows_;
        for (const Problem& problem : described.problems()) {
            if (bad_rows_ > warnings_shown) break;
            warn(session_, problem.where + ":" + std::to_string(problem.line) + ": " + problem.what);
        }
        const std::size_t width = file.table.columns.size() + split(kind_.added, ',').size();
        write(line.append(width - std::min(width, cells_in(row.text)), ','));
    }

    void write(const std::string& line) {
        if (Problems bad = output_.write(line + "\n"); !bad.empty()) problems_ = std::move(bad);
    }

    static constexpr std::int64_t warnings_shown = 20;  ///< bad rows that are named; the rest are only counted

    const BulkColumns& kind_;
    const BulkContext& context_;
    Session& session_;
    files::Output output_;
    std::int64_t bad_rows_ = 0;
    Problems problems_;
};

/// Flags that mean nothing where each row says what it is.
Problems check_usage(const Arguments& arguments, const std::string& input, const std::string& output) {
    Problems problems;
    const FlagGroup overrides = shape_flags();
    for (const Flag& flag : overrides.flags) {
        if (arguments.has(flag.name))
            problems.push_back({flag.name, 0, "does not apply to a file", "make it a column"});
    }
    for (const char* flag : {"--json", "--why", "--scope", "--workload"}) {
        if (arguments.has(flag)) problems.push_back({flag, 0, "is not for predictions in bulk", "leave it out"});
    }
    if (input != "-" && !is_file(input)) problems.push_back({input, 0, "is not there", "check the path"});
    const Problems same = files::refuse_inputs(output, std::vector{input}, "--output");
    problems.insert(problems.end(), same.begin(), same.end());
    return problems;
}

}  // namespace

bool is_bulk_kind(std::string_view name) { return find_kind(name) != nullptr; }

Result<int> predict_in_bulk(const Arguments& arguments, Session& session) {
    const std::string& name = arguments.operands[0];
    const BulkColumns* kind = find_kind(name);
    if (kind == nullptr) return Problem{name, 0, "is no kind of bulk file", "use gemm, attention, layer or model"};
    const std::string input = *arguments.text("--from");
    const std::string output = arguments.text("--output").value_or("-");
    Problems problems = check_usage(arguments, input, output);
    const Result<FoundDevice> device = device_of(arguments);
    if (!device) problems.insert(problems.end(), device.problems().begin(), device.problems().end());
    if (!problems.empty()) return problems;

    const Profile& profile = device->profile;
    BulkContext context{Pricer(device->device, profile, Clock::Sustained),
                        Pricer(device->device, profile, Clock::Burst), Workload{}};
    apply_workload_flags(arguments, context.defaults);
    Result<files::Output> opened = files::Output::open(output, files::Unfinished::Kept);
    if (!opened) return opened.problems();
    Bulk bulk(*kind, context, session, std::move(*opened));
    bulk.keep_going = arguments.has("--keep-going");
    bulk.to_file = output != "-";
    const Result<std::string> bytes = read_whole(input, read::max_csv_bytes);
    if (!bytes) return bytes.problems();
    const Result<read::BulkFile> file = read::read_bulk(*bytes, input, *find_op_kind(name));
    if (!file) return file.problems();
    remember_interrupts();
    return bulk.run(*file);
}

}  // namespace tilewright::cli
