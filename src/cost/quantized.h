// The time of a product with quantised weights by its law, without a profile around it: what the pricer and the fit
// share.
#pragma once

#include <algorithm>
#include <array>

#include "tilewright/cost.h"
#include "tilewright/serving_kernels.h"

namespace tilewright {

/// What L2 held when such products were timed with rotated weights: of those of TensorRT's plugins nothing.
inline Reuse timed_reuse(Quantization way) {
    const bool plugin = way == Quantization::Int8Wo || way == Quantization::Int8Sq || way == Quantization::Int4Wo;
    return plugin ? Reuse::Input : Reuse::Rotated;
}

/// A tile of C; no rows where a library tries its tiles.
struct ProductTile {
    double m = 0.0, n = 0.0;
};

/// A product as its law sees it, times in microseconds.
struct QuantizedProduct {
    QuantizedProduct(const Gemm& gemm, const Device& device);

    double m, n, k, batch;
    double units;
    double step;           ///< elements of k in a step
    double flop_us;        ///< of one FLOP on one unit at the data sheet's rate
    double traffic_us;     ///< of the bytes that come from memory, at the data sheet's bandwidth
    double pass_us;        ///< of A read in 16 bits and written in 8
    double spill_us;       ///< of what L2 cannot hold of A, at the data sheet's bandwidth
    double part_us;        ///< of C written and read in four bytes
    double arithmetic_us;  ///< of all FLOPs on all units
    ProductTile chosen;    ///< by the library's table
    bool quantizes;
};

using ProductFeatures = std::array<float, product_feature_count>;
ProductFeatures features_of(const QuantizedProduct& product);

/// The same by its law, and what it is made of.
struct QuantizedTime {
    double total;
    double physics;          ///< of that, before what was learnt
    double compute, memory;  ///< of the busiest unit; of the memory
    double waiting;          ///< of launches, filling and quantising
    double tile_m, tile_n, split, waves;
};

/// What bounds it, and the time that no kernel can beat.
Bound bound_of(const QuantizedTime& time);
inline double roofline_us(const QuantizedProduct& product) {
    return std::max(product.arithmetic_us, product.traffic_us);
}

QuantizedTime time_of(const QuantizedProduct& product, const ProductLaw& law);

}  // namespace tilewright
