// One accessor per kind of value; each reports its own fault in the same words: what was seen, what it must be.
#include "read/fields.h"

#include <algorithm>
#include <cmath>

#include "quantity/suggest.h"

namespace tilewright::read {

void Report::add(int line, std::string what, std::string fix) {
    problems.push_back({where, line, std::move(what), std::move(fix)});
}

Problems Report::by_line() const {
    Problems sorted = problems;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) { return a.line < b.line; });
    return sorted;
}

std::string expected_integer(Range range) {
    return "an integer from " + std::to_string(range.low) + " to " + std::to_string(range.high);
}

Fields::Fields(const Value& table, std::string name, Report& report)
    : table_(table), name_(std::move(name)), report_(report) {}

const Value* Fields::ask(std::string_view key) {
    asked_.emplace_back(key);
    return table_.find(key);
}

std::optional<std::int64_t> Fields::integer(std::string_view key, Range range) {
    const Value* value = ask(key);
    if (value == nullptr) return std::nullopt;
    const auto* integer = value->as<std::int64_t>();
    if (integer != nullptr && *integer >= range.low && *integer <= range.high) return *integer;
    refuse(key, expected_integer(range));
    return std::nullopt;
}

std::optional<double> Fields::positive(std::string_view key) {
    const Value* value = ask(key);
    if (value == nullptr) return std::nullopt;
    double number = 0.0;
    if (const auto* integer = value->as<std::int64_t>()) number = static_cast<double>(*integer);
    if (const auto* real = value->as<double>()) number = *real;
    if (std::isfinite(number) && number > 0.0) return number;
    refuse(key, "a number above 0");
    return std::nullopt;
}

std::optional<bool> Fields::flag(std::string_view key) {
    const Value* value = ask(key);
    if (value == nullptr) return std::nullopt;
    if (const auto* flag = value->as<bool>()) return *flag;
    refuse(key, "true or false");
    return std::nullopt;
}

std::optional<std::string> Fields::text(std::string_view key) {
    const Value* value = ask(key);
    if (value == nullptr) return std::nullopt;
    if (const auto* text = value->as<std::string>()) return *text;
    refuse(key, "a string in quotes");
    return std::nullopt;
}

std::vector<std::string> Fields::texts(std::string_view key) {
    const Value* value = ask(key);
    if (value == nullptr) return {};
    std::vector<std::string> out;
    const auto* list = value->as<Array>();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        if (const auto* text = (*list)[i].as<std::string>()) out.push_back(*text);
    }
    if (list == nullptr || out.size() < list->size()) refuse(key, "a list of strings");
    return out;
}

const Value* Fields::table(std::string_view key) {
    const Value* value = ask(key);
    if (value == nullptr || value->as<Object>() != nullptr) return value;
    refuse(key, "a table");
    return nullptr;
}

void Fields::require(std::string_view key, const std::string& expected) {
    if (has(key)) return;
    report_.add(table_.line, "the key " + quoted(key) + " is missing" + (name_.empty() ? "" : " in " + name_),
                "add it: " + expected);
}

std::int64_t Fields::required_integer(std::string_view key, Range range) {
    require(key, expected_integer(range));
    return integer(key, range).value_or(0);
}

double Fields::required_positive(std::string_view key) {
    require(key, "a number above 0");
    return positive(key).value_or(0.0);
}

int Fields::line_of(std::string_view key) const {
    const Value* value = table_.find(key);
    return value == nullptr ? 0 : value->line;
}

std::vector<const Member*> Fields::unasked() const {
    std::vector<const Member*> found;
    const auto* members = table_.as<Object>();
    for (std::size_t i = 0; members != nullptr && i < members->size(); ++i) {
        const Member& member = (*members)[i];
        if (std::find(asked_.begin(), asked_.end(), member.key) == asked_.end()) found.push_back(&member);
    }
    return found;
}

std::string_view Fields::meant(std::string_view key) const {
    constexpr std::size_t shortest = 8;  // shorter names are close by accident
    for (const std::string& asked : asked_) {
        const bool alike = key.size() >= shortest && key.size() + 1 >= asked.size() && asked.size() + 1 >= key.size();
        if (alike && edit_distance(key, asked, 1) == 1 && table_.find(asked) == nullptr) return asked;
    }
    return {};
}

void Fields::reject_unknown() {
    for (const Member* member : unasked()) {
        const std::string near = did_you_mean(member->key, asked_);
        report_.add(member->value.line,
                    "the key " + quoted(member->key) + " is not known" + (name_.empty() ? "" : " in " + name_),
                    near.empty() ? "remove it; the keys are " + join_or(asked_) : near);
    }
}

void Fields::refuse(std::string_view key, const std::string& expected) {
    const Value* value = table_.find(key);
    report_.add(value->line, std::string(key) + " is " + describe(*value), "it must be " + expected);
}

void Fields::refuse_word(std::string_view key, std::string_view seen, const std::vector<std::string>& known) {
    const WordFault fault = unknown_word(seen, known);
    report_.add(line_of(key), std::string(key) + ": " + fault.what, fault.fix);
}

}  // namespace tilewright::read
