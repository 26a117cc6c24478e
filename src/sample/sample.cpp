// A sample as a line of JSON and back.
#include "tilewright/sample.h"

#include <algorithm>

#include "sample/json_line.h"
#include "sample/names.h"

namespace tilewright {
namespace {

constexpr std::string_view sample_schema = "tilewright.sample/1";
constexpr std::string_view run_schema = "tilewright.run/1";

/// A count as it was written; what no run could have counted becomes 0 or the largest int.
int count_of(const JsonLine& line, std::string_view name) {
    const double value = line.number(name);
    return value > 0.0 ? static_cast<int>(std::min(value, 2147483647.0)) : 0;
}

Sample sample_of(const JsonLine& line) {
    Sample sample;
    sample.op = line.text("op");
    sample.sizes = line.object("sizes");
    sample.device = line.text("device");
    sample.clock = find_named<ClockMode>(line.text("clock")).value_or(ClockMode::Quick);
    sample.status = find_named<SampleStatus>(line.text("status")).value_or(SampleStatus::Failed);
    sample.reason = line.text("reason");
    sample.time = {line.number("time_us"),    line.number("min_us"),     line.number("mad_us"),
                   line.number("iqr_us"),     count_of(line, "repeats"), count_of(line, "discarded"),
                   count_of(line, "launches")};
    sample.clock_mhz = line.number("clock_mhz");
    sample.cycles = line.number("cycles");
    sample.power_w = line.number("power_w");
    sample.energy_j = line.number("energy_j");
    sample.flops = line.number("flops");
    sample.bytes = line.number("bytes");
    sample.facts = line.object("facts");
    sample.tags = line.object("tags");
    sample.run = line.text("run");
    return sample;
}

/// Adds what the line holds; gives what is wrong with it, or nothing.
std::string add_line(std::string_view text, SampleFile& file) {
    const std::optional<JsonLine> line = parse_json_line(text);
    if (!line) return "not a line of JSON as samples are written";
    const std::string schema = line->text("schema");
    if (schema == run_schema) {
        file.runs.push_back({line->text("run"), line->object("facts")});
    } else if (schema != sample_schema) {
        return "schema is '" + schema + "', not " + std::string(sample_schema);
    } else if (!find_named<ClockMode>(line->text("clock")) || !find_named<SampleStatus>(line->text("status"))) {
        return "clock or status is not a known word";
    } else {
        file.samples.push_back(sample_of(*line));
    }
    return "";
}

}  // namespace

std::optional<std::string_view> find_field(const Fields& fields, std::string_view name) {
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.first == name; });
    if (found == fields.end()) return std::nullopt;
    return found->second;
}

std::string key(const Sample& sample) {
    std::string text = sample.op;
    for (const auto& [name, value] : sample.sizes) text += " " + name + "=" + value;
    return text + " clock=" + std::string(name_of(sample.clock)) + " device=" + sample.device;
}

std::string to_line(const Sample& sample) {
    const TimeStatistics& time = sample.time;
    return JsonWriter()
        .text("schema", sample_schema)
        .text("op", sample.op)
        .object("sizes", sample.sizes)
        .text("device", sample.device)
        .text("clock", name_of(sample.clock))
        .text("status", name_of(sample.status))
        .text("reason", sample.reason)
        .number("time_us", time.median_us)
        .number("min_us", time.min_us)
        .number("mad_us", time.mad_us)
        .number("iqr_us", time.iqr_us)
        .number("repeats", time.repeats)
        .number("discarded", time.discarded)
        .number("launches", time.launches)
        .number("clock_mhz", sample.clock_mhz)
        .number("cycles", sample.cycles)
        .number("power_w", sample.power_w)
        .number("energy_j", sample.energy_j)
        .number("flops", sample.flops)
        .number("bytes", sample.bytes)
        .object("facts", sample.facts)
        .object("tags", sample.tags)
        .text("run", sample.run)
        .line();
}

std::string to_line(const Run& run) {
    return JsonWriter().text("schema", run_schema).text("run", run.id).object("facts", run.facts).line();
}

Result<SampleFile> read_samples(std::string_view text, const std::string& where) {
    constexpr std::size_t told = 10;  // of bad lines: a file of another kind has as many as lines
    SampleFile file;
    Problems problems;
    for (int number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.empty()) continue;
        const std::string fault = add_line(line, file);
        if (fault.empty()) continue;
        if (end == std::string_view::npos) {
            file.torn = true;
        } else if (problems.size() < told) {
            problems.push_back({where, number, fault, "remove the line, or measure again into a new file"});
        } else {
            problems.push_back({where, 0, "more lines are bad", "give a file of samples (docs/samples.md)"});
            break;
        }
    }
    if (!problems.empty()) return problems;
    return file;
}

}  // namespace tilewright
