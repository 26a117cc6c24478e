// SARIF as in "Static Analysis Results Interchange Format (SARIF) Version 2.1.0" (OASIS 2020), sections 3.13 to 3.30;
// GitHub's annotations as in its "Workflow commands"; JUnit as the Jenkins schema has it.
#include "render/gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "render/answers.h"
#include "render/json.h"
#include "render/units.h"
#include "render/words.h"

namespace tilewright::render {
namespace {

/// "vocab 50257 is odd; costs 1.2% of the step on h200; fix: vocab 50304"
std::string message(const GateFinding& found, const GateFile& file) {
    const Finding& finding = found.finding;
    std::string text = finding.quantity;
    if (finding.severity != Severity::Error && !finding.later) {
        text += fmt::format("; costs {} of the step on {}", percent_text(finding.share), file.lint.device.name);
    }
    if (!finding.fixes.empty()) {
        text += fmt::format("; fix: {} {}", finding.fixes.front().dimension, finding.fixes.front().to);
    }
    return to_ascii(text);
}

std::string_view sarif_level(Severity severity) {
    if (severity == Severity::Error) return "error";
    return severity == Severity::Warning ? "warning" : "note";
}

/// A path as a URI reference: what RFC 3986 does not allow in a path is written as %XX.
std::string uri_of(std::string_view path) {
    std::string uri;
    for (const char c : path) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           std::string_view("-._~/").find(c) != std::string_view::npos;
        if (plain) {
            uri += c;
        } else {
            uri += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        }
    }
    return uri;
}

void write_location(JsonWriter& json, const GateFinding& found, const GateFile& file) {
    json.key("locations").array().object();
    if (file.source.is_file) {
        json.key("physicalLocation").object();
        json.key("artifactLocation").object().field("uri", uri_of(file.source.name)).end();
        if (found.line > 0) json.key("region").object().field("startLine", found.line).end();
        json.end();
    }
    json.key("logicalLocations").array().object();
    json.field("name", found.identity.key.empty() ? file.source.name : found.identity.key);
    json.field("fullyQualifiedName", file.source.name + "#" + found.identity.key);
    json.end().end();
    json.end().end();
}

void write_result(JsonWriter& json, const GateFinding& found, const GateFile& file) {
    const Finding& finding = found.finding;
    const auto all = rules();
    const auto rule = std::find_if(all.begin(), all.end(), [&](const Rule& r) { return r.code == finding.code; });
    json.object().field("ruleId", finding.code).field("ruleIndex", rule - all.begin());
    json.field("level", sarif_level(finding.severity));
    json.key("message").object().field("text", message(found, file) + ".").end();
    write_location(json, found, file);
    const FindingIdentity& identity = found.identity;
    json.key("partialFingerprints").object();
    json.field("tilewright/v1", identity.rule + "|" + identity.file + "|" + identity.key).end();
    json.field("baselineState", found.known ? "unchanged" : "new");
    json.key("properties").object().field("cost_s", finding.cost.value).field("share", finding.share).end();
    json.end();
}

void write_rules(JsonWriter& json) {
    json.key("rules").array();
    for (const Rule& rule : rules()) {
        json.object().field("id", rule.code).field("name", rule.name);
        const std::string summary = to_ascii(std::string(rule.summary)) + ".";
        json.key("shortDescription").object().field("text", summary).end();
        json.key("help").object();
        json.field("text", fmt::format("`tilewright lint --explain {}` prints the page of this rule.", rule.code))
            .end();
        json.end();
    }
    json.end();
}

/// What GitHub reads: % and line ends as %XX, and within a property also : and ,.
std::string github_escaped(std::string_view text, std::string_view special) {
    std::string out;
    for (const char c : text) {
        if (special.find(c) == std::string_view::npos) {
            out += c;
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        }
    }
    return out;
}

std::string xml_escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '&') out += "&amp;";
        if (c == '<') out += "&lt;";
        if (c == '>') out += "&gt;";
        if (c == '"') out += "&quot;";
        const bool control = static_cast<unsigned char>(c) < 0x20;
        if (std::string_view("&<>\"").find(c) == std::string_view::npos) out += control ? ' ' : c;
    }
    return out;
}

}  // namespace

std::string gate_text(const Gate& gate, const Style& style) {
    std::string out;
    for (const GateFile& file : gate.files) {
        Lint shown = file.lint;
        std::size_t at = 0;
        std::erase_if(shown.findings, [&](const Finding&) { return file.findings[at++].known; });
        const std::size_t known = file.findings.size() - shown.findings.size();
        if (!out.empty()) out += "\n";
        if (known > 0 && shown.findings.empty()) {
            out += fmt::format("{} on {}: nothing new, {} in the baseline.\n",
                               paint(shown.shape.name, Tone::Strong, style),
                               paint(shown.device.name, Tone::Strong, style), known);
            continue;
        }
        out += lint_text(shown, style);
        if (known > 0) out += fmt::format("{} more in the baseline.\n", known);
    }
    return out;
}

std::string gate_json(const Gate& gate) {
    JsonWriter json;
    json.object().field("schema", "tilewright.lint-files/1").field("fail_on", name_of(gate.fail_on));
    json.field("fails", gate.fails()).key("files").array();
    for (const GateFile& file : gate.files) {
        json.object().field("file", file.source.name).field("shape", file.lint.shape.name);
        json.field("device", file.lint.device.name).field("evidence", name_of(file.lint.evidence));
        json.key("findings").array();
        for (const GateFinding& found : file.findings) {
            json.object().field("code", found.finding.code).field("rule", found.finding.rule);
            json.field("severity", name_of(found.finding.severity)).field("key", found.identity.key);
            json.field("line", found.line).field("known", found.known).field("message", message(found, file));
            json.field("cost_s", found.finding.cost.value).field("share", found.finding.share).end();
        }
        json.end().end();
    }
    json.end();
    return json.end().take();
}

std::string gate_sarif(const Gate& gate, std::string_view version) {
    JsonWriter json;
    json.object().field("$schema", "https://json.schemastore.org/sarif-2.1.0.json").field("version", "2.1.0");
    json.key("runs").array().object();
    json.key("tool").object().key("driver").object();
    json.field("name", "tilewright").field("semanticVersion", version);
    write_rules(json);
    json.end().end();
    json.field("columnKind", "utf16CodeUnits").key("results").array();
    for (const GateFile& file : gate.files) {
        for (const GateFinding& found : file.findings) write_result(json, found, file);
    }
    json.end().end().end();
    return json.end().take();
}

std::string gate_github(const Gate& gate) {
    std::string out;
    for (const GateFile& file : gate.files) {
        for (const GateFinding& found : file.findings) {
            if (found.known) continue;
            const Severity severity = found.finding.severity;
            const std::string_view word = severity == Severity::Info ? "notice" : name_of(severity);
            std::string place;
            if (file.source.is_file) place += "file=" + github_escaped(file.source.name, "%\r\n:,") + ",";
            if (found.line > 0) place += fmt::format("line={},", found.line);
            out += fmt::format("::{} {}title={} {}::{}\n", word, place, found.finding.code, found.finding.rule,
                               github_escaped(message(found, file), "%\r\n"));
        }
    }
    return out;
}

std::string gate_junit(const Gate& gate) {
    std::string suites;
    std::size_t cases = 0, failures = 0;
    for (const GateFile& file : gate.files) {
        std::string body;
        std::size_t failed = 0;
        const std::string name = xml_escaped(file.source.name);
        for (const GateFinding& found : file.findings) {
            const std::string text = xml_escaped(message(found, file));
            body += fmt::format("    <testcase classname=\"{}\" name=\"{} {} ({})\">\n", name, found.finding.code,
                                found.finding.rule, xml_escaped(found.identity.key));
            if (gate.fails(found)) {
                ++failed;
                const std::string place = found.line > 0 ? fmt::format("{}:{}", name, found.line) : name;
                body += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                                    name_of(found.finding.severity), text, place);
            } else {
                body += fmt::format("      <system-out>{}</system-out>\n", text);
            }
            body += "    </testcase>\n";
        }
        if (body.empty()) body = fmt::format("    <testcase classname=\"{}\" name=\"no findings\"/>\n", name);
        const std::size_t count = std::max<std::size_t>(1, file.findings.size());
        suites += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\">\n{}  </testsuite>\n",
                              name, count, failed, body);
        cases += count;
        failures += failed;
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tilewright lint\" tests=\"{}\" "
        "failures=\"{}\" errors=\"0\">\n{}</testsuites>\n",
        cases, failures, suites);
}

std::string baseline_json(const std::vector<FindingIdentity>& baseline) {
    JsonWriter json;
    json.object().field("schema", "tilewright.baseline/1").key("findings").array();
    for (const FindingIdentity& entry : baseline) {
        json.object().field("rule", entry.rule).field("file", entry.file).field("key", entry.key).end();
    }
    json.end();
    return json.end().take();
}

}  // namespace tilewright::render
