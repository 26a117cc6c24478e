// `compare`: several shapes, or one shape and its overrides, side by side.
#include "render/compare.h"

#include "cli/options.h"
#include "cli/output.h"
#include "cli/request.h"
#include "cli/verb.h"

namespace tilewright::cli {

std::vector<FlagGroup> compare_flags() {
    FlagGroup output = output_flags();
    output.flags.insert(output.flags.begin(), {"--report", "FILE", "a page to look at, beside the answer", Kind::Text});
    return {device_flags(), workload_flags(), shape_flags(), output};
}

Result<int> run_compare(const Arguments& arguments, Session& session) {
    const bool with_itself = arguments.operands.size() == 1;
    if (with_itself && !overrides_shape(arguments)) {
        return Problem{"", 0, "there is nothing to compare with", "name another shape, or change this one: --heads 20"};
    }
    std::vector<Asked> shapes;
    if (with_itself) shapes.push_back({arguments.operands[0], Overrides::Ignore});
    for (const std::string& name : arguments.operands) shapes.push_back({name});
    const Result<std::vector<Request>> requests = make_requests(arguments, shapes, session);
    if (!requests) return requests.problems();
    const auto path = arguments.text("--report");
    const Output page = open_output(path.value_or("-"));
    if (!page) return cannot_write(*path);
    std::vector<render::Prediction> predictions;
    for (const Request& request : *requests) predictions.push_back(predict(request, render::Scope::Model));
    if (path) {
        if (Problems problems = write_all(page, compare_html(predictions), *path); !problems.empty()) return problems;
    }
    session.out = arguments.has("--json") ? compare_json(predictions) : compare_text(predictions, session.out_style);
    return exit_fine;
}

}  // namespace tilewright::cli
