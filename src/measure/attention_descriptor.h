// cuDNN's backend descriptors with an owner, and its refusals in words.
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <string>
#include <utility>

namespace tilewright::measure {

/// Owns one cuDNN backend descriptor.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(cudnnBackendDescriptor_t raw) : raw_(raw) {}
    Descriptor(Descriptor&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~Descriptor() {
        if (raw_ != nullptr) cudnnBackendDestroyDescriptor(raw_);
    }

    cudnnBackendDescriptor_t get() const { return raw_; }

private:
    cudnnBackendDescriptor_t raw_ = nullptr;
};

/// Remembers the first call that cuDNN refused, in words; later calls are skipped by whoever asks `ok()`.
struct Refusal {
    std::string reason;

    bool ok() const { return reason.empty(); }
    void note(cudnnStatus_t status, const char* call);
};

inline void Refusal::note(cudnnStatus_t status, const char* call) {
    if (status == CUDNN_STATUS_SUCCESS || !ok()) return;
    char detail[512] = {};
    cudnnGetLastErrorString(detail, sizeof detail);
    reason = std::string(call) + ": " + cudnnGetErrorString(status);
    if (detail[0] != '\0') reason += std::string(" (") + detail + ")";
}

/// Creates a descriptor; empty after a refusal.
inline Descriptor create(cudnnBackendDescriptorType_t type, Refusal& refusal) {
    cudnnBackendDescriptor_t raw = nullptr;
    if (refusal.ok()) refusal.note(cudnnBackendCreateDescriptor(type, &raw), "create descriptor");
    return Descriptor(raw);
}

/// Sets one attribute of `elements.first` elements.
inline void set(const Descriptor& descriptor, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                std::pair<std::int64_t, const void*> elements, Refusal& refusal) {
    if (!refusal.ok()) return;
    refusal.note(cudnnBackendSetAttribute(descriptor.get(), name, type, elements.first, elements.second),
                 "set attribute");
}

inline void set(const Descriptor& descriptor, cudnnBackendAttributeName_t name, const Descriptor& value,
                Refusal& refusal) {
    const cudnnBackendDescriptor_t raw = value.get();
    set(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, {1, &raw}, refusal);
}

inline void finalize(const Descriptor& descriptor, Refusal& refusal) {
    if (refusal.ok()) refusal.note(cudnnBackendFinalize(descriptor.get()), "finalize");
}

}  // namespace tilewright::measure
