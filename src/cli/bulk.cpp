// The loop over a bulk file. The output is opened before the first row is read; a run that is cut off leaves the rows
// priced so far in a file of their own.
#include "cli/verb.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>

#include "cli/bulk_serving.h"
#include "cli/catalogue.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "files/output.h"
#include "quantity/problems.h"
#include "read/bulk.h"
#include "render/csv.h"

namespace tilewright::cli {
namespace {

/// The first cells of a row, and empty ones where it has fewer.
std::string cut_to(std::size_t cells, std::string_view row) {
    bool quoted = false;
    for (std::size_t i = 0; i < row.size(); ++i) {
        quoted = quoted != (row[i] == '"');
        if (row[i] == ',' && !quoted && --cells == 0) return std::string(row.substr(0, i));
    }
    return std::string(row).append(cells - 1, ',');
}

/// A kind of file of ops, and the columns that are added to its rows. Times are in microseconds.
struct BulkKind {
    std::string_view name;
    std::string_view added;
};
constexpr std::string_view kernel_added = "predicted_us,low_us,high_us,bound,evidence";
constexpr std::string_view stack_added = "predicted_us,low_us,high_us,params,flops,memory_bytes,evidence";
constexpr BulkKind bulk_kinds[] = {{"gemm", "predicted_us,low_us,high_us,bound,tile_m,tile_n,waves,evidence"},
                                   {"attention", "predicted_us,low_us,high_us,bound,waves,evidence"},
                                   {"layer", stack_added},
                                   {"model", stack_added},
                                   {"moe", kernel_added},
                                   {"mla", kernel_added},
                                   {"alltoall", kernel_added},
                                   {"collective", kernel_added}};

const BulkKind* find_kind(std::string_view name) {
    for (const BulkKind& kind : bulk_kinds) {
        if (kind.name == name) return &kind;
    }
    return nullptr;
}

void append_price(std::string& line, const BulkKind& kind, const RowPrice& price) {
    const Cost& cost = price.cost;
    for (const Seconds time : {cost.time, cost.low, cost.high}) render::append_rounded(line, in_microseconds(time));
    if (kind.added == stack_added) {
        render::append_field(line, price.params);
        render::append_field(line, price.flops.value);
        render::append_field(line, price.memory.value);
    } else {
        render::append_field(line, name_of(cost.bound));
    }
    if (kind.name == "gemm") {
        render::append_field(line, std::int64_t{cost.tile_m});
        render::append_field(line, std::int64_t{cost.tile_n});
    }
    if (kind.name == "gemm" || kind.name == "attention") render::append_rounded(line, cost.waves);
    render::append_field(line, name_of(cost.evidence));
}

/// Appends the added columns to a row, or says what is wrong with it.
using PriceRow = std::function<Problems(const read::CsvRow& row, std::string& line)>;

/// The rows of one file on their way to one output.
class Bulk {
public:
    Bulk(std::string_view added, Session& session, files::Output output)
        : added_(added), session_(session), output_(std::move(output)) {}

    PriceRow price;
    bool keep_going = false;
    Stdout results = Stdout::InUse;

    Result<int> run(const read::CsvTable& table) {
        warn_of_taken_columns(table);
        write(std::string(table.header) + "," + std::string(added_));
        Progress progress("rows", results);
        for (std::size_t i = 0; i < table.rows.size() && problems_.empty() && !interrupted(); ++i) {
            price_row(table, table.rows[i]);
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
        for (const std::string& name : split(added_, ',')) {
            if (std::find(table.columns.begin(), table.columns.end(), name) == table.columns.end()) continue;
            warn(session_, table.where + ": has a column " + name + " already; ours comes after it");
        }
    }

    void price_row(const read::CsvTable& table, const read::CsvRow& row) {
        std::string line(row.text);
        Problems problems = price(row, line);
        if (problems.empty()) return write(line);
        if (!keep_going) {
            problems_ = std::move(problems);
            return;
        }
        ++bad_rows_;
        for (const Problem& problem : problems) {
            if (bad_rows_ > warnings_shown) break;
            warn(session_, problem.where + ":" + std::to_string(problem.line) + ": " + problem.what +
                               (problem.fix.empty() ? "" : "; " + problem.fix));
        }
        write(cut_to(table.columns.size(), row.text).append(split(added_, ',').size(), ','));
    }

    void write(const std::string& line) {
        if (Problems bad = output_.write(line + "\n"); !bad.empty()) problems_ = std::move(bad);
    }

    static constexpr std::int64_t warnings_shown = 20;  ///< bad rows that are named; the rest are only counted

    std::string_view added_;
    Session& session_;
    files::Output output_;
    std::int64_t bad_rows_ = 0;
    Problems problems_;
};

/// Whether rows of that kind take what they leave out from a flag of the workload; the rest is said by every row, or
/// means nothing of one kernel.
bool heeds(std::string_view kind, std::string_view flag) {
    const auto among = [flag](std::initializer_list<std::string_view> flags) {
        return std::find(flags.begin(), flags.end(), flag) != flags.end();
    };
    if (kind == "layer" || kind == "model")
        return !among({"--phase", "--batch", "--seq", "--precision", "--runtime", "--attention"});
    if (kind == "serving") return !among({"--phase", "--batch", "--seq", "--kv-len", "--tp", "--pp", "--dp", "--ep"});
    return flag == "--clock" || (flag == "--precision" && (kind == "gemm" || kind == "attention"));
}

Problems refuse_unheeded(const Arguments& arguments, std::string_view kind) {
    Problems problems;
    const FlagGroup workload = workload_flags();
    for (const Flag& flag : workload.flags) {
        if (!arguments.has(flag.name) || flag.name == "--workload" || heeds(kind, flag.name)) continue;
        problems.push_back({flag.name, 0, "changes nothing of a file of kind " + std::string(kind),
                            "leave it out; what matters of it is a column"});
    }
    const auto precision = arguments.text("--precision");
    if (precision && heeds(kind, "--precision") && kind != "serving" && !find_named<Precision>(*precision))
        problems.push_back({"--precision", 0, "'" + *precision + "' is a way to store weights", "say it in a column"});
    return problems;
}

}  // namespace

Problems refuse_for_rows(const Arguments& arguments, std::string_view kind) {
    Problems problems;
    const FlagGroup overrides = shape_flags();
    for (const Flag& flag : overrides.flags) {
        if (arguments.has(flag.name))
            problems.push_back({flag.name, 0, "does not apply to a file", "make it a column"});
    }
    for (const char* flag : {"--json", "--why", "--scope", "--workload"}) {
        if (arguments.has(flag)) problems.push_back({flag, 0, "is not for predictions in bulk", "leave it out"});
    }
    append(problems, refuse_unheeded(arguments, kind));
    return problems;
}

namespace {

Problems check_usage(const Arguments& arguments, const std::string& input, const std::string& output) {
    Problems problems = refuse_for_rows(arguments, arguments.operands[0]);
    if (input != "-" && !is_file(input)) problems.push_back({input, 0, "is not there", "check the path"});
    append(problems, files::refuse_inputs(output, std::vector{input}, "--output"));
    return problems;
}

}  // namespace

bool is_bulk_kind(std::string_view name) { return find_kind(name) != nullptr || name == "serving"; }

namespace {

/// The row with another word in a column.
std::string with_cell(std::string_view row, std::size_t column, std::string_view word) {
    bool quoted = false;
    std::size_t at = 0, begin = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
        quoted = quoted != (row[i] == '"');
        if (row[i] != ',' || quoted) continue;
        if (at++ == column) return std::string(row.substr(0, begin)).append(word).append(row.substr(i));
        begin = i + 1;
    }
    return std::string(row.substr(0, begin)).append(word);
}

/// Rows whose column `runtime` names a file, one of the user's folder, or a runtime that has no word of the table.
class NamedRuntimes {
public:
    explicit NamedRuntimes(const read::BulkFile& file) : file_(file) {
        const auto& columns = file.table.columns;
        const auto found = std::find(columns.begin(), columns.end(), "runtime");
        if (found != columns.end()) column_ = static_cast<std::size_t>(found - columns.begin());
    }

    Result<Described> read(const read::CsvRow& row, const Workload& defaults) {
        if (!column_) return read::read_row(file_, row, defaults);
        const std::string name = read::CsvCells(file_.table, row).label("runtime");
        if (name.empty() || find_named<RuntimeId>(name)) return read::read_row(file_, row, defaults);
        auto known = known_.find(name);
        if (known == known_.end()) {
            const Result<FoundRuntime> found = find_runtime_named(name);
            if (!found)
                return Problem{file_.table.where, row.line,
                               "column runtime: '" + name + "' " + found.problems().front().what,
                               found.problems().front().fix};
            known = known_.emplace(name, found->id).first;
        }
        const std::string usual = with_cell(row.text, *column_, name_of(RuntimeId::PyTorch));
        Result<Described> described = read::read_row(file_, {row.line, usual}, defaults);
        if (Stack* stack = described ? std::get_if<Stack>(&described->work) : nullptr) {
            stack->workload.runtime = known->second;
        }
        return described;
    }

private:
    const read::BulkFile& file_;
    std::optional<std::size_t> column_;
    std::map<std::string, RuntimeId> known_;
};

/// A file of kernels, layers or models on one GPU.
Result<int> predict_kinds(const Arguments& arguments, const BulkKind& kind, const std::string& bytes, Bulk& bulk) {
    const Result<FoundDevice> device = device_of(arguments);
    if (!device) return device.problems();
    const Pricer sustained(device->device, device->profile, Clock::Sustained);
    const Pricer burst(device->device, device->profile, Clock::Burst);
    Workload defaults;
    apply_workload_flags(arguments, defaults);
    const Result<read::BulkFile> file = read::read_bulk(bytes, *arguments.text("--from"), *find_op_kind(kind.name));
    if (!file) return file.problems();
    NamedRuntimes runtimes(*file);
    bulk.price = [&](const read::CsvRow& row, std::string& line) -> Problems {
        Result<Described> described = runtimes.read(row, defaults);
        if (!described) return described.problems();
        if (Stack* stack = std::get_if<Stack>(&described->work); stack != nullptr) {
            run_by(stack->workload, stack->workload.runtime, arguments);
        }
        append_price(line, kind, price_row(*described, described->clock == Clock::Burst ? burst : sustained));
        return {};
    };
    return bulk.run(file->table);
}

/// A file of served loads, each on a GPU of its own.
Result<int> predict_loads(const Arguments& arguments, const std::string& bytes, Bulk& bulk) {
    const Result<read::CsvTable> table = read::read_csv(bytes, *arguments.text("--from"));
    if (!table) return table.problems();
    Result<ServingRows> rows = ServingRows::of(*table, arguments);
    if (!rows) return rows.problems();
    bulk.price = [&](const read::CsvRow& row, std::string& line) { return rows->price(row, line); };
    return bulk.run(*table);
}

}  // namespace

Result<int> predict_in_bulk(const Arguments& arguments, Session& session) {
    const std::string& name = arguments.operands[0];
    const BulkKind* kind = find_kind(name);
    if (!is_bulk_kind(name)) {
        return Problem{name, 0, "is no kind of bulk file",
                       "use gemm, attention, moe, mla, alltoall, collective, layer, model or serving"};
    }
    const std::string input = *arguments.text("--from");
    const std::string output = arguments.text("--output").value_or("-");
    Problems problems = check_usage(arguments, input, output);
    if (kind != nullptr) append(problems, device_of(arguments));
    if (!problems.empty()) return problems;
    Result<files::Output> opened = files::Output::open(output, files::Unfinished::Kept);
    if (!opened) return opened.problems();
    Bulk bulk(kind != nullptr ? kind->added : serving_added, session, std::move(*opened));
    bulk.keep_going = arguments.has("--keep-going");
    if (output != "-") bulk.results = Stdout::Silent;
    const Result<std::string> bytes = read_whole(input, read::max_csv_bytes);
    if (!bytes) return bytes.problems();
    remember_interrupts();
    return kind != nullptr ? predict_kinds(arguments, *kind, *bytes, bulk) : predict_loads(arguments, *bytes, bulk);
}

}  // namespace tilewright::cli
