// Formats of a question: those its checkpoint has, and what the device makes of them.
#include "cli/options.h"

namespace tilewright::cli {
namespace {

/// A mode of training that the device lacks is priced as what software falls back to, and that is said; bf16, which
/// nobody runs on parts without it, is refused.
Problems check_precision(const Question& question, const Session& session) {
    const Precision precision = question.workload.precision;
    if (question.device.peak[static_cast<std::size_t>(precision)]) return {};
    if (precision == Precision::Bf16) {
        const std::optional<Format>& weights = question.workload.formats.weights;
        return {{"--precision", 0, question.device.name + " has no bf16 matrix mode",
                 "say --precision fp16" + (weights ? " --weights " + std::string(name_of(*weights)) : "")}};
    }
    std::string others;
    for (const auto& [word, other] : names<Precision>) {
        if (question.device.peak[static_cast<std::size_t>(other)])
            others += (others.empty() ? "" : ", ") + std::string(word);
    }
    warn(session, question.device.name + " has no " + std::string(name_of(precision)) +
                      " matrix mode; priced at the rate software falls back to. It has: " + others + " (--precision)");
    return {};
}

/// Where the units for a format are missing, engines turn the weights into 16 bits on the way to those there are; none
/// does so on parts before Ampere (vLLM's and TensorRT-LLM's lists of supported hardware).
Problems fall_back(Question& question, const Session& session) {
    const Device& device = question.device;
    const Quantization asked = quantization_of(question.workload), run = runs_as(asked, device);
    if (run == asked) return {};
    const std::string format(traits_of(asked).name);
    if (asked == Quantization::Mxfp8)
        return {{"--precision", 0, device.name + " multiplies no blocks with scales of their own", "say fp8"}};
    if (device.architecture == Architecture::Volta || device.architecture == Architecture::Turing) {
        const char* flag = question.workload.formats.weights ? "--weights" : "--precision";
        return {{flag, 0, "no engine runs " + format + " on " + device.name, "use int4, int8 or fp16"}};
    }
    warn(session, device.name + " has no units for " + format +
                      "; priced as engines run it there, weights turned into 16 bits (" +
                      std::string(traits_of(run).name) + ")");
    question.workload = as_run(question.workload, device);
    return {};
}

}  // namespace

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
    if (Problems bad = fall_back(question, session); !bad.empty()) return bad;
    return check_precision(question, session);
}

}  // namespace tilewright::cli
