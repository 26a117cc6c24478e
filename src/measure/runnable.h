// The interface between what is run and how it is timed. A family (gemm, attention, stream) turns a Case into
// a Runnable; the timing policy only launches it. Families never time, synchronize, exit or print.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "measure/arena.h"
#include "measure/case.h"
#include "measure/fault.h"

namespace tilewright::measure {

/// One op ready to run on device memory of the arena.
class Runnable {
public:
    virtual ~Runnable() = default;

    /// Enqueues the op once on operand set `copy` (0 <= copy < copies()). Is captured into a CUDA graph, so it must not
    /// allocate, synchronize or touch another stream.
    virtual Status launch(cudaStream_t stream, int copy) = 0;

    /// Operand sets to rotate over, so that together they exceed L2 several times (see Arena::copies_for).
    virtual int copies() const = 0;

    /// What the library chose, in order: algorithm, tile, stages, cluster, split_k, waves, workspace_bytes, kernel, …
    virtual Fields facts() const { return {}; }

    virtual double flops() const = 0;  ///< of one launch
    virtual double bytes() const = 0;  ///< of one launch: each input read once, each output written once

    /// Runs on fresh random inputs with poisoned outputs and gives ||out - ref|| / ||ref|| against a double-precision
    /// reference on the CPU. Only called with --check, on small sizes; may synchronize.
    virtual Outcome<double> check(unsigned seed) {
        static_cast<void>(seed);
        return unsupported("no reference for this op");
    }
};

/// The op that a case describes, read by the codec.
template <class Work>
Outcome<Work> work_of(const Case& what) {
    const Result<Described> described = decode(*find_op_kind(what.op), what.sizes, {what.op});
    if (!described) return unsupported(described.problems().front().what);
    return std::get<Work>(described->work);
}

Outcome<std::unique_ptr<Runnable>> make_gemm(const Case& what, Arena& arena);
Outcome<std::unique_ptr<Runnable>> make_attention(const Case& what, Arena& arena);
Outcome<std::unique_ptr<Runnable>> make_stream(const Case& what, Arena& arena);
Outcome<std::unique_ptr<Runnable>> make_bandwidth(const Case& what, Arena& arena);
Outcome<std::unique_ptr<Runnable>> make_launch(const Case& what, Arena& arena);

/// Library versions for the run's header ("cublaslt" -> "13.1.0", "cudnn" -> "9.14.0").
Fields gemm_versions();
Fields attention_versions();

}  // namespace tilewright::measure
