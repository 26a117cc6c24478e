// How numbers are stored: the format of a tensor with its scales, and the ways in which engines multiply by quantised
// weights.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace tilewright {

/// Of weights, activations or a KV cache. Fp8Row has a scale a row, Fp8Block one for 128 (activations) or 128 x 128
/// numbers, Int4 a scale and a zero for 128, Mxfp4 and Mxfp8 one for 32, Nvfp4 one for 16. Int8Sq is int8 of which the
/// activations' outliers were moved into the weights (SmoothQuant).
enum class Format : std::uint8_t { Fp32, Bf16, Fp16, Fp8, Fp8Row, Fp8Block, Int8, Int8Sq, Int4, Mxfp4, Mxfp8, Nvfp4 };

/// Bytes of one number, its share of scales and zeros included.
constexpr double stored_bytes(Format format) {
    switch (format) {
        case Format::Fp32: return 4;
        case Format::Bf16:
        case Format::Fp16: return 2;
        case Format::Fp8:
        case Format::Fp8Row:
        case Format::Int8:
        case Format::Int8Sq: return 1;
        case Format::Fp8Block: return 1 + 4.0 / (128 * 128);
        case Format::Int4: return 0.5 + 2.5 / 128;  // a scale of two bytes and a zero of half a byte
        case Format::Mxfp4: return 0.5 + 1.0 / 32;
        case Format::Mxfp8: return 1 + 1.0 / 32;
        case Format::Nvfp4: return 0.5 + 1.0 / 16;
    }
    return 0;
}

constexpr bool is_quantized(Format format) {
    return format != Format::Fp32 && format != Format::Bf16 && format != Format::Fp16;
}

/// How a product with quantised weights is computed, named as the public timings name it. `Wo`: weights only, turned
/// into 16 bits on the way to the matrix units. Activations of the others are quantised by a kernel before the product,
/// except for Fp8Static, which is given them so, as is Mxfp8, which only training runs.
enum class Quantization : std::uint8_t {
    None,
    Fp8,
    Fp8Block,
    Fp8Static,
    Int8Wo,
    Int8Sq,
    Int4Wo,
    Nvfp4,
    W4A16Mxfp4,
    W4A8Mxfp4Mxfp8,
    Mxfp8
};
inline constexpr std::size_t quantization_count = 11;

/// The units that multiply.
enum class Arithmetic : std::uint8_t { Half, Fp8, Int8, Fp4 };

struct QuantizationTraits {
    std::string_view name;
    Format weights, activations;
    Arithmetic arithmetic;
    bool quantizes;  ///< a kernel before the product quantises the activations
};

inline constexpr std::array<QuantizationTraits, quantization_count> quantizations{{
    {"none", Format::Bf16, Format::Bf16, Arithmetic::Half, false},
    {"fp8", Format::Fp8, Format::Fp8, Arithmetic::Fp8, true},
    {"fp8_block", Format::Fp8Block, Format::Fp8Block, Arithmetic::Fp8, true},
    {"fp8_static", Format::Fp8, Format::Fp8, Arithmetic::Fp8, false},
    {"int8_wo", Format::Int8, Format::Bf16, Arithmetic::Half, false},
    {"int8_sq", Format::Int8Sq, Format::Int8Sq, Arithmetic::Int8, true},
    {"int4_wo", Format::Int4, Format::Bf16, Arithmetic::Half, false},
    {"nvfp4", Format::Nvfp4, Format::Nvfp4, Arithmetic::Fp4, true},
    {"w4a16_mxfp4", Format::Mxfp4, Format::Bf16, Arithmetic::Half, false},
    {"w4a8_mxfp4_mxfp8", Format::Mxfp4, Format::Mxfp8, Arithmetic::Fp8, true},
    {"mxfp8", Format::Mxfp8, Format::Mxfp8, Arithmetic::Fp8, false},
}};

constexpr const QuantizationTraits& traits_of(Quantization quantization) {
    return quantizations[static_cast<std::size_t>(quantization)];
}

/// By its name; empty when there is none.
constexpr std::optional<Quantization> find_quantization(std::string_view name) {
    for (std::size_t i = 0; i < quantization_count; ++i) {
        if (quantizations[i].name == name) return static_cast<Quantization>(i);
    }
    return std::nullopt;
}

/// What engines run for such weights and activations (empty: as is usual for the weights); empty where no engine has
/// kernels for the pair.
std::optional<Quantization> quantization_of(Format weights, std::optional<Format> activations);

/// Formats that were asked for; empty: as the precision says, the cache in the precision's storage type.
struct Formats {
    std::optional<Format> weights{};  ///< of the layers' products; embedding, head, norms and router stay as they are
    std::optional<Format> activations{};  ///< of the same products; empty with `weights`: as is usual for these
    std::optional<Format> kv{};           ///< of the cache
    bool attention = true;                ///< false: weights of attention's products stay as they are too

    friend bool operator==(const Formats&, const Formats&) = default;
};

}  // namespace tilewright
