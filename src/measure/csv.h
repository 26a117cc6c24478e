// Rows of a bulk CSV file: a header row, values without quotes or newlines inside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/result.h"
#include "tilewright/sample.h"

namespace tilewright::measure {

struct CsvRow {
    int line = 0;
    Fields values;
};

Result<std::vector<CsvRow>> read_csv(std::string_view text, const std::string& where);

}  // namespace tilewright::measure
