// The stream family: a Runnable that allocates, rotates, launches and checks any kind of stream kernel.
#include <algorithm>

#include "measure/reference.h"
#include "measure/runnable.h"
#include "measure/stream_kinds.h"

namespace tilewright::measure {
namespace {

std::size_t size_of(const Buffer& buffer) {
    return static_cast<std::size_t>(buffer.count) * static_cast<std::size_t>(element_bytes(buffer.type));
}

class StreamOp final : public Runnable {
public:
    StreamOp(Kernel kernel, const Request& request) : kernel_(std::move(kernel)), request_(request) {}

    Status set_up(Arena& arena) {
        std::size_t set_bytes = 0;
        for (const Buffer& buffer : kernel_.buffers) set_bytes += buffer.shared ? 0 : size_of(buffer) + 256;
        for (const Buffer& buffer : kernel_.buffers) {
            Outcome<void*> memory = buffer.shared ? allocate(arena, buffer, 0) : Outcome<void*>(nullptr);
            if (!memory) return memory.fault();
            shared_.push_back(*memory);
        }
        const int copies = arena.copies_for(set_bytes);
        for (int copy = 0; copy < copies; ++copy) {
            sets_.emplace_back();
            for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
                const Buffer& buffer = kernel_.buffers[i];
                Outcome<void*> memory = buffer.shared ? Outcome<void*>(shared_[i]) : allocate(arena, buffer, copy);
                if (!memory) return memory.fault();
                sets_.back().push_back(*memory);
            }
            if (kernel_.set_up) TW_TRY(kernel_.set_up(sets_.back()));
        }
        return check_device(cudaDeviceSynchronize());
    }

    Status launch(cudaStream_t stream, int copy) override {
        return kernel_.run(sets_[static_cast<std::size_t>(copy)], stream);
    }

    int copies() const override { return static_cast<int>(sets_.size()); }

    double flops() const override { return kernel_.flops_per_element * static_cast<double>(request_.count()); }

    double bytes() const override {
        double total = 0.0;
        for (const Buffer& buffer : kernel_.buffers) total += buffer.traffic;
        return total;
    }

    Outcome<double> check(unsigned seed) override {
        Values values;
        for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
            Outcome<Vector> filled = prepare(kernel_.buffers[i], sets_[0][i], seed + static_cast<unsigned>(i));
            if (!filled) return filled.fault();
            values.push_back(std::move(*filled));
        }
        if (kernel_.set_up) TW_TRY(kernel_.set_up(sets_[0]));
        TW_TRY(launch(nullptr, 0));
        TW_TRY(check_device(cudaDeviceSynchronize()));
        double worst = 0.0;
        for (const auto& [index, expected] : kernel_.expect(values)) {
            const Buffer& buffer = kernel_.buffers[index];
            if (buffer.count == 0) continue;
            const Outcome<Vector> got = reference::download(sets_[0][index], buffer.count, buffer.type);
            if (!got) return got.fault();
            worst = std::max(worst, reference::relative_error(*got, expected));
        }
        return worst;
    }

private:
    static Status check_device(cudaError_t status) { return measure::check(status, "cudaDeviceSynchronize"); }

    /// Inputs come random from the arena; what is written, and integers, are filled here.
    Outcome<void*> allocate(Arena& arena, const Buffer& buffer, int copy) const {
        const auto count = static_cast<std::size_t>(buffer.count);
        if (buffer.count == 0) return static_cast<void*>(nullptr);
        if (buffer.role == Role::Input && buffer.type == request_.e.type) return arena.input(count, buffer.type);
        Outcome<void*> memory = arena.scratch(size_of(buffer));
        if (!memory) return memory;
        if (buffer.role == Role::Tokens) {
            TW_TRY(reference::upload_tokens(
                reference::random_tokens(buffer.count, buffer.limit, static_cast<unsigned>(copy)), *memory));
        } else if (buffer.role != Role::Scratch) {
            TW_TRY(fill_random(*memory, count, buffer.type, 1, static_cast<float>(buffer.scale)));
        }
        return memory;
    }

    /// Fresh values for what is read, NaN for what is written.
    static Outcome<Vector> prepare(const Buffer& buffer, void* memory, unsigned seed) {
        if (buffer.count == 0) return Vector();
        Vector values;
        switch (buffer.role) {
            case Role::Input:
            case Role::InOut:
                values = reference::random_values(buffer.count, buffer.type, seed, buffer.scale);
                TW_TRY(reference::upload(values, buffer.type, memory));
                break;
            case Role::Tokens:
                values = reference::random_tokens(buffer.count, buffer.limit, seed);
                TW_TRY(reference::upload_tokens(values, memory));
                break;
            case Role::Output:
            case Role::Scratch: TW_TRY(poison(memory, size_of(buffer))); break;
        }
        return values;
    }

    Kernel kernel_;
    Request request_;
    Pointers shared_;  ///< by buffer; null for those that each set has of its own
    std::vector<Pointers> sets_;
};

}  // namespace

Outcome<std::unique_ptr<Runnable>> make_stream(const Case& what, Arena& arena) {
    const Outcome<StreamCall> call = work_of<StreamCall>(what);
    if (!call) return call.fault();
    const Request request{{call->precision, call->rows, call->width}, call->pass == AttentionPass::Backward};
    Kernel kernel = stream_kernel(call->kernel, what.word("form"), request);
    if (!kernel.run) return unsupported("there is no such kernel in this pass and form");
    auto op = std::make_unique<StreamOp>(std::move(kernel), request);
    TW_TRY(op->set_up(arena));
    return std::unique_ptr<Runnable>(std::move(op));
}

}  // namespace tilewright::measure
