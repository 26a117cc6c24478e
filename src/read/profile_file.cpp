// The files of a profile -> a profile: the list of device/profile_fields.h beside the document, every value checked
// against its bounds where it is read.
#include "read/files.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <span>

#include "device/constants.h"
#include "device/residual_fields.h"
#include "quantity/suggest.h"
#include "read/fields.h"
#include "read/tree_line.h"

namespace tilewright::read {
namespace {

constexpr std::size_t most_items = 256;  ///< of a list
constexpr std::size_t most_trees = 4096;
constexpr const char* refit = "fit the profile again";

/// Walks the document beside the list and gathers every fault.
class ProfileReader {
public:
    ProfileReader(const Value& root, Report& report, std::span<const Tree> built_in = {})
        : at_(&root), report_(report), built_in_(built_in) {}

    void number(const Field& field, double& value) {
        const Value* found = find(field.key);
        if (found == nullptr) return;
        const double* real = found->as<double>();
        const std::int64_t* integer = found->as<std::int64_t>();
        const double seen = real != nullptr ? *real : integer != nullptr ? static_cast<double>(*integer) : NAN;
        if (!std::isfinite(seen) || !field.bounds.hold(seen)) return refuse(*found, field);
        value = field.unit.inward(seen);
    }

    template <class Integer>
    void count(const Field& field, Integer& value) {
        const Value* found = find(field.key);
        if (found == nullptr) return;
        const std::int64_t* integer = found->as<std::int64_t>();
        if (integer == nullptr || !field.bounds.hold(static_cast<double>(*integer))) return refuse(*found, field);
        value = static_cast<Integer>(*integer);
    }

    void again(const Field& field, std::int64_t value) {
        const Value* found = find(field.key);
        if (found == nullptr) return;
        const std::int64_t* integer = found->as<std::int64_t>();
        if (integer != nullptr && *integer == value) return;
        refuse(*found, field.key, std::to_string(value) + ", as in the list before");
    }

    void text(const Field& field, std::string& value) {
        const Value* found = find(field.key);
        if (found == nullptr) return;
        const std::string* seen = found->as<std::string>();
        if (seen == nullptr) return refuse(*found, field);
        value = *seen;
    }

    template <class E>
    void word(const Field& field, E& value) {
        std::string seen;
        text(field, seen);
        const std::optional<E> known = find_named<E>(seen);
        if (known) value = *known;
        if (known || seen.empty()) return;
        const WordFault fault = unknown_word(seen, tilewright::read::words<E>());
        report_.add(at_->find(field.key)->line, path(field.key) + ": " + fault.what, fault.fix);
    }

    template <class Body>
    void group(std::string_view key, Body body) {
        const Value* found = find(key);
        if (found == nullptr) return;
        if (found->as<Object>() == nullptr) return refuse(*found, key, "a table");
        within(*found, key, body);
    }

    template <class Body>
    void row(std::string_view key, Body body) {
        const Value* found = find(key);
        if (found != nullptr) line(*found, key, body);
    }

    /// Lists over the same items have the same length.
    template <class Items, class Body>
    void rows(std::string_view key, Items& items, Body body) {
        const Array* found = array(key, most_items);
        if (found == nullptr) return;
        if (items.empty()) items.resize(found->size());
        if (items.size() != found->size()) {
            return refuse(*at_->find(key), key, "a list of " + std::to_string(items.size()) + ", as the one before it");
        }
        for (std::size_t i = 0; i < items.size(); ++i) line((*found)[i], key, [&] { body(items[i]); });
    }

    template <class Items, class Body>
    void list(std::string_view key, Items& items, Body body) {
        const Array* found = array(key, most_items);
        items.clear();
        if (found == nullptr) return;
        for (const Value& value : *found) {
            items.emplace_back();
            within(value, key, [&] { body(items.back()); });
        }
    }

    /// Of what not every profile has.
    bool has(std::string_view key, bool) const { return at_->find(key) != nullptr; }

    void trees(std::string_view key, std::vector<Tree>& trees, std::size_t features) {
        const Array* found = array(key, most_trees);
        trees.clear();
        if (found == nullptr) return;
        if (!built_in_.empty()) return take_built_in(found->size(), trees);
        for (const Value& value : *found) {
            const std::string* text = value.as<std::string>();
            trees.emplace_back();
            if (text == nullptr || !tree_of(*text, trees.back(), features)) {
                return refuse(value, key,
                              "a list of trees, each 15 of feature:threshold, features below " +
                                  std::to_string(features) + ", then 16 leaves");
            }
        }
    }

    /// Refuses what was never asked for, `heading` apart.
    void end(std::initializer_list<std::string_view> heading) {
        asked_.insert(asked_.end(), heading);
        reject_unknown(*at_);
    }

private:
    std::string path(std::string_view key) const {
        return path_.empty() ? std::string(key) : path_ + '.' + std::string(key);
    }

    /// By name in a table, by place in a line of numbers.
    const Value* find(std::string_view key) {
        if (const Array* cells = at_->as<Array>()) {
            const std::size_t place = asked_.size();
            asked_.push_back(key);
            return place < cells->size() ? &(*cells)[place] : nullptr;
        }
        asked_.push_back(key);
        const Value* found = at_->find(key);
        if (found == nullptr) report_.add(at_->line, path(key) + " is missing", refit);
        return found;
    }

    void take_built_in(std::size_t count, std::vector<Tree>& trees) {
        assert(count <= built_in_.size() && "each tree of a built-in residual is built in");
        trees.assign(built_in_.begin(), built_in_.begin() + static_cast<std::ptrdiff_t>(count));
        built_in_ = built_in_.subspan(count);
    }

    const Array* array(std::string_view key, std::size_t most) {
        const Value* found = find(key);
        if (found == nullptr) return nullptr;
        const Array* items = found->as<Array>();
        if (items != nullptr && items->size() <= most) return items;
        refuse(*found, key, "a list of at most " + std::to_string(most));
        return nullptr;
    }

    template <class Body>
    void line(const Value& value, std::string_view key, Body body) {
        const Array* cells = value.as<Array>();
        if (cells == nullptr) return refuse(value, key, "a list of numbers");
        within(value, key, [&] {
            body();
            if (asked_.size() == cells->size()) return;
            std::string names;
            for (const std::string_view name : asked_) names += (names.empty() ? "" : ", ") + std::string(name);
            report_.add(
                value.line,
                path_ + " has " + std::to_string(cells->size()) + " numbers of " + std::to_string(asked_.size()),
                "give " + names);
        });
    }

    template <class Body>
    void within(const Value& value, std::string_view key, Body body) {
        const Value* outer = std::exchange(at_, &value);
        const std::string outer_path = std::exchange(path_, path(key));
        std::vector<std::string_view> outer_asked = std::exchange(asked_, {});
        body();
        reject_unknown(value);
        at_ = outer;
        path_ = outer_path;
        asked_ = std::move(outer_asked);
    }

    void reject_unknown(const Value& table) {
        const Object* members = table.as<Object>();
        if (members == nullptr) return;
        for (const Member& member : *members) {
            if (std::find(asked_.begin(), asked_.end(), member.key) != asked_.end()) continue;
            report_.add(member.value.line, path(member.key) + " is no value of a profile",
                        "docs/profiles.md lists them; check the spelling");
        }
    }

    void refuse(const Value& value, std::string_view key, const std::string& expected) {
        report_.add(value.line, path(key) + " must be " + expected + ", not " + describe(value), refit);
    }
    void refuse(const Value& value, const Field& field) {
        const std::string unit = field.unit.name.empty() ? "" : " (" + std::string(field.unit.name) + ")";
        report_.add(value.line,
                    path(field.key) + unit + " must be " + std::string(field.bounds.words) + ", not " + describe(value),
                    "it is " + std::string(field.meaning) + "; correct it, or " + refit);
    }

    const Value* at_;
    std::string path_;
    std::vector<std::string_view> asked_;
    Report& report_;
    std::span<const Tree> built_in_;  ///< trees of lists still to come; none: lists have them as text
};

/// What no value shows by itself.
void check(const Profile& profile, Report& report) {
    for (std::size_t family = 0; family < gemm_family_count; ++family) {
        if (!profile.kernels(static_cast<GemmFamily>(family)).tiles.empty()) continue;
        report.add(0, std::string(gemm_family_names[family]) + ".tiles is empty, and a product takes one", refit);
    }
    for (const AttentionProfile* attention : {&profile.cudnn, &profile.flash2}) {
        const auto& heads = attention->kernels;
        const auto falls = [](const HeadKernel& a, const HeadKernel& b) { return a.head_dim >= b.head_dim; };
        if (std::adjacent_find(heads.begin(), heads.end(), falls) == heads.end()) continue;
        report.add(0, "head_dim of attention kernels must rise from line to line", refit);
    }
}

/// The document, if it is of this schema and its values are read without fault.
template <class Visit>
Problems read_document(const Result<Value>& root, const std::string& where, std::string_view schema, Visit visit) {
    if (!root) return root.problems();
    Report report{where, {}};
    const Value* found = root->find("schema");
    const std::string* seen = found == nullptr ? nullptr : found->as<std::string>();
    if (seen != nullptr && seen->starts_with(schema.substr(0, schema.find('/') + 1)) && *seen != schema) {
        return {{where, 1, "is of version " + *seen + "; this program reads " + std::string(schema),
                 "fit its samples again with `tilewright fit`, or measure the GPU again with `tilewright profile`"}};
    }
    if (seen == nullptr || *seen != schema) {
        return {{where, 1, "is no file of schema " + std::string(schema), "write it with `tilewright fit`"}};
    }
    visit(report);
    return report.by_line();
}

}  // namespace

Result<ProfileFile> read_profile_file(std::string_view bytes, const std::string& where) {
    const Result<Value> root = read_toml(bytes, where);
    ProfileFile file;
    const Problems problems = read_document(root, where, profile_schema, [&](Report& report) {
        Fields fields(*root, "", report);
        file.device = fields.text("device").value_or("");
        file.residual = fields.text("residual").value_or("");
        file.residual_hash = fields.text("residual_hash").value_or("");
        ProfileReader reader(*root, report);
        visit_profile(file.profile, reader);
        reader.end({"schema", "device", "residual", "residual_hash"});
        if (report.clean()) check(file.profile, report);
        for (std::size_t family = 0; family < gemm_family_count; ++family) {
            file.profile.kernels(static_cast<GemmFamily>(family)).follow_law();
        }
    });
    if (!problems.empty()) return problems;
    assume_intervals(file.profile);
    return file;
}

Problems add_residual(ProfileFile& file, std::string_view bytes, const std::string& where) {
    if (hash_of(bytes) != file.residual_hash) {
        return {{where, 0,
                 "is not the residual of this profile: its hash is " + hash_of(bytes) + ", not " + file.residual_hash,
                 "keep the two files that one fit wrote together"}};
    }
    return read_residual(file.profile, bytes, where, {});
}

Problems read_residual(Profile& profile, std::string_view bytes, const std::string& where,
                       std::span<const Tree> built_in) {
    const Result<Value> root = read_json(bytes, where);
    return read_document(root, where, residual_schema, [&](Report& report) {
        ProfileReader reader(*root, report, built_in);
        visit_residual(profile, reader);
        reader.end({"schema", "device"});
        for (const Correction& correction : profile.gemm_corrections) {
            if (correction.trees.size() % static_cast<std::size_t>(correction.knots) == 0) continue;
            report.add(0, "a correction has not as many trees for each knot", refit);
        }
    });
}

}  // namespace tilewright::read
