// The keys of an experiment. Lists take numbers and words alike, and a sweep may be written "64..512:2" (steps) or
// "32..8192*2" (factors).
#include "read/files.h"

#include <algorithm>
#include <charconv>

#include "quantity/suggest.h"
#include "read/document.h"
#include "read/embedded.h"
#include "read/fields.h"

namespace tilewright::read {
namespace {

/// A number or a word as text; empty for anything else.
std::optional<std::string> label_of(const Value& value) {
    if (const auto* text = value.as<std::string>()) return *text;
    if (const auto* integer = value.as<std::int64_t>()) return std::to_string(*integer);
    return std::nullopt;
}

std::optional<std::int64_t> take_number(std::string_view& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

/// "from..to", then ":step" or "*factor"; empty when it is something else.
std::vector<std::string> values_of_range(std::string_view text) {
    const auto from = take_number(text);
    if (!from || !text.starts_with("..")) return {};
    text.remove_prefix(2);
    const auto to = take_number(text);
    const char how = text.empty() ? ':' : text.front();
    if (!text.empty()) text.remove_prefix(1);
    const auto by = how == ':' && text.empty() ? std::optional<std::int64_t>(1) : take_number(text);
    const bool sound = to && by && text.empty() && *from >= 1 && *to <= largest_size &&
                       (how == ':' ? *by >= 1 : how == '*' && *by >= 2 && *by <= *to);
    if (!sound) return {};
    std::vector<std::string> values;
    for (std::int64_t value = *from; value <= *to && values.size() < most_points;
         value = how == ':' ? value + *by : value * *by) {
        values.push_back(std::to_string(value));
    }
    return values;
}

class ExperimentReader {
public:
    ExperimentReader(const Value& root, Report& report) : report_(report), fields_(root, "", report) {}

    Experiment read() {
        out_.name = name_from(report_.where);
        read_words();
        read_axes();
        if (const Value* vary = fields_.table("vary")) read_variables(*vary);
        each("case", [&](const Value& one) { out_.cases.push_back(labels_in(one)); });
        each("row", [&](const Value& one) { read_row(one); });
        each("check", [&](const Value& one) { read_check(one); });
        each("published", [&](const Value& one) { read_published(one); });
        if (out_.rows.empty()) report_.add(1, "there is no [[row]]", "add one; docs/formats.md shows it");
        fields_.reject_unknown();
        return std::move(out_);
    }

private:
    void read_words() {
        for (const auto& [key, member] : {std::pair{"title", &Experiment::title},
                                          {"figure", &Experiment::figure},
                                          {"claim", &Experiment::claim},
                                          {"source", &Experiment::source}}) {
            fields_.require(key, "a string in quotes");
            out_.*member = fields_.text(key).value_or("");
        }
        out_.note = fields_.text("note").value_or("");
        out_.order = fields_.integer("order", sizes_or_none).value_or(0);
    }

    void read_axes() {
        fields_.require("x", "an expression in the variables");
        out_.x = fields_.text("x").value_or("");
        out_.series = fields_.text("series").value_or("");
        out_.x_label = fields_.text("x_label").value_or(out_.x);
        out_.series_label = fields_.text("series_label").value_or(out_.series);
        out_.log_x = fields_.flag("log_x").value_or(false);
        out_.means = fields_.flag("means").value_or(false);
        out_.measure = fields_.word<Measure>("measure").value_or(out_.measure);
        out_.flops = fields_.text("flops").value_or("");
        out_.clock = fields_.word<Clock>("clock").value_or(out_.clock);
        out_.precision = fields_.word<Precision>("precision").value_or(out_.precision);
        out_.devices = fields_.texts("devices");
        out_.whole = fields_.texts("whole");
        if (const Value* table = fields_.ask("table")) out_.table = labels(*table, "table");
    }

    /// A list of numbers and words.
    std::vector<std::string> labels(const Value& list, const std::string& key) {
        std::vector<std::string> found;
        const auto* items = list.as<Array>();
        for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
            if (auto label = label_of((*items)[i])) found.push_back(std::move(*label));
        }
        if (items == nullptr || found.size() < items->size()) refuse(list, key, "a list of whole numbers and words");
        return found;
    }

    tilewright::Fields labels_in(const Value& table) {
        tilewright::Fields found;
        for (const Member& member : *table.as<Object>()) {
            if (auto label = label_of(member.value)) {
                found.emplace_back(member.key, std::move(*label));
            } else {
                refuse(member.value, member.key, "a whole number or a string");
            }
        }
        return found;
    }

    void read_variables(const Value& vary) {
        for (const Member& member : *vary.as<Object>()) {
            Variable variable{member.key, {}};
            if (const auto* text = member.value.as<std::string>()) {
                variable.values = values_of_range(*text);
                if (variable.values.empty()) refuse(member.value, member.key, "a range such as \"64..512:2\"");
            } else if (member.value.as<Array>() != nullptr) {
                variable.values = labels(member.value, member.key);
            } else if (auto label = label_of(member.value)) {
                variable.values = {std::move(*label)};
            } else {
                refuse(member.value, member.key, "a whole number, a list, or a range such as \"64..512:2\"");
            }
            out_.variables.push_back(std::move(variable));
        }
    }

    void read_row(const Value& table) {
        Row row{"", labels_in(table)};
        const auto kind = std::find_if(row.columns.begin(), row.columns.end(),
                                       [](const auto& column) { return column.first == "kind"; });
        const std::vector<std::string> known = {"gemm", "attention", "stream", "layer", "model"};
        if (kind != row.columns.end()) {
            row.kind = kind->second;
            row.columns.erase(kind);
        }
        for (auto& column : row.columns) {
            if (column.first == "stream") column.first = "kind";
        }
        if (std::find(known.begin(), known.end(), row.kind) == known.end()) {
            report_.add(table.line, "a [[row]] has no kind that is known", "set kind to " + join_or(known));
        }
        out_.rows.push_back(std::move(row));
    }

    void read_check(const Value& table) {
        Fields fields(table, "[[check]]", report_);
        Check check;
        check.kind = fields.text("kind").value_or("");
        check.device = fields.text("device").value_or("");
        const std::vector<std::string> known = check_names();
        if (std::find(known.begin(), known.end(), check.kind) == known.end()) {
            const WordFault fault = unknown_word(check.kind, known);
            report_.add(table.line, "kind: " + fault.what, fault.fix);
        }
        if (const Value* at = fields.ask("at")) check.at = labels(*at, "at");
        check.least = fields.positive("least").value_or(0.0);
        check.most = fields.positive("most").value_or(0.0);
        if (const Value* full = fields.ask("full")) check.full = label_of(*full).value_or("");
        fields.reject_unknown();
        out_.checks.push_back(std::move(check));
    }

    void read_published(const Value& table) {
        Fields fields(table, "[[published]]", report_);
        const std::string device = fields.text("device").value_or("");
        const std::string apart = fields.text("apart").value_or("");
        const Value* series = fields.ask("series");
        const Value* x = fields.ask("x");
        const Value* y = fields.ask("y");
        fields.reject_unknown();
        const auto* values = y == nullptr ? nullptr : y->as<Array>();
        const std::vector<std::string> places = x == nullptr ? std::vector<std::string>{} : labels(*x, "x");
        if (values == nullptr || values->size() != places.size()) {
            return report_.add(table.line, "[[published]] needs as many y as x", "make the two lists equally long");
        }
        for (std::size_t i = 0; i < places.size(); ++i) {
            const auto* whole = (*values)[i].as<std::int64_t>();
            const auto* real = (*values)[i].as<double>();
            const double value = real != nullptr ? *real : whole != nullptr ? static_cast<double>(*whole) : 0.0;
            if (!(value > 0.0)) return refuse((*values)[i], "y", "a list of numbers above 0");
            const std::string line = series == nullptr ? "" : label_of(*series).value_or("");
            out_.published.push_back({device, places[i], line, value, apart});
        }
    }

    /// Calls `read_one` with every table of a list of tables.
    template <class ReadOne>
    void each(const char* key, ReadOne read_one) {
        const Value* list = fields_.ask(key);
        if (list == nullptr) return;
        const auto* items = list->as<Array>();
        if (items == nullptr) return refuse(*list, key, "a list of tables");
        for (const Value& item : *items) {
            if (item.as<Object>() == nullptr) return refuse(item, key, "a list of tables");
            read_one(item);
        }
    }

    void refuse(const Value& value, const std::string& key, const std::string& expected) {
        report_.add(value.line, key + " is " + describe(value), "it must be " + expected);
    }

    Report& report_;
    Fields fields_;
    Experiment out_;
};

}  // namespace

Result<Experiment> read_experiment(std::string_view bytes, const std::string& where) {
    const Result<Value> root = read_toml(bytes, where);
    if (!root) return root.problems();
    Report report{where, {}};
    Experiment experiment = ExperimentReader(*root, report).read();
    if (!report.clean()) return report.by_line();
    return experiment;
}

std::vector<Experiment> all_experiments() {
    std::vector<Experiment> all;
    for (const embedded::File& file : embedded::experiments()) {
        Result<Experiment> experiment = read_experiment(file.text, std::string(file.name) + ".toml");
        if (experiment) all.push_back(std::move(*experiment));
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.order < b.order; });
    return all;
}

Result<Experiment> find_experiment(std::string_view name) {
    std::vector<std::string> known;
    for (const embedded::File& file : embedded::experiments()) {
        if (file.name == name) return read_experiment(file.text, std::string(name) + ".toml");
        known.emplace_back(file.name);
    }
    const std::string near = did_you_mean(name, known);
    return Problem{std::string(name), 0, "there is no experiment of that name",
                   (near.empty() ? "" : near + " ") + "`tilewright reproduce` lists them all"};
}

}  // namespace tilewright::read
