#include "read/foreign.h"

#include "read/hugging_face.h"

namespace tilewright::read {
namespace {

std::string listed(std::string_view lead, const std::vector<std::string>& names) {
    constexpr std::size_t most = 40;
    std::string line(lead);
    for (std::size_t i = 0; i < names.size() && i < most; ++i) line += (i == 0 ? " " : ", ") + names[i];
    if (names.size() > most) line += " and " + std::to_string(names.size() - most) + " more";
    return line;
}

}  // namespace

std::vector<std::string> Tally::lines() const {
    std::vector<std::string> lines;
    if (!taken_.empty()) lines.push_back(listed("taken:", taken_));
    if (!ignored_.empty()) lines.push_back(listed("ignored:", ignored_));
    return lines;
}

ShapeFile ConfigDraft::read(const Tally& tally, Report& report) const {
    Value root;
    root.line = 1;
    root.data = members_;
    ShapeFile file = read_hugging_face(root, Assume::No, report);
    const std::vector<std::string> lines = tally.lines();
    file.assumed.insert(file.assumed.begin(), lines.begin(), lines.end());
    file.places.clear();  // lines of the draft are none of the file
    return file;
}

}  // namespace tilewright::read
