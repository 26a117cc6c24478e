// Thin calls of the backend API.
#include "measure/attention_descriptor.h"

namespace tilewright::measure {

void Refusal::note(cudnnStatus_t status, const char* call) {
    if (status == CUDNN_STATUS_SUCCESS || !ok()) return;
    char detail[512] = {};
    cudnnGetLastErrorString(detail, sizeof detail);
    reason = std::string(call) + ": " + cudnnGetErrorString(status);
    if (detail[0] != '\0') reason += std::string(" (") + detail + ")";
}

Descriptor create(cudnnBackendDescriptorType_t type, Refusal& refusal) {
    cudnnBackendDescriptor_t raw = nullptr;
    if (refusal.ok()) refusal.note(cudnnBackendCreateDescriptor(type, &raw), "create descriptor");
    return Descriptor(raw);
}

void set(const Descriptor& descriptor, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
         std::pair<std::int64_t, const void*> elements, Refusal& refusal) {
    if (!refusal.ok()) return;
    refusal.note(cudnnBackendSetAttribute(descriptor.get(), name, type, elements.first, elements.second),
                 "set attribute");
}

void set(const Descriptor& descriptor, cudnnBackendAttributeName_t name, const Descriptor& value, Refusal& refusal) {
    const cudnnBackendDescriptor_t raw = value.get();
    set(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, {1, &raw}, refusal);
}

void finalize(const Descriptor& descriptor, Refusal& refusal) {
    if (refusal.ok()) refusal.note(cudnnBackendFinalize(descriptor.get()), "finalize");
}

}  // namespace tilewright::measure
