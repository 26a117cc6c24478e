// What torch.compile does around a product. One whose operands have no whole 16-byte rows is padded where that is
// faster (torch/_inductor/fx_passes/pad_mm.py times both ways); only some operands cost a copy then: activations are
// written padded by the kernel that makes them, and the gradient that dX copied serves dW, whose result is copied out
// of its padded rows. And a bias is copied into a result whose rows were widened, because no epilogue adds it there:
// the product accumulates.
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

/// Whether Inductor gives the result wider rows than it has, whole multiples of 128 bytes (comprehensive_padding,
/// padding_alignment_bytes and padding_stride_threshold in torch/_inductor/config.py).
bool widens_rows(const Gemm& gemm) {
    constexpr std::int64_t threshold = 1024, alignment = 128;
    return gemm.n > threshold && gemm.n * static_cast<std::int64_t>(element_bytes(gemm.precision)) % alignment != 0;
}

/// ATen's copy into or out of a result with gaps between its rows, of which `share` comes from memory. A bias that it
/// writes into every row at 1.0 TB/s on an H200 is as if half did; a weight gradient is read whole.
Stream copy_of_result(const Gemm& gemm, double share) {
    const Bytes written{static_cast<double>(gemm.batch * gemm.m) * static_cast<double>(gemm.n) *
                        element_bytes(gemm.precision)};
    return {StreamKind::Strided, gemm.batch * gemm.m, gemm.n, share * written, written, StreamForm::Eager};
}

}  // namespace

Cost Pricer::burst(const Gemm& gemm) const {
    Cost cost = maybe_padded(gemm);
    if (gemm.bias && widens_rows(gemm)) add(cost, for_alignment(burst(copy_of_result(gemm, 0.5))));
    return cost;
}

Cost Pricer::maybe_padded(const Gemm& gemm) const {
    const Cost direct = as_it_is(gemm);
    if (!gemm.pads || gemm.grouped || row_bytes(gemm) >= word_bytes) return direct;
    Gemm whole = gemm;
    const auto word = static_cast<std::int64_t>(word_bytes / element_bytes(gemm.precision));
    for (std::int64_t Gemm::*size : {&Gemm::m, &Gemm::n, &Gemm::k}) whole.*size = ceil_div(gemm.*size, word) * word;
    Cost padded = as_it_is(whole);
    const auto add_copy = [&](std::int64_t Gemm::*rows) {
        if (whole.*rows == gemm.*rows && whole.k == gemm.k) return;
        add(padded, for_alignment(burst(copy_of(gemm, whole, rows, &Gemm::k))));
    };
    if (gemm.layout == Layout::NN) add_copy(&Gemm::m);  // the gradient
    if (gemm.layout != Layout::NT) add_copy(&Gemm::n);  // the weights
    if (padded.time >= direct.time) return direct;
    const bool has_gaps = gemm.layout == Layout::NT && whole.n != gemm.n;  // autograd keeps gradients without
    if (has_gaps) add(padded, for_alignment(burst(copy_of_result(gemm, 1.0))));
    return padded;
}

}  // namespace tilewright
