// The library in ten lines: a shape from the catalogue, a device, one layer's training step.
#include <tilewright/answer.h>
#include <tilewright/read.h>
#include <cstdio>

int main() {
    using namespace tilewright;
    const auto shape = find_model("gpt3-2.7b");
    const auto device = find_device("h200");
    if (!shape || !device) return 2;
    const Prediction layer = predict({*shape, {}, *device, find_profile(*device), {}}, Scope::Layer);
    std::printf("one layer of %s on %s: %.0f us in %ld kernels\n", shape->name.c_str(), device->full_name.c_str(),
                in_microseconds(layer.time), static_cast<long>(layer.kernels.launches));
}
