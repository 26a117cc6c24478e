// `advise`.
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/request.h"
#include "cli/search_threads.h"
#include "cli/verb.h"
#include "render/answers.h"

namespace tilewright::cli {

std::vector<FlagGroup> advise_flags() { return {device_flags(), workload_flags(), shape_flags(), output_flags()}; }

Result<int> run_advise(const Arguments& arguments, Session& session) {
    const Result<Question> question = make_question(arguments, arguments.operands[0], session);
    if (!question) return question.problems();
    if (Problems problems = misfit(arguments, *question); !problems.empty()) return problems;
    const Advice advice = advise(*question, walk_on(core_count()), patience);
    session.out =
        arguments.has("--json") ? render::advise_json(advice) : render::advise_text(advice, session.out_style);
    return interrupted() ? exit_interrupted : exit_fine;
}

}  // namespace tilewright::cli
