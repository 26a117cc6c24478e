// What sample files hold: list (counts), show (one line a sample), merge (several into one, nothing lost).
#pragma once

#include <string>
#include <vector>

#include "tilewright/result.h"
#include "tilewright/sample.h"

namespace tilewright::measure {

/// A file of samples with its name.
struct NamedSamples {
    std::string name;
    SampleFile file;
};

/// Compressed files too; "-" is standard input.
Result<std::vector<NamedSamples>> read_sample_files(const std::vector<std::string>& paths);

std::string list_text(const std::vector<NamedSamples>& files);
std::string show_text(const std::vector<NamedSamples>& files);

/// All runs and samples in order, each line once; samples with the same key but other times are all kept.
struct Merged {
    std::string text;
    std::size_t samples = 0;
    std::size_t identical = 0;   ///< lines left out because the same line came before
    std::size_t duplicates = 0;  ///< samples kept although their key came before
};
Merged merge(const std::vector<NamedSamples>& files);
std::string merge_note(const Merged& merged);  ///< how many were kept, and what was said twice

/// The best product of each type and clock mode, bandwidths by size, and launch costs.
std::string peak_text(const std::vector<Sample>& samples);

}  // namespace tilewright::measure
