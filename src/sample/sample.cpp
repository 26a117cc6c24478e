// A sample as a line of JSON; reading one back is `read_samples`.
#include "tilewright/sample.h"

#include <charconv>
#include <cmath>

namespace tilewright {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether the text is a number as JSON writes one, so that it needs no quotes.
bool is_json_number(std::string_view text) {
    std::size_t at = 0;
    const auto digits = [&] {
        const std::size_t start = at;
        while (at < text.size() && is_digit(text[at])) ++at;
        return at - start;
    };
    if (at < text.size() && text[at] == '-') ++at;
    const std::size_t first = at;
    const std::size_t whole = digits();
    if (whole == 0 || (whole > 1 && text[first] == '0')) return false;
    if (at < text.size() && text[at] == '.') {
        ++at;
        if (digits() == 0) return false;
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
        if (digits() == 0) return false;
    }
    return at == text.size();
}

std::string in_quotes(std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20) {
            out += "\\u00";
            out += hex[byte >> 4];
            out += hex[byte & 15];
        } else {
            out += c;
        }
    }
    return out + "\"";
}

/// One object member by member; empty texts, zero numbers and empty objects are left out.
class LineWriter {
public:
    LineWriter& text(std::string_view name, std::string_view value) {
        if (!value.empty()) member(name) += in_quotes(value);
        return *this;
    }

    /// The shortest text that reads back as the same number.
    LineWriter& number(std::string_view name, double value) {
        if (value == 0.0 || !std::isfinite(value)) return *this;
        char buffer[32];
        member(name).append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
        return *this;
    }

    LineWriter& object(std::string_view name, const Fields& fields) {
        if (fields.empty()) return *this;
        std::string inside;
        for (const auto& [field, value] : fields) {
            inside += (inside.empty() ? "" : ",") + in_quotes(field) + ':';
            inside += is_json_number(value) ? value : in_quotes(value);
        }
        member(name) += "{" + inside + "}";
        return *this;
    }

    std::string line() const { return "{" + body_ + "}"; }

private:
    std::string& member(std::string_view name) { return body_ += (body_.empty() ? "" : ",") + in_quotes(name) + ':'; }

    std::string body_;
};

}  // namespace

std::string key(const Sample& sample) {
    std::string text = sample.op;
    for (const auto& [name, value] : sample.sizes) text += " " + name + "=" + value;
    return text + " clock=" + std::string(name_of(sample.clock)) + " device=" + sample.device;
}

std::string to_line(const Sample& sample) {
    const TimeStatistics& time = sample.time;
    return LineWriter()
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
    return LineWriter().text("schema", run_schema).text("run", run.id).object("facts", run.facts).line();
}

}  // namespace tilewright
