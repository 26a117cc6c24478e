// The search's proposals as promises that a GPU can check: the shapes, and what each step is said to take.
#pragma once

#include "tilewright/answer.h"

namespace tilewright {

/// A shape to be run.
struct Promise {
    std::string kind;  ///< "baseline", "one knob", …
    Prediction prediction;
    Candidate proposed;        ///< speed-up, size and loss against the baseline; nothing changed in the baseline's own
    bool recommended = false;  ///< what the search recommends
};

struct Proof {
    std::vector<Promise> promises;  ///< the baseline first
    bool compiled = false;          ///< by torch.compile
};

/// Why the plain PyTorch program cannot be what is asked: another phase or runtime, several GPUs, experts, latent
/// attention, windows, ALiBi.
Problems cannot_prove(const SearchQuestion& asked);

/// The best of each kind of a search on one GPU, each once, or those problems.
Result<Proof> prove(const SearchQuestion& asked, const SearchAnswer& answer);

}  // namespace tilewright
