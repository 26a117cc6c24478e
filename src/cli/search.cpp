// `search`: faster shapes of equal size.
#include "render/search.h"

#include "cli/options.h"
#include "cli/request.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

Problems check(const SearchOptions& options, std::int64_t keep) {
    Problems problems;
    if (options.parameter_tolerance < 0 || options.parameter_tolerance > 1) {
        problems.push_back({"--tolerance", 0, "is not between 0 and 1", "0.01 allows one percent"});
    }
    if (options.min_head_dim < 1 || options.max_head_dim < options.min_head_dim) {
        problems.push_back({"--min-head-dim", 0, "leaves no head size", "keep 1 <= min <= max"});
    }
    if (keep < 1 || keep > 1000) problems.push_back({"--keep", 0, "is not between 1 and 1000", "the default is 5"});
    return problems;
}

}  // namespace

std::vector<FlagGroup> search_flags() {
    return {device_flags(),
            workload_flags(),
            {"Search",
             {{"--tolerance", "SHARE", "how far the parameter count may move (0.01)", Kind::Real},
              {"--min-head-dim", "N", "smallest head size allowed (64)", Kind::Count},
              {"--max-head-dim", "N", "largest head size allowed (256)", Kind::Count},
              {"--keep", "N", "how many shapes to show (5)", Kind::Count}}},
            shape_flags(),
            output_flags()};
}

Result<int> run_search(const Arguments& arguments, Session& session) {
    SearchOptions options;
    options.parameter_tolerance = arguments.real("--tolerance").value_or(options.parameter_tolerance);
    options.min_head_dim = arguments.count("--min-head-dim").value_or(options.min_head_dim);
    options.max_head_dim = arguments.count("--max-head-dim").value_or(options.max_head_dim);
    const std::int64_t keep = arguments.count("--keep").value_or(5);
    if (Problems problems = check(options, keep); !problems.empty()) return problems;
    options.keep = static_cast<std::size_t>(keep);

    const Result<Request> request = make_request(arguments, arguments.operands[0], session);
    if (!request) return request.problems();
    if (Problems problems = misfit(arguments, *request); !problems.empty()) return problems;
    const SearchResult found = search(request->shape, request->workload, request->pricer(), options);
    const render::Prediction baseline = predict(*request, render::Scope::Model);
    session.out =
        arguments.has("--json") ? search_json(baseline, found) : search_text(baseline, found, session.out_style);
    return exit_fine;
}

}  // namespace tilewright::cli
