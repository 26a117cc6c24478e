// `predict GRAPH.json`: what was recorded is not for flags to change.
#include "cli/verb.h"

#include <memory>

#include "cli/files.h"
#include "cli/host.h"
#include "cli/options.h"
#include "quantity/problems.h"
#include "read/capture_file.h"
#include "render/answers.h"

namespace tilewright::cli {
namespace {

/// Flags that a captured graph takes.
bool is_taken(std::string_view flag) {
    static constexpr std::string_view taken[] = {"--gpu",   "--cluster", "--device-file", "--profile",
                                                 "--clock", "--why",     "--json",        "--host-scale"};
    return std::find(std::begin(taken), std::end(taken), flag) != std::end(taken);
}

}  // namespace

bool is_captured(const std::string& operand) {
    if (!is_file(operand)) return false;
    const Result<std::string> bytes = read_whole(operand);
    return bytes && read::looks_like_capture(*bytes);
}

Result<int> predict_captured(const Arguments& arguments, Session& session) {
    const std::string& path = arguments.operands[0];
    Problems problems;
    for (const auto& [flag, value] : arguments.flags) {
        if (!is_taken(flag))
            problems.push_back({flag, 0, "would change what " + path + " recorded",
                                "record another graph, or name the shape instead of the file"});
    }
    const Result<std::string> bytes = read_whole(path);
    if (!bytes) return bytes.problems();
    Result<Capture> capture = read::read_capture(*bytes, path);
    Result<FoundDevice> device = device_of(arguments);
    append(problems, capture);
    append(problems, device);
    CaptureQuestion question;
    const Result<HostScale> host = host_scale(arguments);
    append(problems, host);
    if (!problems.empty()) return problems;
    question.host_scale = host->scale;
    if (!host->path.empty()) question.used.push_back("host scale from " + host->path);
    question.capture = std::make_shared<const Capture>(std::move(*capture));
    question.device = std::move(device->device);
    question.profile = std::move(device->profile);
    question.host = runtime_of(find_runtime("huggingface").value()).host;
    question.clock = arguments.choice<Clock>("--clock").value_or(Clock::Sustained);
    for (const std::string& origin : {device->origin, device->profile_origin}) {
        if (origin != built_in) question.used.push_back(origin);
    }
    const CapturePrediction prediction = predict(question);
    say(session, prediction, render::captured_json, [&](const CapturePrediction& shown, const render::Style& style) {
        return render::captured_text(shown, arguments.has("--why") ? SIZE_MAX : render::usually_listed, style);
    });
    return exit_fine;
}

}  // namespace tilewright::cli
