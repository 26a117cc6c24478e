// A profile's file -> a profile: the list of device/profile_fields.h, every number finite, then what prices divide by.
#include "read/profile_file.h"

#include <charconv>
#include <cmath>

#include "device/profile_fields.h"
#include "read/fields.h"

namespace tilewright::read {
namespace {

constexpr std::size_t most_items = 256;  ///< of a list
constexpr std::size_t most_trees = 4096;

/// Walks the file beside the list; the first fault of a table ends that table.
class ProfileReader {
public:
    ProfileReader(const Value& root, Report& report) : at_(&root), report_(report) {}

    void number(std::string_view name, double& value) {
        const Value* found = find(name);
        if (found == nullptr) return;
        const double* real = found->as<double>();
        const std::int64_t* whole = found->as<std::int64_t>();
        if (real != nullptr) value = *real;
        if (whole != nullptr) value = static_cast<double>(*whole);
        if ((real == nullptr && whole == nullptr) || !std::isfinite(value)) refuse(*found, name, "a number");
    }

    template <class Integer>
    void count(std::string_view name, Integer& value) {
        const Value* found = find(name);
        if (found == nullptr) return;
        const std::int64_t* whole = found->as<std::int64_t>();
        if (whole == nullptr || *whole < 1 || *whole > 65536) return refuse(*found, name, "a whole number from 1");
        value = static_cast<Integer>(*whole);
    }

    void text(std::string_view name, std::string& value) {
        const Value* found = find(name);
        if (found == nullptr) return;
        const std::string* words = found->as<std::string>();
        if (words == nullptr) return refuse(*found, name, "text");
        value = *words;
    }

    template <class Body>
    void group(std::string_view name, Body body) {
        const Value* found = find(name);
        if (found == nullptr) return;
        if (found->as<Object>() == nullptr) return refuse(*found, name, "a table");
        within(*found, body);
    }

    template <class Items, class Body>
    void list(std::string_view name, Items& items, Body body) {
        const Array* found = array(name, most_items);
        items.clear();
        if (found == nullptr) return;
        for (const Value& value : *found) {
            items.emplace_back();
            within(value, [&] { body(items.back()); });
        }
    }

    void trees(std::string_view name, std::vector<Tree>& trees) {
        const Array* found = array(name, most_trees);
        trees.clear();
        if (found == nullptr) return;
        for (const Value& value : *found) {
            const std::string* line = value.as<std::string>();
            trees.emplace_back();
            if (line == nullptr || !tree(*line, trees.back())) return refuse(value, name, "trees as lines of numbers");
        }
    }

private:
    /// "feature:threshold" fifteen times, then sixteen leaves, with spaces between.
    static bool tree(std::string_view line, Tree& out) {
        const char* at = line.data();
        const char* end = at + line.size();
        const auto take = [&](auto& value) {
            while (at < end && (*at == ' ' || *at == ':')) ++at;
            const auto result = std::from_chars(at, end, value);
            at = result.ptr;
            return result.ec == std::errc{};
        };
        for (std::size_t i = 0; i < out.feature.size(); ++i) {
            if (!take(out.feature[i]) || out.feature[i] >= gemm_feature_count) return false;
            if (!take(out.threshold[i]) || !(out.threshold[i] >= 0.0F)) return false;
        }
        for (float& leaf : out.leaf) {
            if (!take(leaf) || !std::isfinite(leaf)) return false;
        }
        return at == end;
    }

    const Value* find(std::string_view name) {
        const Value* found = at_->find(name);
        if (found == nullptr) report_.add(at_->line, std::string(name) + " is missing", "fit the profile again");
        return found;
    }

    const Array* array(std::string_view name, std::size_t most) {
        const Value* found = find(name);
        if (found == nullptr) return nullptr;
        const Array* items = found->as<Array>();
        if (items != nullptr && items->size() <= most) return items;
        refuse(*found, name, "a list of at most " + std::to_string(most));
        return nullptr;
    }

    template <class Body>
    void within(const Value& value, Body body) {
        const Value* outer = at_;
        at_ = &value;
        body();
        at_ = outer;
    }

    void refuse(const Value& value, std::string_view name, const std::string& expected) {
        report_.add(value.line, std::string(name) + " must be " + expected + ", not " + describe(value));
    }

    const Value* at_;
    Report& report_;
};

bool positive(double value) { return std::isfinite(value) && value > 0.0; }

void check_gemm(const GemmProfile& gemm, const std::string& name, Report& report) {
    bool fine = !gemm.tiles.empty() && positive(gemm.l2_bandwidth.value) && positive(gemm.split_bandwidth.value) &&
                positive(gemm.bandwidth) && gemm.bandwidth <= 1.0;
    for (const Tile& tile : gemm.tiles) {
        fine = fine && positive(tile.efficiency) && tile.overhead.value >= 0.0 && tile.step.value >= 0.0;
    }
    for (std::size_t i = 0; i < gemm.output.size(); ++i) fine = fine && positive(gemm.output[i] * gemm.reduced[i]);
    for (const OperandLoads* loads : {&gemm.output_loads, &gemm.reduced_loads}) {
        fine = fine && loads->stray >= 0.0;
        for (double load : loads->rows) fine = fine && load >= 0.0;
    }
    for (double fraction : gemm.layout) fine = fine && positive(fraction) && fraction <= 1.0;
    for (double time : {gemm.launch.value, gemm.fill.value, gemm.split_overhead.value, gemm.shared_overhead,
                        gemm.exposed_store, gemm.exposed_load}) {
        fine = fine && time >= 0.0;
    }
    if (!fine) report.add(0, name + " has no tiles, or a constant that is not positive", "fit the profile again");
}

bool divides(const HeadKernel& kernel) {
    return positive(kernel.forward.fraction) && positive(kernel.backward.fraction) && positive(kernel.decode.memory);
}

void check(const Profile& profile, Report& report) {
    bool fine = positive(profile.bandwidth_fraction) && profile.collective.own_part >= 0.0 &&
                profile.bandwidth_ramp.value >= 0.0 && profile.kernel_gap.value >= 0.0 &&
                profile.power.clocked >= 0.0 && profile.power.clocked <= 1.0;
    for (const Correction& correction : profile.gemm_corrections) {
        fine = fine && positive(correction.first_s);
        if (correction.trees.size() % static_cast<std::size_t>(correction.knots) == 0) continue;
        report.add(0, "a correction has not as many trees for each knot", "fit the profile again");
    }
    for (const SharedCorrection& learnt : profile.stream.learnt) {
        for (const Tree& tree : learnt.trees) {
            const std::uint8_t last = *std::max_element(tree.feature.begin(), tree.feature.end());
            fine = fine && last < stream_feature_count;
        }
    }
    for (const auto& kernels : {profile.stream.fused, profile.stream.eager, profile.stream.compiled}) {
        for (const StreamKernel& kernel : kernels) {
            fine = fine && positive(kernel.fraction) && positive(kernel.ragged) && kernel.again >= 1.0;
        }
    }
    for (double fraction : profile.compute_fraction) fine = fine && positive(fraction);
    for (const AttentionProfile* attention : {&profile.cudnn, &profile.flash2}) {
        for (const HeadKernel& kernel : attention->kernels) fine = fine && divides(kernel);
        fine = fine && positive(attention->passes) && positive(attention->brief.memory);
    }
    for_each_protocol(profile.collective, [&](std::string_view, const Protocol& protocol) {
        fine = fine && protocol.launch.value >= 0.0 && protocol.step.value >= 0.0 && protocol.fraction >= 0.0;
    });
    fine = fine && positive(profile.collective.ring_bulk.fraction) && positive(profile.collective.peer_bulk.fraction);
    if (!fine) report.add(0, "a constant that prices divide by is not positive", "fit the profile again");
    for (std::size_t family = 0; family < gemm_family_count; ++family) {
        check_gemm(profile.kernels(static_cast<GemmFamily>(family)), std::string(gemm_family_names[family]), report);
    }
}

}  // namespace

Result<ProfileFile> read_profile_file(std::string_view bytes, const std::string& where) {
    const Result<Value> root = read_json(bytes, where);
    if (!root) return root.problems();
    Report report{where, {}};
    const Value* schema = root->find("schema");
    if (schema == nullptr || schema->as<std::string>() == nullptr || *schema->as<std::string>() != profile_schema) {
        report.add(1, "is no profile of schema " + std::string(profile_schema), "write it with `tilewright fit`");
        return report.problems;
    }
    Fields fields(*root, "", report);
    ProfileFile file;
    file.device = fields.text("device").value_or("");
    for (const auto& [name, evidence] : {std::pair{"evidence", &file.profile.evidence},
                                         {"attention_evidence", &file.profile.attention_evidence},
                                         {"stream_evidence", &file.profile.stream_evidence},
                                         {"collective_evidence", &file.profile.collective_evidence}}) {
        *evidence = fields.word<Evidence>(name).value_or(Evidence::Assumed);
    }
    ProfileReader reader(*root, report);
    visit_profile(file.profile, reader);
    if (report.clean()) check(file.profile, report);
    if (!report.clean()) return report.by_line();
    return file;
}

}  // namespace tilewright::read
