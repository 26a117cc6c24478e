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

/// Creates a descriptor; empty after a refusal.
Descriptor create(cudnnBackendDescriptorType_t type, Refusal& refusal);
/// Sets one attribute of `count` elements.
void set(const Descriptor& descriptor, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
         std::pair<std::int64_t, const void*> elements, Refusal& refusal);
void set(const Descriptor& descriptor, cudnnBackendAttributeName_t name, const Descriptor& value, Refusal& refusal);
void finalize(const Descriptor& descriptor, Refusal& refusal);

}  // namespace tilewright::measure
