// The rows of `predict serving --from FILE.csv`: published figures of serving, each on the GPU it names.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "cli/catalogue.h"
#include "read/csv.h"
#include "tilewright/served.h"

namespace tilewright::cli {

inline constexpr std::string_view serving_added = "predicted,low,high,evidence";

class ServingRows {
public:
    /// The problems of a header that lacks what is needed.
    static Result<ServingRows> of(const read::CsvTable& table, const Arguments& arguments);

    /// Appends the added columns, or says what is wrong with the row.
    Problems price(const read::CsvRow& row, std::string& line);

private:
    ServingRows(const read::CsvTable& table, const Arguments& arguments) : table_(&table), arguments_(&arguments) {}
    Result<ServingCase> case_of(read::CsvCells& cells);

    const read::CsvTable* table_;
    const Arguments* arguments_;
    std::map<std::string, FoundDevice> devices_;
};

}  // namespace tilewright::cli
