// Faster shapes of equal size: the space says what is legal, this walk visits all of it, rank says what is kept.
#include "tilewright/search.h"

#include "search/rank.h"
#include "search/space.h"

namespace tilewright {
namespace {

rank::Priced priced(const Shape& shape, const Workload& workload, const Pricer& pricer) {
    return {shape, price(lower(shape, workload), pricer)};
}

}  // namespace

SearchResult search(const Shape& shape, const Workload& workload, const Pricer& pricer, const SearchOptions& options) {
    const std::vector<Shape> space = space::shapes(shape, workload, options);
    const rank::Priced baseline = priced(shape, workload, pricer);
    std::vector<Candidate> candidates;
    for (const Shape& other : space) candidates.push_back(rank::compare(baseline, priced(other, workload, pricer)));

    SearchResult result;
    result.shapes_in_space = static_cast<std::int64_t>(space.size());
    result.shapes_priced = result.shapes_in_space;
    result.candidates = rank::best(std::move(candidates), options.keep);
    return result;
}

}  // namespace tilewright
