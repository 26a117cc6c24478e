// `advise`: predict, lint and search the same request, and show them together.
#include "render/advise.h"

#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/request.h"
#include "cli/search_threads.h"
#include "cli/verb.h"

namespace tilewright::cli {

std::vector<FlagGroup> advise_flags() { return {device_flags(), workload_flags(), shape_flags(), output_flags()}; }

Result<int> run_advise(const Arguments& arguments, Session& session) {
    const Result<Request> request = make_request(arguments, arguments.operands[0], session);
    if (!request) return request.problems();
    if (Problems problems = misfit(arguments, *request); !problems.empty()) return problems;
    const Pricer pricer = request->pricer();
    const render::Advice advice{predict(*request, render::Scope::Model),
                                lint(request->shape, request->workload, pricer),
                                run_soon(Search(request->shape, request->workload, {{pricer, 1.0}}))};
    session.out = arguments.has("--json") ? advise_json(advice) : advise_text(advice, session.out_style);
    return interrupted() ? exit_interrupted : exit_fine;
}

}  // namespace tilewright::cli
