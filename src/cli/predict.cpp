// `predict`: one shape, or with --from a file of many.
#include "cli/bulk.h"
#include "cli/options.h"
#include "cli/request.h"
#include "cli/verb.h"
#include "render/answers.h"

namespace tilewright::cli {

std::vector<FlagGroup> predict_flags() {
    return {device_flags(),
            workload_flags(),
            {"Prediction",
             {{"--scope", "layer|model", "one layer, or the whole step (model)", Kind::Choice},
              {"--why", "", "every kernel and the terms its time is made of", Kind::Switch}}},
            {"In bulk",
             {{"--from", "FILE.csv", "price every row of this file; - for stdin", Kind::Text},
              {"--output", "FILE", "write there instead of stdout", Kind::Text},
              {"--keep-going", "", "leave the columns of a bad row empty instead of stopping", Kind::Switch}}},
            shape_flags(),
            output_flags()};
}

Result<int> run_predict(const Arguments& arguments, Session& session) {
    const std::string& operand = arguments.operands[0];
    if (arguments.has("--from")) return predict_in_bulk(arguments, session);
    for (const char* flag : {"--output", "--keep-going"}) {
        if (arguments.has(flag)) return Problem{flag, 0, "is for predictions in bulk", "add --from FILE.csv"};
    }
    if (is_bulk_kind(operand)) {
        return Problem{operand, 0, "is predicted from a file",
                       "say tilewright predict " + operand + " --from FILE.csv"};
    }
    const Result<Question> question = make_question(arguments, operand, session);
    if (!question) return question.problems();
    if (Problems problems = misfit(arguments, *question); !problems.empty()) return problems;
    const Prediction prediction =
        predict(*question, arguments.text("--scope") == "layer" ? Scope::Layer : Scope::Model);
    if (arguments.has("--json")) {
        session.out = render::predict_json(prediction);
        return exit_fine;
    }
    session.out = render::predict_text(prediction, session.out_style);
    if (arguments.has("--why")) session.out += render::why_text(prediction, session.out_style);
    return exit_fine;
}

}  // namespace tilewright::cli
