// `models`, `devices` and `runtimes`: the catalogue with the user's additions.
#include <algorithm>

#include "cli/catalogue.h"
#include "cli/files.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "render/answers.h"
#include "tilewright/read.h"

namespace tilewright::cli {
namespace {

bool wanted(const std::string& name, const std::vector<std::string>& texts) {
    return texts.empty() || std::any_of(texts.begin(), texts.end(),
                                        [&](const std::string& text) { return name.find(text) != std::string::npos; });
}

Problem nothing(const Arguments& arguments) {
    return {arguments.operands.front(), 0, "matches no name", "leave it out to see all"};
}

}  // namespace

std::vector<FlagGroup> catalogue_flags() { return {output_flags()}; }

Result<int> run_models(const Arguments& arguments, Session& session) {
    std::vector<render::ListedModel> models;
    for (const std::string& name : all_models()) {
        if (!wanted(name, arguments.operands)) continue;
        const Result<FoundShape> found = find_shape(name);
        if (!found) return found.problems();
        models.push_back({found->file.shape, count_parameters(found->file.shape), found->origin});
    }
    if (models.empty()) return nothing(arguments);
    say(session, models, render::models_json, render::models_text);
    return exit_fine;
}

Result<int> run_devices(const Arguments& arguments, Session& session) {
    std::vector<render::ListedDevice> devices;
    std::vector<std::string> dashed = arguments.operands;  // h200 is no gh200
    for (std::string& text : dashed) text.insert(0, "-");
    for (const std::string& name : all_devices()) {
        if (!wanted('-' + name, dashed)) continue;
        const Result<FoundDevice> found = find_gpu(name);
        if (!found) return found.problems();
        const bool own = found->profile_origin != built_in;
        devices.push_back({found->device, found->profile, found->origin, own ? found->profile_origin : "",
                           own ? age_days(found->profile_origin) : 0.0});
    }
    if (devices.empty()) return nothing(arguments);
    say(session, devices, render::devices_json, render::devices_text);
    return exit_fine;
}

Result<int> run_runtimes(const Arguments& arguments, Session& session) {
    std::vector<render::ListedRuntime> runtimes;
    for (const std::string& name : all_runtimes()) {
        if (!wanted(name, arguments.operands)) continue;
        const Result<FoundRuntime> found = find_runtime_named(name);
        if (!found) return found.problems();
        runtimes.push_back({runtime_of(found->id), found->origin});
    }
    if (runtimes.empty()) return nothing(arguments);
    say(session, runtimes, render::runtimes_json, render::runtimes_text);
    return exit_fine;
}

}  // namespace tilewright::cli
