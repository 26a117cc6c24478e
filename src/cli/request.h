// What a verb was asked to look at: a valid shape, workload and device with its profile, or every problem in them.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/terminal.h"
#include "render/prediction.h"
#include "tilewright/cost.h"

namespace tilewright::cli {

struct Request {
    Shape shape;
    Workload workload;
    Device device;
    Profile profile;
    std::vector<std::string> used;  ///< files used in place of built-in data

    Pricer pricer() const { return {device, profile, workload.clock}; }
};

/// Which overrides apply to a shape named on the command line.
enum class Overrides { Apply, Ignore };

/// Reads the shape named `name` and applies the flags; what a reader assumed is warned about. The shape and the
/// workload are each valid, but may not fit each other.
Result<Request> make_request(const Arguments& arguments, const std::string& name, const Session& session,
                             Overrides overrides = Overrides::Apply);

/// Problems of shape and workload together.
Problems misfit(const Arguments& arguments, const Request& request);

/// A shape as it was named, and whether overrides apply to it.
struct Asked {
    std::string name;
    Overrides overrides = Overrides::Apply;
};

/// A request for each shape, none with a misfit; or the problems of all, each once.
Result<std::vector<Request>> make_requests(const Arguments& arguments, const std::vector<Asked>& shapes,
                                           const Session& session);

/// Prices the request; it must have no misfit.
render::Prediction predict(const Request& request, render::Scope scope);

}  // namespace tilewright::cli
