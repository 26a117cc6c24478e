// Which kernels' intervals an op is priced by.
#include "tilewright/cost.h"

namespace tilewright {

KernelClass class_of(const Gemm& gemm) {
    if (gemm.precision == Precision::Fp8) return KernelClass::GemmFp8;
    if (gemm.precision == Precision::Tf32) return KernelClass::GemmTf32;
    const int bytes = row_bytes(gemm);
    const bool batched = gemm.batch > 1;
    if (bytes >= 16) return batched ? KernelClass::Batched : KernelClass::Gemm;
    if (bytes >= 4) return batched ? KernelClass::Batched8 : KernelClass::Gemm8;
    return batched ? KernelClass::Batched2 : KernelClass::Gemm2;
}

KernelClass class_of(const Attention& attention) {
    if (attention.pass == AttentionPass::Backward) return KernelClass::AttentionBackward;
    const bool decode = attention.q_len == 1 && attention.kv_len > 1;
    return decode ? KernelClass::AttentionDecode : KernelClass::AttentionForward;
}

KernelClass class_of(const Stream& stream) {
    if (stream.form != StreamForm::Fused) return KernelClass::EagerStream;
    switch (kin_of(stream.kind)) {
        case StreamKind::Norm:
        case StreamKind::NormBackward:
        case StreamKind::Columns:
        case StreamKind::Softmax:
        case StreamKind::Loss:
        case StreamKind::LossGradient: return KernelClass::RowStream;
        default: return KernelClass::Stream;
    }
}

}  // namespace tilewright
