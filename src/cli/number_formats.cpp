// Formats of a question: those its checkpoint has, and what the device makes of them.
#include "cli/options.h"

namespace tilewright::cli {

void take_formats(const Arguments& arguments, const Formats& stored, Question& question) {
    if (!arguments.has("--weights")) question.workload = as_published(question.shape, question.workload);
    Formats& formats = question.workload.formats;
    if (question.workload.phase == Phase::Train || arguments.has("--precision") || arguments.has("--weights")) return;
    if (stored.weights && !formats.weights) {
        formats.weights = stored.weights;
        formats.attention = stored.attention;
        if (!arguments.has("--activations")) formats.activations = stored.activations;
    }
    if (stored.kv && !formats.kv) formats.kv = stored.kv;
}

Problems check_formats(Question& question, const Session& session) {
    const Result<std::vector<std::string>> notes = fall_back(question);
    if (!notes) {
        Problems problems = notes.problems();
        for (Problem& problem : problems) problem.where = flag_of(problem.where);
        return problems;
    }
    for (const std::string& note : *notes) warn(session, note);
    return {};
}

}  // namespace tilewright::cli
