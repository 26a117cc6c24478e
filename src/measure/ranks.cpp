// The first launcher whose variables name more than one rank is believed.
#include "measure/ranks.h"

#include <cstdlib>

#include "quantity/number.h"

namespace tilewright::measure {
namespace {

struct Launcher {
    const char* rank;
    const char* world;
    const char* local;
    const char* on_node;
    const char* job;
};

constexpr Launcher launchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
     "PMIX_NAMESPACE"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE", "SLURM_JOB_ID"},
};

std::optional<int> number(const std::optional<std::string>& text) {
    const auto value = number_in<int>(text.value_or(""));
    return value && *value >= 0 ? value : std::nullopt;
}

}  // namespace

std::optional<std::string> environment(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string file_of_rank(const std::string& out, const Ranks& ranks) {
    const bool first = ranks.rank == 0;
    if (out == "-") return first ? out : "/dev/null";
    return first ? out : out + "." + std::to_string(ranks.rank);
}

Result<Ranks> find_ranks(const Variable& variable) {
    for (const Launcher& launcher : launchers) {
        const auto rank = number(variable(launcher.rank)), world = number(variable(launcher.world));
        if (!rank || !world || *world <= 1) continue;
        const auto local = number(variable(launcher.local));
        const auto host = variable("MASTER_ADDR"), port = variable("MASTER_PORT");
        if (*rank >= *world) return Problem{launcher.rank, 0, "is not below " + std::string(launcher.world), ""};
        const int on_node = number(variable(launcher.on_node)).value_or(0);
        return Ranks{*world,
                     *rank,
                     local.value_or(*rank),
                     on_node,
                     host && port ? *host + ":" + *port : "",
                     variable(launcher.job).value_or("")};
    }
    return Ranks{};
}

Result<Ranks> find_meeting_ranks(const Variable& variable) {
    Result<Ranks> ranks = find_ranks(variable);
    if (!ranks || ranks->world == 1 || !ranks->meeting.empty()) return ranks;
    return Problem{"MASTER_ADDR", 0, "or MASTER_PORT is not set, and several processes need to meet",
                   "set both to the first node's address and a free port"};
}

}  // namespace tilewright::measure
