// The findings that a gate knows already, as `lint --write-baseline` writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/result.h"

namespace tilewright::read {

struct BaselineRow {
    std::string rule;
    std::string file;
    std::string key;
};

Result<std::vector<BaselineRow>> read_baseline(std::string_view bytes, const std::string& where);

}  // namespace tilewright::read
