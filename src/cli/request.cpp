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

void note_origin(Request& request, const std::string& what, const std::string& origin) {
    if (origin != built_in) request.used.push_back(what + " from " + origin);
}

/// A mode the device lacks is priced as what software falls back to, and that is said.
void warn_of_precision(const Request& request, const Session& session) {
    const Precision precision = request.workload.precision;
    if (request.device.peak[static_cast<std::size_t>(precision)]) return;
    std::string others;
    for (const auto& [word, other] : names<Precision>) {
        if (request.device.peak[static_cast<std::size_t>(other)])
            others += (others.empty() ? "" : ", ") + std::string(word);
    }
    warn(session, request.device.name + " has no " + std::string(name_of(precision)) +
                      " matrix mode; priced at the rate software falls back to. It has: " + others + " (--precision)");
}

void take_shape(const Arguments& arguments, const std::string& name, Request& request, Problems& problems) {
    apply_shape_flags(arguments, request.shape);
    append(problems, placed(validate(request.shape), arguments, name));
}

}  // namespace

Result<Request> make_request(const Arguments& arguments, const std::string& name, const Session& session,
                             Overrides overrides) {
    Request request;
    Problems problems;
    Result<FoundShape> found = find_shape(name);
    Result<FoundDevice> device = device_of(arguments);
    if (!found) append(problems, found.problems());
    if (!device) append(problems, device.problems());
    if (found) {
        for (const std::string& line : found->file.assumed) warn(session, found->origin + ": " + line);
        note_origin(request, "model " + found->file.shape.name, found->origin);
        request.shape = found->file.shape;
        request.workload = found->file.workload.value_or(Workload{});
        if (overrides == Overrides::Apply) take_shape(arguments, name, request, problems);
    }
    apply_workload_flags(arguments, request.workload);
    append(problems, placed(validate(request.workload), arguments, ""));
    if (!problems.empty()) return problems;
    note_origin(request, "device " + device->device.name, device->origin);
    request.profile = find_profile(device->device);
    request.device = std::move(device->device);
    warn_of_precision(request, session);
    return request;
}

Problems misfit(const Arguments& arguments, const Request& request) {
    return placed(validate(request.shape, request.workload), arguments, request.shape.name);
}

Result<std::vector<Request>> make_requests(const Arguments& arguments, const std::vector<Asked>& shapes,
                                           const Session& session) {
    std::vector<Request> requests;
    Problems problems;
    for (const Asked& asked : shapes) {
        const Result<Request> request = make_request(arguments, asked.name, session, asked.overrides);
        for (const Problem& problem : request ? misfit(arguments, *request) : request.problems()) {
            if (std::find(problems.begin(), problems.end(), problem) == problems.end()) problems.push_back(problem);
        }
        if (request) requests.push_back(*request);
    }
    if (!problems.empty()) return problems;
    return requests;
}

render::Prediction predict(const Request& request, render::Scope scope) {
    const Pricer pricer = request.pricer();
    const OpGraph layer = lower_layer(request.shape, request.workload);
    const OpGraph graph = scope == render::Scope::Layer ? layer : lower(request.shape, request.workload);
    render::Prediction prediction;
    prediction.shape = request.shape;
    prediction.params = count_parameters(request.shape);
    prediction.workload = request.workload;
    prediction.device = request.device;
    prediction.profile_source = request.profile.source;
    prediction.errors = request.profile.errors;
    prediction.scope = scope;
    prediction.layer = price(layer, pricer);
    prediction.step = price(graph, pricer);
    prediction.flops = total_flops(graph);
    prediction.mfu = model_flops_utilization(prediction.step, pricer, request.workload.precision);
    prediction.memory = memory(request.shape, request.workload);
    const bool many = gpu_count(request.workload.parallel) > 1 || request.workload.micro_batches > 1;
    const bool training = request.workload.phase == Phase::Train && !request.workload.forward_only;
    if (many && training && scope == render::Scope::Model) {
        prediction.training = price_step(request.shape, request.workload, pricer);
    }
    prediction.used = request.used;
    return prediction;
}

}  // namespace tilewright::cli
