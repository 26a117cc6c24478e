// Published training runs, one a CSV row (docs/clusters.md lists the columns): a model, how it was split, and the time
// of a step. What a source does not state is left blank and means "whatever was fastest".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/shape.h"
#include "tilewright/workload.h"

namespace tilewright::read {

struct PublishedRun {
    int line = 0;
    std::string model, source, cluster;
    Shape shape;
    Workload workload;                                      ///< with its replicas
    std::int64_t global_batch = 1;                          ///< sequences
    std::vector<std::int64_t> micro_batch, virtual_stages;  ///< one each, or empty where not stated
    std::vector<Recompute> recompute;
    double iteration_s = 0;
};

Result<std::vector<PublishedRun>> read_runs(std::string_view bytes, const std::string& where);

}  // namespace tilewright::read
