// The data files that travel inside the program, as text and trees; cmake/embed.cmake writes the tables.
#pragma once

#include <span>
#include <string_view>

#include "tilewright/correction.h"

namespace tilewright::embedded {

struct File {
    std::string_view name;  ///< file name without its ending
    std::string_view text;
    std::span<const Tree> trees;  ///< of a residual, whose text has a zero for each
};

std::span<const File> models();       ///< data/models, sorted by name
std::span<const File> devices();      ///< data/devices, sorted by name
std::span<const File> clusters();     ///< data/clusters, sorted by name
std::span<const File> profiles();     ///< data/profiles, constants and residuals ("h200.residual")
std::span<const File> engines();      ///< data/engines, sorted by name
std::span<const File> kernels();      ///< data/kernels, laws of the serving engines' kernels
std::span<const File> trees();        ///< what they leave over: "DEVICE LAW" of data/kernels/DEVICE.trees
std::span<const File> rules();        ///< docs/rules, sorted by name
std::span<const File> experiments();  ///< data/experiments, sorted by name
std::span<const File> python();       ///< python/tilewright_host.py

}  // namespace tilewright::embedded
