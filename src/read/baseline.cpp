#include "read/files.h"

#include "read/fields.h"

namespace tilewright::read {

Result<std::vector<BaselineRow>> read_baseline(std::string_view bytes, const std::string& where) {
    constexpr const char* write_it_again = "write it again: tilewright lint … --baseline FILE --write-baseline";
    const Result<Value> root = read_json(bytes, where);
    if (!root) return root.problems();
    Report report{where, {}};
    Fields top(*root, "", report);
    std::vector<BaselineRow> rows;
    if (top.text("schema") != "tilewright.baseline/1") {
        report.add(1, "its schema is not tilewright.baseline/1", write_it_again);
    }
    const Value* list = top.ask("findings");
    if (list == nullptr || list->as<Array>() == nullptr) {
        report.add(1, "it has no list of findings", write_it_again);
        return report.by_line();
    }
    for (const Value& row : *list->as<Array>()) {
        Fields fields(row, "findings", report);
        for (const char* key : {"rule", "file", "key"}) fields.require(key, "a string");
        rows.push_back(
            {fields.text("rule").value_or(""), fields.text("file").value_or(""), fields.text("key").value_or("")});
        fields.reject_unknown();
    }
    if (!report.clean()) return report.by_line();
    return rows;
}

}  // namespace tilewright::read
