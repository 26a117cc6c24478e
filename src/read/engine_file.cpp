// data/engines -> the constants of engines' kernels on one GPU: its own rows, else those of the nearest part of its
// architecture (transferred), else the mean over all GPUs (assumed). Rates are fractions of the data sheet's, so that a
// row means the same anywhere.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <map>

#include "read/document.h"
#include "read/embedded.h"
#include "read/files.h"
#include "read/tree_line.h"
#include "tilewright/read.h"

namespace tilewright {
namespace {

constexpr double transferred_widening = 1.15, assumed_widening = 1.4;

/// A row of a table: words that say what it is of, then numbers.
struct EngineRow {
    std::vector<std::string> words;
    std::vector<double> numbers;
};
using EngineTable = std::vector<EngineRow>;

/// A file that is built in and does not read is a fault of ours.
std::map<std::string, EngineTable, std::less<>> read_tables() {
    std::map<std::string, EngineTable, std::less<>> tables;
    for (const embedded::File& file : embedded::engines()) {
        const Result<read::Value> root = read::read_toml(file.text, std::string(file.name) + ".toml");
        assert(root && "a built-in table of engines' kernels is readable");
        for (const read::Member& member : *root->as<read::Object>()) {
            EngineTable& table = tables[member.key];
            for (const read::Value& line : *member.value.as<read::Array>()) {
                EngineRow& row = table.emplace_back();
                for (const read::Value& cell : *line.as<read::Array>()) {
                    if (const auto* word = cell.as<std::string>()) row.words.push_back(*word);
                    if (const auto* real = cell.as<double>()) row.numbers.push_back(*real);
                    if (const auto* whole = cell.as<std::int64_t>()) row.numbers.push_back(static_cast<double>(*whole));
                }
            }
        }
    }
    return tables;
}

const EngineTable& engine_table(std::string_view name) {
    static const std::map<std::string, EngineTable, std::less<>> tables = read_tables();
    return tables.find(name)->second;
}

/// Numbers of the rows that match, for a device: chosen, or averaged.
struct FoundRow {
    std::vector<double> numbers;
    std::vector<std::string> words;
    Evidence evidence = Evidence::Assumed;
    bool one_device = true;
};

double unlikeness(const Device& a, const Device& b) {
    return std::abs(std::log(a.bandwidth.value / b.bandwidth.value)) +
           std::abs(std::log(static_cast<double>(a.units) / static_cast<double>(b.units)));
}

FoundRow mean_row(const std::vector<const EngineRow*>& rows) {
    FoundRow found{rows.front()->numbers, rows.front()->words, Evidence::Assumed, false};
    for (std::size_t i = 0; i < found.numbers.size(); ++i) {
        double sum = 0;
        for (const EngineRow* row : rows) sum += std::log(row->numbers[i]);
        found.numbers[i] = std::exp(sum / static_cast<double>(rows.size()));
    }
    return found;
}

/// The first word of a row is its device; `matches` looks at the others.
template <class Matches>
std::optional<FoundRow> find_rows(std::string_view name, const Device& device, Matches matches) {
    std::vector<const EngineRow*> rows;
    const EngineRow* nearest = nullptr;
    double least = HUGE_VAL;
    for (const EngineRow& row : engine_table(name)) {
        if (!matches(row)) continue;
        if (row.words[0] == device.name) return FoundRow{row.numbers, row.words, Evidence::Fitted};
        rows.push_back(&row);
    }
    for (const EngineRow* row : rows) {
        const Device& other = read::built_in_device(row->words[0]);
        if (other.architecture != device.architecture || unlikeness(device, other) >= least) continue;
        least = unlikeness(device, other);
        nearest = row;
    }
    if (rows.empty()) return std::nullopt;
    if (nearest != nullptr) return FoundRow{nearest->numbers, nearest->words, Evidence::Transferred};
    return mean_row(rows);
}

EngineBasis basis_of(const FoundRow& found, std::size_t at) {
    const double wider = found.evidence == Evidence::Fitted        ? 1.0
                         : found.evidence == Evidence::Transferred ? transferred_widening
                                                                   : assumed_widening;
    return {found.numbers[at] / wider, found.numbers[at + 1] * wider, found.evidence};
}

/// Takes the numbers in the order of the members.
template <class... Members>
EngineBasis take(const FoundRow& found, Members&... members) {
    std::size_t at = 0;
    ((members = found.numbers[at++]), ...);
    return basis_of(found, at);
}

/// Of a law whose constants are one device's, not a mean.
Learnt learnt_of(const FoundRow& found, const std::string& law, const Knots& knots) {
    return found.one_device ? read::learnt_of(found.words[0], law, knots) : nullptr;
}

constexpr std::size_t expert_constants = 17;  ///< before the two intervals

ExpertKernel expert_kernel(const FoundRow& found) {
    ExpertKernel k;
    const std::string& tiles = found.words[3];
    constexpr std::string_view guessed = "guessed-";
    if (tiles == "default") k.tiles = ExpertTiles::Default;
    if (tiles.starts_with(guessed)) {
        k.tiles = ExpertTiles::Guessed;
        k.most_rows = std::strtod(tiles.c_str() + guessed.size(), nullptr);
    }
    k.basis = take(found, k.fixed_us, k.plain_us, k.expert_ns, k.choice_ns, k.token_bytes, k.input_bytes, k.inner_bytes,
                   k.efficiency, k.alone, k.tail, k.tile_us, k.bandwidth, k.unit_bandwidth, k.join, k.wide_bandwidth,
                   k.ragged, k.spilled);
    k.skewed = basis_of(found, expert_constants + 2);
    k.learnt = learnt_of(found, "experts-" + found.words[1] + '-' + found.words[2], expert_knots);
    return k;
}

/// Of the bytes that a kernel seems to move, those beyond what it must move are units that take their time: on another
/// part they follow the clock and the number of units, not the bandwidth.
double carried_bytes(double seen, double least, const Device& from, const Device& to) {
    const auto of_a_unit = [](const Device& device) {
        return device.bandwidth.value / (static_cast<double>(device.units) * device.boost_clock.value);
    };
    return seen > least ? least + (seen - least) * of_a_unit(to) / of_a_unit(from) : seen;
}

/// A row that is copied for an expert is written and read, its result too; around the activation about as much.
void carry(ExpertKernel& kernel, const Device& from, const Device& to) {
    constexpr double least_input = 4.0, least_inner = 2.0;
    kernel.input_bytes = carried_bytes(kernel.input_bytes, least_input, from, to);
    kernel.inner_bytes = carried_bytes(kernel.inner_bytes, least_inner, from, to);
    kernel.token_bytes = carried_bytes(kernel.token_bytes, 2.0, from, to);
}

/// The format whose timings stand in where nobody published any.
std::string_view timed_as(Quantization way) {
    switch (way) {
        case Quantization::None: return "bf16";
        case Quantization::Fp8Static:
        case Quantization::Mxfp8:
        case Quantization::Int8Sq: return "fp8";
        case Quantization::Int8Wo: return "int4_wo";
        default: return traits_of(way).name;
    }
}

void add_experts(EngineKernels& engines, const Device& device) {
    for (std::size_t way = 0; way < quantization_count; ++way) {
        const std::string_view format = timed_as(static_cast<Quantization>(way));
        const bool stands_in = way > 0 && format != quantizations[way].name;
        auto& kernels = engines.experts[way];
        std::array<std::optional<FoundRow>, expert_library_count> found;
        for (std::size_t library = 1; library < expert_library_count; ++library) {
            const std::string_view name = name_of(static_cast<ExpertLibrary>(library));
            found[library] = find_rows("experts", device, [&](const EngineRow& row) {
                return row.words[1] == format && row.words[2] == name;
            });
            if (found[library] && stands_in) found[library]->evidence = Evidence::Assumed;
            const bool better = found[library] && (!found[0] || found[library]->evidence < found[0]->evidence);
            if (better) found[0] = found[library];
        }
        for (std::size_t library = 0; library < expert_library_count; ++library) {
            const FoundRow& row = found[library] ? *found[library] : *found[0];
            kernels[library] = expert_kernel(row);
            const bool carried = row.one_device && row.words[0] != device.name;
            if (carried) carry(kernels[library], read::built_in_device(row.words[0]), device);
        }
    }
}

void add_latent(EngineKernels& engines, const Device& device) {
    for (std::size_t cache = 0; cache < 2; ++cache) {
        const std::string_view format = cache == 0 ? "bf16" : "fp8";
        const auto matches = [&](const EngineRow& row) { return row.words[1] == format; };
        const std::optional<FoundRow> context = find_rows("context", device, matches);
        LatentContextKernel& c = engines.context[cache];
        c.basis =
            take(*context, c.step, c.fixed_us, c.token_ns, c.head_bytes, c.efficiency, c.tile_us, c.longest, c.join);
        c.learnt = learnt_of(*context, "context-" + std::string(format), latent_knots);
        const std::optional<FoundRow> decode = find_rows("decode", device, matches);
        LatentDecodeKernel& d = engines.decode[cache];
        d.basis = take(*decode, d.block, d.fixed_us, d.sequence_ns, d.head_ns, d.efficiency, d.bandwidth, d.chain_ns,
                       d.few_heads, d.split_us, d.split_keys, d.join, d.overlap);
        d.learnt = learnt_of(*decode, "decode-" + std::string(format), latent_knots);
    }
}

void add_exchange(EngineKernels& engines, const Device& device) {
    static constexpr std::array<std::string_view, 4> ops{"deepep_normal_dispatch", "deepep_normal_combine",
                                                         "deepep_ll_dispatch", "deepep_ll_combine"};
    for (std::size_t which = 0; which < ops.size(); ++which) {
        const std::optional<FoundRow> found =
            find_rows("exchange", device, [&](const EngineRow& row) { return row.words[1] == ops[which]; });
        ExchangeKernel& k = engines.exchange[which];
        k.basis = take(*found, k.fixed_us, k.width_ns, k.expert_ns, k.node_us, k.lane_gb_per_s, k.copy_ns,
                       k.token_copies, k.link, k.adapter, k.join);
        k.learnt = learnt_of(*found, std::string(ops[which]), exchange_knots);
    }
}

}  // namespace

EngineKernels engine_kernels(const Device& device) {
    EngineKernels engines;
    add_experts(engines, device);
    add_latent(engines, device);
    add_exchange(engines, device);
    return engines;
}

}  // namespace tilewright
