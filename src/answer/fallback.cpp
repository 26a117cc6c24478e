// A question as its device runs it: on its own host, and with what software does there for units that it lacks.
#include "tilewright/answer.h"

namespace tilewright {
namespace {

using Notes = std::vector<std::string>;

/// Engines turn weights of a format without units into 16 bits on the way to the units there are; none does so on parts
/// before Ampere (vLLM's and TensorRT-LLM's lists of supported hardware).
Result<Notes> store_otherwise(Question& question) {
    const Device& device = question.device;
    const Quantization asked = quantization_of(question.workload), run = runs_as(asked, device);
    if (run == asked) return Notes{};
    const std::string format(traits_of(asked).name);
    if (asked == Quantization::Mxfp8)
        return Problem{"precision", 0, device.name + " multiplies no blocks with scales of their own", "say fp8"};
    if (device.architecture == Architecture::Volta || device.architecture == Architecture::Turing) {
        const char* field = question.workload.formats.weights ? "weights" : "precision";
        return Problem{field, 0, "no engine runs " + format + " on " + device.name, "use int4, int8 or fp16"};
    }
    question.workload = as_run(question.workload, device);
    return Notes{device.name + " has no units for " + format +
                 "; priced as engines run it there, weights turned into 16 bits (" + std::string(traits_of(run).name) +
                 ")"};
}

/// A mode of products that the device lacks is priced at the rate of the fallback; bf16, which nobody runs on parts
/// without it, is refused.
Result<Notes> multiply_otherwise(const Question& question) {
    const auto has = [&](Precision precision) {
        return question.device.peak[static_cast<std::size_t>(precision)].has_value();
    };
    const Precision precision = question.workload.precision;
    if (has(precision)) return Notes{};
    if (precision == Precision::Bf16) {
        const std::optional<Format>& weights = question.workload.formats.weights;
        return Problem{"precision", 0, question.device.name + " has no bf16 matrix mode",
                       "say --precision fp16" + (weights ? " --weights " + std::string(name_of(*weights)) : "")};
    }
    std::string others;
    for (const auto& [word, other] : names<Precision>) {
        if (has(other)) others += (others.empty() ? "" : ", ") + std::string(word);
    }
    return Notes{question.device.name + " has no " + std::string(name_of(precision)) +
                 " matrix mode; priced at the rate software falls back to. It has: " + others + " (--precision)"};
}

}  // namespace

Result<std::vector<std::string>> fall_back(Question& question) {
    Result<Notes> stored = store_otherwise(question);
    if (!stored) return stored;
    const Result<Notes> multiplied = multiply_otherwise(question);
    if (!multiplied) return multiplied.problems();
    stored->insert(stored->end(), multiplied->begin(), multiplied->end());
    return stored;
}

void use_own_host(Question& question) {
    const bool serves = runtime_of(question.workload.runtime).engine.has_value();
    if (serves) question.workload.host_scale = question.device.host_scale;
}

}  // namespace tilewright
