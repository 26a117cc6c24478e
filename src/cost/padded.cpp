// A product whose operands may be copied into whole 16-byte rows first. torch.compile does so for every product with a
// narrow dimension (torch/_inductor/fx_passes/pad_mm.py): it times both ways and keeps the faster one. Only some operands
// cost a copy: activations are written padded by the kernel that makes them, and the gradient that dX copied serves dW.
#include "cost/explain.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

constexpr int word_bytes = 16;

/// A copy of `batch` matrices into larger ones; all of it is the price of alignment.
Stream copy_of(const Gemm& from, const Gemm& to, std::int64_t Gemm::*rows, std::int64_t Gemm::*columns) {
    const auto bytes = [&](const Gemm& gemm) {
        return Bytes{static_cast<double>(gemm.batch) * static_cast<double>(gemm.*rows) *
                     static_cast<double>(gemm.*columns) * element_bytes(gemm.precision)};
    };
    return {StreamKind::Pointwise, from.batch * from.*rows, from.*columns, bytes(from), bytes(to),
            StreamForm::Compiled};
}

}  // namespace

Cost Pricer::burst(const Gemm& gemm) const {
    const Cost direct = as_it_is(gemm);
    if (!gemm.pads || gemm.grouped || row_bytes(gemm) >= word_bytes) return direct;
    Gemm whole = gemm;
    const auto word = static_cast<std::int64_t>(word_bytes / element_bytes(gemm.precision));
    for (std::int64_t Gemm::*size : {&Gemm::m, &Gemm::n, &Gemm::k}) whole.*size = ceil_div(gemm.*size, word) * word;
    Cost padded = as_it_is(whole);
    const auto add_copy = [&](std::int64_t Gemm::*rows) {
        if (whole.*rows == gemm.*rows && whole.k == gemm.k) return;
        Cost copy = burst(copy_of(gemm, whole, rows, &Gemm::k));
        copy.terms = {};
        copy.terms[static_cast<std::size_t>(Term::Alignment)] = copy.time;
        add(padded, copy);
    };
    if (gemm.layout == Layout::NN) add_copy(&Gemm::m);  // the gradient
    if (gemm.layout != Layout::NT) add_copy(&Gemm::n);  // the weights
    return padded.time < direct.time ? padded : direct;
}

}  // namespace tilewright
