// Data-sheet facts of a GPU and its node.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tilewright/ops.h"
#include "tilewright/quantity.h"
#include "tilewright/result.h"
#include "tilewright/workload.h"

namespace tilewright {

enum class Architecture { Volta, Turing, Ampere, Ada, Hopper, Blackwell, Cdna2, Cdna3, Cdna4 };
template <>
inline constexpr std::array<NameTable<Architecture>, 9> names<Architecture>{{{"volta", Architecture::Volta},
                                                                             {"turing", Architecture::Turing},
                                                                             {"ampere", Architecture::Ampere},
                                                                             {"ada", Architecture::Ada},
                                                                             {"hopper", Architecture::Hopper},
                                                                             {"blackwell", Architecture::Blackwell},
                                                                             {"cdna2", Architecture::Cdna2},
                                                                             {"cdna3", Architecture::Cdna3},
                                                                             {"cdna4", Architecture::Cdna4}}};

/// What joins nodes: one adapter's share of it for each GPU.
struct Network {
    std::string kind = "InfiniBand NDR";
    BytesPerSecond bandwidth{50e9};  ///< one direction, per GPU: 400 Gb/s, as in DGX H100 and its successors

    friend bool operator==(const Network&, const Network&) = default;
};

/// Data-sheet facts. Peaks are dense, with fp32 accumulation, at the boost clock; empty where the part has no such
/// mode.
struct Device {
    std::string name;       ///< "h200"
    std::string full_name;  ///< "NVIDIA H200 SXM 141GB"
    std::string source;
    Architecture architecture = Architecture::Ampere;
    std::int64_t units = 0;  ///< SMs, or CUs
    Hertz boost_clock;
    Hertz base_clock;
    std::array<std::optional<FlopsPerSecond>, precision_count> peak;
    std::optional<FlopsPerSecond> int8_peak{}, fp4_peak{};  ///< of modes that only quantised products use
    BytesPerSecond bandwidth;
    Bytes l2;
    Bytes shared_per_unit;
    Bytes memory;
    std::optional<Bytes> usable_memory{};  ///< that the driver leaves to programs; empty: by a rule, see `room`
    Watts power;
    std::string link;               ///< "NVLink 4", "PCIe 4 x16"
    BytesPerSecond link_bandwidth;  ///< one direction, all links of one GPU together
    std::int64_t node_size = 8;     ///< GPUs that share that link
    std::int64_t link_peers = 0;    ///< where links join pairs, how many others a GPU has some to; 0: a switch
    Network network;                ///< beyond the node
    double host_scale = 1.0;        ///< how many times longer a serving engine takes on its node's own host
    std::string relative;           ///< whose profile is carried over where this part has none; empty: nobody's
};

Problems validate(const Device& device);

/// Memory that the driver leaves to programs; where nothing is known of it 63 of 64 parts.
Bytes usable(const Device& device);

/// Memory that a step may take: what is usable, less a reserve of 2% for what is not foreseen.
Bytes room(const Device& device);

/// Whether two data sheets give the same price of every kernel: all numbers equal but those of links and networks.
bool same_chip(const Device& a, const Device& b);

/// How products with quantised weights run here: as asked, or with weights only where the part lacks the units.
Quantization runs_as(Quantization asked, const Device& device);
/// The workload in these formats: where units are missing, weights stay as they are and activations in 16 bits.
Workload as_run(Workload workload, const Device& device);

/// What `auto` means on this device (PyTorch's choice): cuDNN's fused kernel for head sizes that are multiples of 8 up
/// to 256 on Hopper and later, FlashAttention-2 for other sizes up to 256 and on older parts, the unfused path beyond.
AttentionBackend resolve(AttentionBackend backend, const Device& device, std::int64_t head_dim);

}  // namespace tilewright
