// `compare`: several shapes, or one shape and its overrides, side by side.
#include "cli/options.h"
#include "cli/request.h"
#include "cli/verb.h"
#include "files/output.h"
#include "render/answers.h"
#include "render/report.h"

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
    const Result<std::vector<Question>> questions = make_questions(arguments, shapes, session);
    if (!questions) return questions.problems();
    const auto path = arguments.text("--report");
    if (path) {
        if (Problems bad = files::refuse_inputs(*path, arguments.operands, "--report"); !bad.empty()) return bad;
    }
    Result<files::Output> page = files::Output::open(path.value_or("-"));
    if (!page) return page.problems();
    const Comparison comparison = compare(*questions);
    if (path) {
        if (Problems bad = page->write(render::compare_html(comparison)); !bad.empty()) return bad;
        if (Problems bad = page->finish(); !bad.empty()) return bad;
    }
    session.out = arguments.has("--json") ? render::compare_json(comparison)
                                          : render::compare_text(comparison, session.out_style);
    return exit_fine;
}

}  // namespace tilewright::cli
