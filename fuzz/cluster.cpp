// Any bytes as a cluster: what is read has GPUs.
#include "target.h"
#include "tilewright/read.h"

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto cluster = read_cluster(fuzz::text(data, size), "fuzz.toml");
    if (!cluster) fuzz::check(cluster.problems());
    if (cluster) fuzz::require(cluster->node_size > 0 && !cluster->gpu.empty());
    return 0;
}
