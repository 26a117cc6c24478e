// Executes the pages of docs/rules: the example of each is read and linted on the device its command names (the GPU of
// tests/device, which no refit moves), must give the finding the page shows, and must be rid of it after the change the
// page recommends. With TILEWRIGHT_UPDATE set the findings are written into the pages instead; the diff is the review.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/catalogue.h"
#include "on_disk.h"
#include "tilewright/lint.h"
#include "tilewright/read.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

const fs::path root = TILEWRIGHT_SOURCE_DIR;
const fs::path folder = root / "docs" / "rules";

const std::vector<std::string> sections = {
    "What it does", "Why it is bad", "Example", "Finding", "Use instead", "Where it does not matter", "Source"};

fs::path path_of(const Rule& rule) { return folder / (std::string(rule.name) + ".md"); }

/// Where the first fenced block under a heading lies in the page.
struct Block {
    std::size_t begin = 0;
    std::size_t length = 0;
};

Block block_under(const std::string& page, const std::string& heading) {
    const std::size_t section = page.find("\n## " + heading + "\n");
    const std::size_t fence = page.find("\n```", section);
    const std::size_t begin = page.find('\n', fence + 1) + 1;
    return {begin, page.find("```", begin) - begin};
}

std::string text_of(const std::string& page, Block block) { return page.substr(block.begin, block.length); }

/// What the page is about: the example, and the device its command names.
struct Example {
    Shape shape;
    Workload workload;
    cli::FoundDevice gpu;
};

Example example_of(const std::string& page, const std::string& name) {
    const std::string flag = "--gpu ";
    const std::size_t gpu = page.find(flag) + flag.size();
    setenv("XDG_CONFIG_HOME", (root / "tests" / "device").c_str(), 1);
    auto device = cli::find_gpu(page.substr(gpu, page.find('`', gpu) - gpu));
    const auto file = read_shape(text_of(page, block_under(page, "Example")), name);
    if (!device || !file) {
        ADD_FAILURE() << name << ": " << (file ? device.problems() : file.problems())[0].what;
        return {};
    }
    return {file->shape, file->workload.value_or(Workload{}), std::move(*device)};
}

/// "TW001 warning", then one line per fix.
std::string shown(const Example& example, std::string_view code) {
    const Pricer pricer(example.gpu.device, example.gpu.profile, example.workload.clock);
    std::string text;
    for (const Finding& finding : lint(example.shape, example.workload, pricer)) {
        if (finding.code != code) continue;
        text += std::string(code) + " " + std::string(name_of(finding.severity)) + "\n";
        for (const Fix& fix : finding.fixes) {
            text += fix.dimension + " " + std::to_string(fix.from) + " -> " + std::to_string(fix.to) + "\n";
        }
    }
    return text;
}

/// Lines of the form "dimension = value".
void make_changes(const std::string& lines, Example& example) {
    std::istringstream in(lines);
    std::string dimension, equals;
    for (std::int64_t value = 0; in >> dimension >> equals >> value;) {
        apply({dimension, 0, value, {}, 0}, example.shape, example.workload);
    }
}

TEST(RulePages, EveryRuleHasOneAndEveryPageARule) {
    std::size_t pages = 0;
    for (const auto& entry : fs::directory_iterator(folder)) pages += entry.path().stem() == "README" ? 0 : 1;
    EXPECT_EQ(pages, rules().size());
    const std::string index = slurp(folder / "README.md");
    for (const Rule& rule : rules()) {
        EXPECT_TRUE(fs::exists(path_of(rule))) << rule.name;
        const std::string row = "| " + std::string(rule.code) + " | [" + std::string(rule.name) + "](";
        EXPECT_NE(index.find(row), std::string::npos) << "README.md has no row for " << rule.name;
    }
}

class RulePage : public testing::TestWithParam<Rule> {};

TEST_P(RulePage, HasItsSectionsInOrder) {
    const std::string page = slurp(path_of(GetParam()));
    const std::string title = "# " + std::string(GetParam().name) + " (" + std::string(GetParam().code) + ")\n";
    EXPECT_TRUE(page.starts_with(title));
    std::size_t last = 0;
    for (const std::string& section : sections) {
        const std::size_t found = page.find("\n## " + section + "\n");
        ASSERT_NE(found, std::string::npos) << section;
        EXPECT_GT(found, last) << section;
        last = found;
    }
}

TEST_P(RulePage, ShowsTheFindingItsExampleGives) {
    std::string page = slurp(path_of(GetParam()));
    const std::string found = shown(example_of(page, std::string(GetParam().name)), GetParam().code);
    ASSERT_FALSE(found.empty()) << "the example does not break the rule";
    const Block block = block_under(page, "Finding");
    expect_file(path_of(GetParam()), page.replace(block.begin, block.length, found));
}

TEST_P(RulePage, IsRidOfTheFindingByWhatItRecommends) {
    const std::string page = slurp(path_of(GetParam()));
    Example example = example_of(page, std::string(GetParam().name));
    const Example before = example;
    make_changes(text_of(page, block_under(page, "Use instead")), example);
    EXPECT_FALSE(before.shape == example.shape && before.workload == example.workload) << "nothing was changed";
    EXPECT_EQ(shown(example, GetParam().code), "");
}

INSTANTIATE_TEST_SUITE_P(All, RulePage, testing::ValuesIn(rules().begin(), rules().end()),
                         [](const auto& tested) { return std::string(tested.param.code); });

}  // namespace
}  // namespace tilewright
