// Any bytes for a reader, which READER in the environment names: it gives a value that is valid, or problems that say
// where and what.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "device/residual_fields.h"
#include "read/bulk.h"
#include "read/capture_file.h"
#include "read/document.h"
#include "read/files.h"
#include "read/gzip.h"
#include "tilewright/read.h"

namespace {

using namespace tilewright;

void require(bool holds) {
    if (!holds) std::abort();
}

/// A refusal has at least one problem, and each says where and what.
void check(const Problems& problems) {
    require(!problems.empty());
    for (const Problem& problem : problems) require(!problem.where.empty() && !problem.what.empty());
}

/// What was read, looked at, or why it was not.
template <class T, class Look>
void check(const Result<T>& read, Look look) {
    if (read) return look(*read);
    check(read.problems());
}

void read_bulk_rows(std::string_view bytes, const OpKind& kind) {
    check(read::read_bulk(bytes, "fuzz.csv", kind), [&](const read::BulkFile& file) {
        int line = 1;
        for (const read::CsvRow& row : file.table.rows) {
            require(row.line > line);
            line = row.line;
            check(read::read_row(file, row), [&](const Described& described) {
                require(decode(kind, encode(kind, described), {"fuzz.csv", line}).ok());
            });
        }
    });
}

/// The constants of a profile, and its residual.
void read_profile(std::string_view bytes) {
    check(read::read_profile_file(bytes, "fuzz.toml"), [](const auto&) {});
    read::ProfileFile file{.device = {}, .residual = {}, .residual_hash = hash_of(bytes), .profile = {}};
    const Problems problems = read::add_residual(file, bytes, "fuzz.json");
    if (!problems.empty()) check(problems);
}

constexpr std::size_t largest = 1U << 20U;  ///< that a gzip file may unpack to

using Reader = void (*)(std::string_view bytes);

const std::map<std::string_view, Reader> readers = {
    {"json",
     [](auto bytes) {
         check(read::read_json(bytes, "fuzz.json"), [](const auto& root) { (void)read::describe(root); });
     }},
    {"toml", [](auto bytes) { check(read::read_toml(bytes, "fuzz.toml"), [](const auto&) {}); }},
    {"shape",
     [](auto bytes) {
         check(read_shape(bytes, "fuzz"), [](const auto& file) {
             require(validate(file.shape).empty() && (!file.workload || validate(*file.workload).empty()));
             require(count_parameters(file.shape).total > 0);
         });
     }},
    {"workload",
     [](auto bytes) {
         check(read_workload(bytes, "fuzz"), [](const auto& file) { require(validate(file.workload).empty()); });
     }},
    {"baseline", [](auto bytes) { check(read::read_baseline(bytes, "fuzz.json"), [](const auto&) {}); }},
    {"device",
     [](auto bytes) {
         check(read_device(bytes, "fuzz.toml"), [](const auto& device) { require(validate(device).empty()); });
     }},
    {"csv",
     [](auto bytes) {
         for (const OpKind& kind : op_kinds()) read_bulk_rows(bytes, kind);
     }},
    {"profile", read_profile},
    {"samples",
     [](auto bytes) {
         check(read_samples(bytes, "fuzz.jsonl"), [](const auto& file) {
             for (const Sample& sample : file.samples) require(!to_line(sample).empty());
         });
     }},
    {"experiment",
     [](auto bytes) {
         check(read::read_experiment(bytes, "fuzz.toml"),
               [](const auto& one) { require(expand(one, Precision::Bf16).size() <= most_points); });
     }},
    {"capture",
     [](auto bytes) {
         check(read::read_capture(bytes, "fuzz.json"), [](const Capture& capture) {
             for (const CapturedOp& op : capture.ops) {
                 for (const Op& kernel : lower(op, capture).kernels) require(flops(kernel).value >= 0);
             }
         });
     }},
    {"gzip",
     [](auto bytes) {
         check(read::gunzip(bytes, "fuzz.gz", largest), [](const auto& text) { require(text.size() <= largest); });
     }},
    {"cluster",
     [](auto bytes) {
         check(read_cluster(bytes, "fuzz.toml"),
               [](const auto& cluster) { require(cluster.node_size > 0 && !cluster.gpu.empty()); });
     }},
    {"runtime",
     [](auto bytes) {
         check(read_runtime(bytes, "fuzz.toml"), [](const auto& runtime) { require(!runtime.name.empty()); });
     }},
    {"runs",
     [](auto bytes) {
         check(read::read_runs(bytes, "fuzz.csv"), [](const auto& runs) {
             for (const read::PublishedRun& run : runs) {
                 require(validate(run.shape).empty() && validate(run.workload).empty() && run.global_batch > 0);
             }
         });
     }},
};

Reader chosen() {
    const char* name = std::getenv("READER");
    const auto found = readers.find(name == nullptr ? "" : name);
    if (found != readers.end()) return found->second;
    std::fputs("set READER to one of", stderr);
    for (const auto& [word, reader] : readers) std::fprintf(stderr, " %s", word.data());
    std::fputs("\n", stderr);
    std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Reader reader = chosen();
    reader({reinterpret_cast<const char*>(data), size});
    return 0;
}
