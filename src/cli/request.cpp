// Gathering shape, workload and device; every fault of the three is reported at once.
#include "cli/request.h"

#include <algorithm>

#include "cli/options.h"

namespace tilewright::cli {
namespace {

void append(Problems& problems, const Problems& more) { problems.insert(problems.end(), more.begin(), more.end()); }

/// `where` turned from a field's name into what the user can change: the flag given, or the shape and its field.
Problems placed(Problems problems, const Arguments& arguments, const std::string& otherwise) {
    for (Problem& problem : problems) {
        const std::string flag = flag_of(problem.where);
        if (arguments.has(flag) || otherwise.empty()) {
            problem.where = flag;
        } else {
            if (!problem.what.starts_with(problem.where)) problem.what = problem.where + ": " + problem.what;
            problem.where = otherwise;
        }
    }
    return problems;
}

void note_origin(Question& question, const std::string& what, const std::string& origin) {
    if (origin != built_in) question.used.push_back(what + " from " + origin);
}

/// A mode the device lacks is priced as what software falls back to, and that is said.
void warn_of_precision(const Question& question, const Session& session) {
    const Precision precision = question.workload.precision;
    if (question.device.peak[static_cast<std::size_t>(precision)]) return;
    std::string others;
    for (const auto& [word, other] : names<Precision>) {
        if (question.device.peak[static_cast<std::size_t>(other)])
            others += (others.empty() ? "" : ", ") + std::string(word);
    }
    warn(session, question.device.name + " has no " + std::string(name_of(precision)) +
                      " matrix mode; priced at the rate software falls back to. It has: " + others + " (--precision)");
}

void take_shape(const Arguments& arguments, const std::string& name, Question& question, Problems& problems) {
    apply_shape_flags(arguments, question.shape);
    append(problems, placed(validate(question.shape), arguments, name));
}

}  // namespace

Result<Question> make_question(const Arguments& arguments, const std::string& name, const Session& session,
                               Overrides overrides) {
    Question question;
    Problems problems;
    Result<FoundShape> found = find_shape(name);
    Result<FoundDevice> device = device_of(arguments);
    if (!found) append(problems, found.problems());
    if (!device) append(problems, device.problems());
    if (found) {
        for (const std::string& line : found->file.assumed) warn(session, found->origin + ": " + line);
        note_origin(question, "model " + found->file.shape.name, found->origin);
        question.shape = found->file.shape;
        question.workload = found->file.workload.value_or(Workload{});
        if (overrides == Overrides::Apply) take_shape(arguments, name, question, problems);
    }
    apply_workload_flags(arguments, question.workload);
    append(problems, placed(validate(question.workload), arguments, ""));
    if (!problems.empty()) return problems;
    note_origin(question, "device " + device->device.name, device->origin);
    question.profile = find_profile(device->device);
    question.device = std::move(device->device);
    warn_of_precision(question, session);
    return question;
}

Problems misfit(const Arguments& arguments, const Question& question) {
    return placed(validate(question.shape, question.workload), arguments, question.shape.name);
}

Result<std::vector<Question>> make_questions(const Arguments& arguments, const std::vector<Asked>& shapes,
                                             const Session& session) {
    std::vector<Question> questions;
    Problems problems;
    for (const Asked& asked : shapes) {
        const Result<Question> question = make_question(arguments, asked.name, session, asked.overrides);
        for (const Problem& problem : question ? misfit(arguments, *question) : question.problems()) {
            if (std::find(problems.begin(), problems.end(), problem) == problems.end()) problems.push_back(problem);
        }
        if (question) questions.push_back(*question);
    }
    if (!problems.empty()) return problems;
    return questions;
}

}  // namespace tilewright::cli
