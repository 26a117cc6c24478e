// `compare`: several shapes, or one shape and its overrides, side by side.
#include "render/compare.h"

#include <algorithm>

#include "cli/options.h"
#include "cli/request.h"
#include "cli/verb.h"

namespace tilewright::cli {

std::vector<FlagGroup> compare_flags() { return {device_flags(), workload_flags(), shape_flags(), output_flags()}; }

Result<int> run_compare(const Arguments& arguments, Session& session) {
    std::vector<std::string> names = arguments.operands;
    const bool with_itself = names.size() == 1;
    if (with_itself && !overrides_shape(arguments)) {
        return Problem{"", 0, "there is nothing to compare with", "name another shape, or change this one: --heads 20"};
    }
    if (with_itself) names.push_back(names.front());
    std::vector<render::Prediction> predictions;
    Problems problems;
    for (const std::string& name : names) {
        const bool as_it_is = with_itself && predictions.empty();
        const Result<Request> request =
            make_request(arguments, name, session, as_it_is ? Overrides::Ignore : Overrides::Apply);
        const Problems found = request ? misfit(arguments, *request) : request.problems();
        for (const Problem& problem : found) {
            if (std::find(problems.begin(), problems.end(), problem) == problems.end()) problems.push_back(problem);
        }
        if (found.empty()) predictions.push_back(predict(*request, render::Scope::Model));
    }
    if (!problems.empty()) return problems;
    session.out = arguments.has("--json") ? compare_json(predictions) : compare_text(predictions, session.out_style);
    return exit_fine;
}

}  // namespace tilewright::cli
