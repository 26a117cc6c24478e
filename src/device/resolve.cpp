// Which attention kernel PyTorch's scaled_dot_product_attention picks when nobody asks for one.
// Source: PyTorch 2.11 on an H200 (cuDNN first) and aten/native/transformers/cuda/sdp_utils.cpp.
#include "device/family.h"

namespace tilewright {
namespace {

constexpr std::int64_t largest_fused_head = 256;
constexpr std::int64_t cudnn_head_multiple = 8;

/// FlashAttention-2 needs Ampere's asynchronous copies; ROCm has its own port for the CDNA parts.
bool has_flash2(Architecture architecture) {
    return architecture != Architecture::Volta && architecture != Architecture::Turing;
}

}  // namespace

AttentionBackend resolve(AttentionBackend backend, const Device& device, std::int64_t head_dim) {
    if (backend != AttentionBackend::Auto) return backend;
    if (head_dim > largest_fused_head || !has_flash2(device.architecture)) return AttentionBackend::Unfused;
    const bool aligned = head_dim % cudnn_head_multiple == 0;
    if (has_bulk_copies(device) && aligned) return AttentionBackend::Cudnn;
    return AttentionBackend::Flash2;
}

}  // namespace tilewright
