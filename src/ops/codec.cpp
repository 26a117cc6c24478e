// Cells to values and back, by the tables of kinds.cpp.
#include "tilewright/codec.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ops/builder.h"
#include "ops/columns.h"
#include "quantity/suggest.h"

namespace tilewright {
namespace {

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
    Number value{};
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::vector<std::string> texts(std::span<const std::string_view> words) { return {words.begin(), words.end()}; }

std::string expected(const Column& column) {
    switch (column.type) {
        case ColumnType::Amount: return "a positive number";
        case ColumnType::Flag: return "0 or 1";
        case ColumnType::Word: return "one of " + join_or(texts(column.words));
        case ColumnType::Count: break;
    }
    return "an integer from " + std::to_string(column.least) + " to " + std::to_string(column.most);
}

std::string shown(const Column& column, double value) {
    if (column.type == ColumnType::Word) return std::string(column.words[static_cast<std::size_t>(value)]);
    if (column.type != ColumnType::Amount) return std::to_string(static_cast<std::int64_t>(value));
    char buffer[32];
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

struct Lower {
    OpGraph operator()(const Gemm& gemm) const { return of("product", gemm); }
    OpGraph operator()(const Attention& attention) const { return of("attention", attention); }
    OpGraph operator()(const Collective& collective) const { return of("collective", collective); }
    OpGraph operator()(const ExpertMlp& mlp) const { return of("experts", mlp); }
    OpGraph operator()(const LatentCall& call) const {
        return call.whole ? lowering::latent_ops(call) : of("latent attention", call.core);
    }
    OpGraph operator()(const Exchange& exchange) const { return of("exchange", exchange); }
    OpGraph operator()(const Probe&) const { return {}; }
    OpGraph operator()(const Stack& stack) const {
        return stack.whole ? lower(stack.shape, stack.workload) : lower_layer(stack.shape, stack.workload);
    }
    OpGraph operator()(const StreamCall& call) const {
        const std::optional<Stream> stream = stream_of(call);
        return stream && stream->read.value > 0.0 ? of("stream", *stream) : OpGraph{};
    }

    template <class Work>
    static OpGraph of(std::string_view name, const Work& work) {
        OpGraph graph;
        Op& op = graph.ops.emplace_back();
        op.name = name;
        op.work = work;
        return graph;
    }
};

}  // namespace

std::optional<std::string_view> find_field(const Fields& fields, std::string_view name) {
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.first == name; });
    if (found == fields.end()) return std::nullopt;
    return found->second;
}

const Column* OpKind::find(std::string_view column) const {
    const auto found =
        std::find_if(columns.begin(), columns.end(), [&](const Column& each) { return each.name == column; });
    return found == columns.end() ? nullptr : &*found;
}

std::string_view Reading::cell(std::string_view column) const {
    return cells_[static_cast<std::size_t>(kind_.find(column) - kind_.columns.data())];
}

void Reading::refuse(std::string_view column, const std::string& wanted) {
    const std::string_view seen = cell(column);
    report("column " + std::string(column) + " is " + (seen.empty() ? "empty" : quoted(seen)), "it must be " + wanted);
}

void Reading::adopt(const Problems& found) {
    for (const Problem& problem : found) report(problem.what, problem.fix);
}

void Reading::report(std::string what, std::string fix) {
    problems_.push_back({std::string(place_.where), place_.line, std::move(what), std::move(fix)});
}

std::optional<double> parse_cell(const Column& column, std::string_view text) {
    if (column.type == ColumnType::Word) {
        const auto found = std::find(column.words.begin(), column.words.end(), text);
        if (found == column.words.end()) return std::nullopt;
        return static_cast<double>(found - column.words.begin());
    }
    if (column.type == ColumnType::Flag) {
        if (text == "0" || text == "false") return 0.0;
        return text == "1" || text == "true" ? std::optional(1.0) : std::nullopt;
    }
    if (column.type == ColumnType::Amount) {
        const std::optional<double> value = parse_number<double>(text);
        return value && std::isfinite(*value) && *value > 0.0 ? value : std::nullopt;
    }
    const std::optional<std::int64_t> value = parse_number<std::int64_t>(text);
    if (!value || *value < column.least || *value > column.most) return std::nullopt;
    return static_cast<double>(*value);
}

Problem refusal(const Column& column, std::string_view text, Place place) {
    const std::string name = "column " + std::string(column.name);
    if (column.type == ColumnType::Word && !text.empty()) {
        const WordFault fault = unknown_word(text, texts(column.words));
        return {std::string(place.where), place.line, name + ": " + fault.what, fault.fix};
    }
    return {std::string(place.where), place.line, name + " is " + (text.empty() ? "empty" : quoted(text)),
            "it must be " + expected(column)};
}

Cells cells_of(const OpKind& kind, const Fields& fields) {
    Cells cells;
    for (const Column& column : kind.columns) {
        const std::optional<std::string_view> named = find_field(fields, column.name);
        cells.push_back(named ? *named : find_field(fields, column.alias).value_or(""));
    }
    return cells;
}

Result<Described> decode(const OpKind& kind, const Cells& cells, Place place, const Workload& defaults) {
    Reading reading(kind, cells, place);
    Described described = kind.start(defaults);
    for (std::size_t i = 0; i < kind.columns.size(); ++i) {
        const Column& column = kind.columns[i];
        if (cells[i].empty() && !column.required()) continue;
        if (const std::optional<double> value = parse_cell(column, cells[i])) {
            column.set(described, *value);
        } else if (!column.lenient || cells[i].empty()) {
            reading.add(refusal(column, cells[i], place));
        }
    }
    if (reading.clean() && kind.finish != nullptr) kind.finish(described, reading);
    if (!reading.clean()) return reading.problems();
    return described;
}

Result<Described> decode(const OpKind& kind, const Fields& fields, Place place, const Workload& defaults) {
    return decode(kind, cells_of(kind, fields), place, defaults);
}

Fields encode(const OpKind& kind, const Described& described) {
    Fields fields;
    for (const Column& column : kind.columns) fields.emplace_back(column.name, shown(column, column.get(described)));
    return fields;
}

OpGraph lower(const Described& described) { return std::visit(Lower{}, described.work); }

}  // namespace tilewright
