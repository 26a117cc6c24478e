// One attention kernel ready to execute: the graph, the engine that the library's heuristic puts first and can build,
// and the memory it needs besides the operands.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <span>

#include "measure/attention_graph.h"
#include "measure/fault.h"
#include "tilewright/sample.h"

namespace tilewright::measure {

/// Device pointers of the operands by port.
using Bindings = std::span<const std::pair<Port, void*>>;

/// An execution plan; executing it only enqueues.
class AttentionPlan {
public:
    /// A refusal of the library is unsupported(reason).
    static Outcome<std::unique_ptr<AttentionPlan>> make(const Attention& op);

    /// Bytes to be given to `prepare`: the library's workspace, sums in fp32 and sequence lengths.
    std::size_t scratch_bytes() const { return scratch_bytes_; }
    /// Takes its scratch memory (aligned to 256 bytes) and fills in what is constant. Synchronizes.
    Status prepare(void* scratch);
    Status execute(Bindings operands, cudaStream_t stream) const;
    Fields facts() const { return facts_; }

private:
    AttentionPlan() = default;
    Status choose();
    void describe_engine(const Descriptor& config);
    void place_scratch();

    Attention op_;
    cudnnHandle_t handle_ = nullptr;  ///< one for the program
    AttentionGraph graph_;
    Descriptor plan_;
    Fields facts_;
    std::size_t workspace_bytes_ = 0;
    std::size_t scratch_bytes_ = 0;
    std::vector<std::pair<Port, std::size_t>> placed_;  ///< ports in scratch memory, by offset
    std::byte* scratch_ = nullptr;
};

}  // namespace tilewright::measure
