// Which of the engines' ways to multiply belongs to a pair of formats, and what of it a workload asks for.
#include "tilewright/format.h"

#include "tilewright/names.h"
#include "tilewright/workload.h"

namespace tilewright {

Format weights_of(const Workload& workload) {
    return workload.formats.weights.value_or(workload.precision == Precision::Fp8 ? Format::Fp8 : Format::Bf16);
}

std::optional<Quantization> quantization_of(Format weights, std::optional<Format> activations) {
    const bool wide = activations && !is_quantized(*activations);
    const auto either = [&](Quantization usual, Quantization weights_only, Format also) -> std::optional<Quantization> {
        if (wide) return weights_only;
        if (!activations || *activations == traits_of(usual).activations || *activations == also) return usual;
        return std::nullopt;
    };
    switch (weights) {
        case Format::Fp32:
        case Format::Bf16:
        case Format::Fp16: return !activations || wide ? std::optional(Quantization::None) : std::nullopt;
        case Format::Fp8:
        case Format::Fp8Row: return either(Quantization::Fp8, Quantization::Int8Wo, Format::Fp8Row);
        case Format::Fp8Block: return either(Quantization::Fp8Block, Quantization::Int8Wo, Format::Fp8);
        case Format::Int8:
            if (!activations || wide) return Quantization::Int8Wo;
            return either(Quantization::Int8Sq, Quantization::Int8Wo, Format::Int8);
        case Format::Int8Sq: return either(Quantization::Int8Sq, Quantization::Int8Wo, Format::Int8);
        case Format::Int4: return !activations || wide ? std::optional(Quantization::Int4Wo) : std::nullopt;
        case Format::Mxfp4:
            if (!activations || wide) return Quantization::W4A16Mxfp4;
            return either(Quantization::W4A8Mxfp4Mxfp8, Quantization::W4A16Mxfp4, Format::Fp8);
        case Format::Nvfp4: return either(Quantization::Nvfp4, Quantization::W4A16Mxfp4, Format::Nvfp4);
        case Format::Mxfp8: return std::nullopt;
    }
    return std::nullopt;
}

void set_precision(Workload& workload, std::string_view word) {
    workload.formats.weights.reset();
    if (const auto precision = find_named<Precision>(word)) {
        workload.precision = *precision;
    } else {
        workload.formats.weights = find_named<Format>(word);
        if (workload.formats.weights == Format::Mxfp8) workload.precision = Precision::Fp8;  // of training alone
    }
}

Quantization quantization_of(const Workload& workload) {
    const bool trains = workload.phase == Phase::Train;
    if (trains) return workload.formats.weights == Format::Mxfp8 ? Quantization::Mxfp8 : Quantization::None;
    return quantization_of(weights_of(workload), workload.formats.activations).value_or(Quantization::None);
}

bool keeps_attention(const Shape& shape, const Workload& workload) {
    const bool experts_only = shape.experts && weights_of(workload) == Format::Mxfp4;
    return quantization_of(workload) != Quantization::None && (experts_only || !workload.formats.attention);
}

double served_bytes(const Workload& workload) {
    const Format weights = weights_of(workload);
    return is_quantized(weights) ? stored_bytes(weights) : storage_bytes(workload.precision);
}

double cache_bytes(const Workload& workload) {
    const auto& kv = workload.formats.kv;
    return kv ? stored_bytes(*kv) : storage_bytes(workload.precision);
}

}  // namespace tilewright
