// Which rank this process is, from the variables that launchers set: torchrun (RANK, WORLD_SIZE, LOCAL_RANK), Open MPI
// (OMPI_COMM_WORLD_…) and Slurm (SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID). Without any, one process has all GPUs.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tilewright/result.h"

namespace tilewright::measure {

struct Ranks {
    int world = 1;
    int rank = 0;
    int local = 0;        ///< which GPU of its node
    int on_node = 0;      ///< processes of this node; 0: the launcher does not tell
    std::string meeting;  ///< MASTER_ADDR:MASTER_PORT, where ranks of several processes find each other; empty: nowhere
    std::string job;      ///< what the launcher calls this start of it; empty where it has no name
};

/// The value of a variable, or empty.
using Variable = std::function<std::optional<std::string>(const std::string& name)>;

/// A variable of the environment.
std::optional<std::string> environment(const std::string& name);

/// The file of one rank: --out itself for the first, with .RANK behind it for the others.
std::string file_of_rank(const std::string& out, const Ranks& ranks);

/// Ranks of a process among several; one of one where no launcher speaks.
Result<Ranks> find_ranks(const Variable& variable);

/// The same for ranks that must talk to each other: without a place to meet they are a problem.
Result<Ranks> find_meeting_ranks(const Variable& variable);

}  // namespace tilewright::measure
