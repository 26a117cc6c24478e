#include "cli/write_configs.h"

#include <algorithm>
#include <filesystem>

#include "files/output.h"
#include "render/config_json.h"
#include "tilewright/names.h"
#include "tilewright/read.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

/// What differs between two shapes, besides their names.
std::vector<std::string> lost(const Shape& shape, const Shape& back) {
    std::vector<std::string> found;
    for (const auto& [name, field] : dimensions()) {
        if (shape.*field != back.*field) found.push_back(std::string(name) + " " + std::to_string(shape.*field));
    }
    const auto differs = [&](bool different, std::string_view what) {
        if (different) found.emplace_back(what);
    };
    differs(shape.mlp != back.mlp, shape.mlp == MlpKind::Gated ? "a gated MLP" : "a plain MLP");
    differs(shape.block != back.block, std::string(name_of(shape.block)) + " blocks");
    differs(shape.positions != back.positions, std::string(name_of(shape.positions)) + " positions");
    differs(shape.tied != back.tied, "the head's weights");
    differs(shape.bias != back.bias, "its biases");
    differs(shape.norms != back.norms, "its norms");
    differs(shape.windowed_every != back.windowed_every, "which layers have the window");
    differs(shape.experts != back.experts, "its experts");
    differs(shape.latent != back.latent, "latent attention");
    return found;
}

Problems write_config(const fs::path& folder, const std::string& text) {
    std::error_code error;
    fs::create_directories(folder, error);
    return files::write_file((folder / "config.json").string(), text);
}

/// Removes what an earlier run with more to say wrote; whether it was there.
bool remove_config(const fs::path& folder) {
    std::error_code ignored;
    const bool there = fs::remove(folder / "config.json", ignored);
    fs::remove(folder, ignored);  // unless something else is in it
    return there;
}

}  // namespace

Config config_of(const Shape& shape) {
    Config best;
    for (const render::ConfigFamily& family : render::config_families()) {
        std::string text = render::config_json(shape, family);
        const Result<ShapeFile> back = read_shape(text, "config.json");
        if (!back) continue;
        std::vector<std::string> missing = lost(shape, back->shape);
        const bool namesake = missing.size() == best.lost.size() && shape.name.starts_with(family.model_type);
        if (best.text.empty() || missing.size() < best.lost.size() || namesake) {
            best = {std::move(text), std::move(missing)};
        }
    }
    return best;
}

Problems ConfigFolder::open(const std::string& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) return {{"--write", 0, path + " cannot be made: " + error.message(), "give a folder that can"}};
    path_ = path;
    return {};
}

Problems ConfigFolder::write(const SearchAnswer& answer, const Session& session) const {
    if (path_.empty()) return {};
    Problems problems;
    const auto write = [&](const std::string& name, const Shape& shape) {
        const Config config = config_of(shape);
        for (const std::string& what : config.lost) {
            warn(session, name + ": no config.json of transformers says this with the rest: " + what);
        }
        const Problems found = write_config(fs::path(path_) / name, config.text);
        problems.insert(problems.end(), found.begin(), found.end());
    };
    write("baseline", answer.baseline.shape);
    for (const auto& [kind, list] : kinds(answer.found)) {
        std::string stem(kind);
        std::replace(stem.begin(), stem.end(), ' ', '-');
        const auto name = [&](std::size_t i) { return stem + "-" + std::to_string(i + 1); };
        for (std::size_t i = 0; i < list.size(); ++i) write(name(i), list[i].shape);
        for (std::size_t i = list.size(); remove_config(fs::path(path_) / name(i)); ++i) {
        }
    }
    return problems;
}

}  // namespace tilewright::cli
