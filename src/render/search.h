// What `search` shows, as text and as JSON (schema tilewright.search/1).
#pragma once

#include <string>

#include "render/json.h"
#include "render/prediction.h"
#include "tilewright/search.h"

namespace tilewright::render {

std::string search_text(const Prediction& baseline, const SearchResult& found, const Style& style);
std::string search_json(const Prediction& baseline, const SearchResult& found);

void append_candidates(std::string& out, const SearchResult& found, const Style& style);
void write_candidates(JsonWriter& json, const SearchResult& found);

/// "heads 32 -> 20, ffn 10240 -> 10368".
std::string changes_text(const Candidate& candidate);

/// The one thing to do, or that there is nothing to gain.
std::string recommendation(const SearchResult& found);

}  // namespace tilewright::render
