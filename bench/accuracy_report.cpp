// accuracy_report [FOLDER]: prints the held-out errors of the shipped profiles as Markdown; given a folder (docs) also
// writes them there as accuracy.md, with its plots in accuracy/.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "bench/accuracy_page.h"

namespace {

using namespace tilewright;

/// Profiles that were fitted; errors of devices with samples here are those of today's prices.
bench::Recorded recorded_with(const std::vector<bench::JudgedDevice>& judged) {
    bench::Recorded recorded;
    for (const std::string& name : device_names()) {
        Profile profile = find_profile(*find_device(name));
        if (profile.evidence == Evidence::Fitted) recorded[name] = std::move(profile);
    }
    for (const bench::JudgedDevice& device : judged) recorded[device.device].errors = errors_of(device.points);
    return recorded;
}

bool write(const std::filesystem::path& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    return static_cast<bool>(out << text << std::flush);
}

}  // namespace

int main(int argc, char** argv) {
    const auto judged = bench::judge_committed(TILEWRIGHT_SOURCE_DIR);
    if (!judged) {
        for (const Problem& problem : judged.problems()) {
            std::fprintf(stderr, "%s: %s\n", problem.where.c_str(), problem.what.c_str());
        }
        return 2;
    }
    const bench::Page page = bench::accuracy_page(*judged, recorded_with(*judged));
    std::fputs(page.markdown.c_str(), stdout);
    if (argc < 2) return 0;
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directories(folder / "accuracy");
    bool written = write(folder / "accuracy.md", page.markdown);
    for (const auto& [file, chart] : page.plots) {
        written = written && write(folder / "accuracy" / file, render::svg(chart));
    }
    return written ? 0 : 2;
}
