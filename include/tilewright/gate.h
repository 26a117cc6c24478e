// lint as a gate of CI: findings of several files, each with the key and the line that it is about, and a baseline of
// those that were there before.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "tilewright/answer.h"
#include "tilewright/result.h"

namespace tilewright {

/// What a finding is recognised by: neither its cost nor its line, which change with every edit and every refit.
struct FindingIdentity {
    std::string rule;  ///< the code
    std::string file;
    std::string key;

    friend auto operator<=>(const FindingIdentity&, const FindingIdentity&) = default;
};

struct GateFinding {
    Finding finding;
    FindingIdentity identity;
    int line = 0;        ///< 0 where the file does not state what the finding is about
    bool known = false;  ///< the baseline has it
};

/// A shape as it was named, and where its file states what; no places when it is a name of the catalogue.
struct GateSource {
    std::string name;
    bool is_file = false;
    std::vector<KeyPlace> places;
};

struct GateFile {
    GateSource source;
    Lint lint;
    std::vector<GateFinding> findings;  ///< in the order of `lint`
};

struct Gate {
    std::vector<GateFile> files;
    Severity fail_on = Severity::Error;

    /// Whether a finding that the baseline does not know is as bad as asked.
    bool fails(const GateFinding& finding) const { return !finding.known && finding.finding.severity >= fail_on; }
    bool fails() const;
};

GateFile gate_file(Lint lint, GateSource source, const std::vector<FindingIdentity>& baseline);

/// Every finding, sorted, each once.
std::vector<FindingIdentity> identities(const Gate& gate);

}  // namespace tilewright
