// Arrivals are sorted and begin at zero, whatever clock they were recorded by.
#include "read/files.h"

#include <algorithm>

namespace tilewright::read {

Result<std::vector<Request>> read_arrivals(std::string_view bytes, const std::string& where) {
    const Result<CsvTable> table = read_csv(bytes, where);
    if (!table) return table.problems();
    Problems problems = require_columns(*table, {"arrival_s", "isl", "osl"});
    if (!problems.empty()) return problems;
    constexpr std::int64_t most = 1 << 24;
    std::vector<Request> load;
    for (const CsvRow& row : table->rows) {
        CsvCells cells(*table, row);
        Request request;
        request.arrival = {cells.not_negative("arrival_s")};
        request.isl = cells.integer("isl", {1, most});
        request.osl = cells.integer("osl", {1, most});
        request.cached = cells.optional_integer("cached", {0, most}).value_or(0);
        if (cells.clean() && request.cached >= request.isl) cells.refuse("cached", "fewer tokens than the prompt has");
        if (!cells.clean()) problems.insert(problems.end(), cells.problems().begin(), cells.problems().end());
        load.push_back(request);
    }
    if (!problems.empty()) return problems;
    if (load.empty()) return Problem{where, 0, "has no requests", "give one a line after the header"};
    std::stable_sort(load.begin(), load.end(),
                     [](const Request& a, const Request& b) { return a.arrival < b.arrival; });
    const Seconds first = load.front().arrival;
    for (Request& request : load) request.arrival -= first;
    constexpr Seconds years{1e8};
    if (load.back().arrival > years)
        return Problem{where, 0, "its requests come over more than three years", "give arrival_s in seconds"};
    return load;
}

}  // namespace tilewright::read
