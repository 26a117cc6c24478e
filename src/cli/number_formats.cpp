// Formats of a question: those its checkpoint has, and what the device makes of them.
#include "cli/options.h"

namespace tilewright::cli {
namespace {

/// A mode the device lacks is priced as what software falls back to, and that is said; bf16, which nobody runs on parts
/// without it, is refused.
Problems check_precision(const Question& question, const Session& session) {
    const Precision precision = question.workload.precision;
    if (question.device.peak[static_cast<std::size_t>(precision)]) return {};
    if (precision == Precision::Bf16) {
        return {{"--precision", 0, question.device.name + " has no bf16 matrix mode", "say --precision fp16"}};
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

/// Where the units for a format are missing, engines turn the weights into 16 bits on the way to those there are.
void note_fallback(const Question& question, const Session& session) {
    const Quantization asked = quantization_of(question.workload);
    if (question.workload.precision == Precision::Fp8 || asked == runs_as(asked, question.device)) return;
    warn(session, question.device.name + " has no units for " + std::string(traits_of(asked).name) +
                      "; priced as engines run it there, weights turned into 16 bits (" +
                      std::string(traits_of(runs_as(asked, question.device)).name) + ")");
}

}  // namespace

void take_formats(const Arguments& arguments, const Formats& stored, Question& question) {
    Formats& formats = question.workload.formats;
    if (question.workload.phase == Phase::Train || arguments.has("--precision") || arguments.has("--weights")) return;
    if (stored.weights && !formats.weights) {
        formats.weights = stored.weights;
        formats.attention = stored.attention;
        if (!arguments.has("--activations")) formats.activations = stored.activations;
    }
    if (stored.kv && !formats.kv) formats.kv = stored.kv;
}

Problems check_formats(const Question& question, const Session& session) {
    if (Problems bad = check_precision(question, session); !bad.empty()) return bad;
    note_fallback(question, session);
    return {};
}

}  // namespace tilewright::cli
