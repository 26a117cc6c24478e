// What a step is made of before pipeline stages, replicas and recomputation divide it: one micro-batch through all
// layers on one GPU, priced once for every split over tensor, context and expert ranks.
#pragma once

#include "tilewright/host.h"
#include "tilewright/plan.h"

namespace tilewright::planning {

/// Seconds of one micro-batch, by who takes them.
struct Spent {
    double compute = 0, tensor = 0, context = 0, expert = 0;
    double hidden = 0;          ///< of the tensor ranks' exchange, beside products
    double hidden_context = 0;  ///< of the context ranks', beside attention

    double all() const { return compute + tensor + context + expert; }
};

Spent operator+(const Spent& a, const Spent& b);
Spent operator*(const Spent& a, double factor);

struct Pieces {
    MemoryPieces memory;
    Spent forward, backward;                   ///< of all layers
    std::array<Spent, recompute_count> again;  ///< of the forward kernels that each way of recomputation repeats
    Spent embedding, head;                     ///< both passes
    double flops = 0;                          ///< of the model, one micro-batch, all GPUs that share it
    double computed_flops = 0;                 ///< by one of these GPUs, recomputation apart
    std::array<double, recompute_count> again_flops{};  ///< by one of these GPUs
    double energy_j = 0;                                ///< of one micro-batch, above idle
    double hand_over_bytes = 0;                         ///< from one pipeline stage to the next
    Interval within;                                    ///< the ends of the kernels' interval over their time
    std::array<HostLoad, recompute_count> host{};       ///< of one micro-batch, by what is computed again
    Evidence evidence = Evidence::Assumed;
};

/// The workload's stages, replicas, micro-batches and recomputation are ignored.
Pieces price_pieces(const Shape& shape, const Workload& workload, const Pricer& pricer);

/// The step of these pieces under all that the workload says.
Step step_of(const Pieces& pieces, const Workload& workload, const Pricer& pricer);

}  // namespace tilewright::planning
