// A cluster: which GPU, how many share a node, what joins them and what joins nodes. It changes a device's node and
// network and nothing else, so that prices need not know of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tilewright/device.h"

namespace tilewright {

struct Cluster {
    std::string name;  ///< "dgx-h100"
    std::string full_name;
    std::string source;
    std::string gpu;  ///< a device's name
    std::int64_t node_size = 8;
    std::string link;
    BytesPerSecond link_bandwidth;  ///< one direction, of one GPU
    Network network;
    std::optional<double> price_per_gpu_hour;  ///< list price, where the source states one

    friend bool operator==(const Cluster&, const Cluster&) = default;
};

Problems validate(const Cluster& cluster);

/// The GPU as it stands in that cluster.
Device in_cluster(Device device, const Cluster& cluster);

}  // namespace tilewright
