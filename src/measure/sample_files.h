// What sample files hold: list (counts), show (one line a sample), merge (several into one, nothing lost), and how far
// two runs of the same ops differ, which says what a sample is worth.
#pragma once

#include <string>
#include <vector>

#include "tilewright/result.h"
#include "tilewright/sample.h"

namespace tilewright::measure {

/// A file of samples with its name and, unpacked, its bytes.
struct NamedSamples {
    std::string name;
    SampleFile file;
    std::string text;
};

/// The text of a file of samples, compressed or not; "-" is standard input, so below.
Result<std::string> read_unpacked(const std::string& path);

Result<std::vector<NamedSamples>> read_sample_files(const std::vector<std::string>& paths);

std::string list_text(const std::vector<NamedSamples>& files);
std::string show_text(const std::vector<NamedSamples>& files);

/// All lines in order as they were written, each once; samples with the same key but other times are all kept.
struct Merged {
    std::string text;
    std::size_t samples = 0;
    std::size_t identical = 0;      ///< lines left out because the same line came before
    std::size_t duplicates = 0;     ///< samples kept although their key came before
    std::vector<std::string> torn;  ///< files whose last line was cut off, and left out
};
Merged merge(const std::vector<NamedSamples>& files);
std::string merge_note(const Merged& merged);  ///< how many were kept, and what was said twice

/// The best product of each type and clock mode, bandwidths by size, and launch costs.
std::string peak_text(const std::vector<Sample>& samples);

/// Relative differences |a - b| / min(a, b) over the keys that both files hold.
struct Difference {
    double mean = 0.0;
    double median = 0.0;
    double p90 = 0.0;
};

struct Spread {
    ClockMode clock = ClockMode::Quick;
    std::size_t pairs = 0;
    Difference time;
    Difference cycles;
};

/// One row for each clock mode that both runs have; of duplicates the first counts.
std::vector<Spread> spread_of(const std::vector<Sample>& a, const std::vector<Sample>& b);

std::string spread_table(const std::vector<Spread>& rows);

}  // namespace tilewright::measure
