// A device takes on the node and the network of a cluster.
#include "tilewright/cluster.h"

namespace tilewright {

Device in_cluster(Device device, const Cluster& cluster) {
    device.node_size = cluster.node_size;
    device.link = cluster.link;
    device.link_bandwidth = cluster.link_bandwidth;
    device.network = cluster.network;
    return device;
}

}  // namespace tilewright
