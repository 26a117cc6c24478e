// What `search` shows, as text and as JSON (schema tilewright.search/2).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "render/json.h"
#include "render/prediction.h"
#include "tilewright/search.h"

namespace tilewright::render {

struct WeightedGpu {
    std::string name;
    double weight = 1.0;
    Evidence evidence = Evidence::Assumed;  ///< of the baseline's step there
};

struct SearchReport {
    Prediction baseline;  ///< on the first GPU
    SearchResult found;
    SearchOptions options;
    std::vector<WeightedGpu> gpus;
    std::string wider_steps;  ///< of a walk bounded by --limit
    double seconds = 0.0;
};

std::string search_text(const SearchReport& report, const Style& style);
std::string search_json(const SearchReport& report);

/// Candidates by how much they change, the smallest change first.
std::array<std::pair<std::string_view, const std::vector<Candidate>*>, 3> kinds(const SearchResult& found);

/// At most `most` of each kind; several alike are listed once.
void append_candidates(std::string& out, const SearchResult& found, std::size_t most, const Style& style);
void write_candidates(JsonWriter& json, const SearchResult& found);
void write_fronts(JsonWriter& json, const SearchResult& found);

/// "heads 32 -> 20, ffn 10240 -> 10368".
std::string changes_text(const Candidate& candidate);

/// "heads 32 -> 20: attention 1.48 times faster; vocab 50257 -> 50272: head 4.44 times faster".
std::string causes_text(const Candidate& candidate);

/// The one thing to do, or that there is nothing to gain.
std::string recommendation(const SearchResult& found);

}  // namespace tilewright::render
