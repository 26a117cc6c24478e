// Which key of a file a finding is about, and whether a baseline knows it.
#include "tilewright/gate.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tilewright {
namespace {

/// What each rule is about. Rules of tiles and waves are about whatever their best fix changes.
constexpr std::pair<std::string_view, std::string_view> subjects[] = {
    {"TW001", "vocab"}, {"TW002", "hidden"},   {"TW003", "heads"},       {"TW004", "ffn"},   {"TW005", "head_dim"},
    {"TW006", "seq"},   {"TW007", "head_dim"}, {"TW008", "heads"},       {"TW009", "ffn"},   {"TW010", "ffn"},
    {"TW011", "heads"}, {"TW012", "kv_heads"}, {"TW013", "vocab"},       {"TW014", "heads"}, {"TW015", "layers"},
    {"TW016", "batch"}, {"TW017", "tp"},       {"TW020", "experts.ffn"},
};

std::string subject_of(const Finding& finding) {
    for (const auto& [code, field] : subjects) {
        if (code == finding.code) return std::string(field);
    }
    return finding.fixes.empty() ? "" : finding.fixes.front().dimension;
}

/// The place of a field; a head size that is not stated follows from the number of heads.
KeyPlace place_of(const std::string& field, const std::vector<KeyPlace>& places) {
    const auto find = [&](std::string_view wanted) {
        return std::find_if(places.begin(), places.end(), [&](const KeyPlace& place) { return place.field == wanted; });
    };
    auto found = find(field);
    if (found == places.end() && (field == "head_dim" || field == "kv_heads")) found = find("heads");
    return found == places.end() ? KeyPlace{field, field, 0} : *found;
}

}  // namespace

bool Gate::fails() const {
    return std::any_of(files.begin(), files.end(), [&](const GateFile& file) {
        return std::any_of(file.findings.begin(), file.findings.end(),
                           [&](const GateFinding& finding) { return fails(finding); });
    });
}

GateFile gate_file(Lint lint, GateSource source, const std::vector<FindingIdentity>& baseline) {
    GateFile file{std::move(source), std::move(lint), {}};
    for (const Finding& finding : file.lint.findings) {
        const KeyPlace place = place_of(subject_of(finding), file.source.places);
        const FindingIdentity identity{std::string(finding.code), file.source.name, place.key};
        const bool known = std::find(baseline.begin(), baseline.end(), identity) != baseline.end();
        file.findings.push_back({finding, identity, place.line, known});
    }
    return file;
}

std::vector<FindingIdentity> identities(const Gate& gate) {
    std::vector<FindingIdentity> all;
    for (const GateFile& file : gate.files) {
        for (const GateFinding& finding : file.findings) all.push_back(finding.identity);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

}  // namespace tilewright
