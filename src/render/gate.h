// The findings of a gate in the forms that CI systems read.
#pragma once

#include <string>
#include <string_view>

#include "render/style.h"
#include "tilewright/gate.h"

namespace tilewright::render {

/// Each file as `lint` shows it, without what the baseline knows.
std::string gate_text(const Gate& gate, const Style& style);
std::string gate_json(const Gate& gate);

/// SARIF 2.1.0 (OASIS), for code scanning; `version` is that of the program.
std::string gate_sarif(const Gate& gate, std::string_view version);

/// Workflow commands of GitHub Actions, one a line, for findings that the baseline does not know.
std::string gate_github(const Gate& gate);

/// JUnit XML: a suite a file, a case a finding; those that fail the gate have failed.
std::string gate_junit(const Gate& gate);

std::string baseline_json(const std::vector<FindingIdentity>& baseline);

}  // namespace tilewright::render
