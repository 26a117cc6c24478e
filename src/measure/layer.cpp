// The layer family: a whole transformer layer on one block of memory per operand set, and its check: output, input
// gradient and every weight gradient against double precision.
#include <algorithm>
#include <cmath>

#include "measure/layer_steps.h"
#include "measure/reference_device.h"
#include "tilewright/names.h"

namespace tilewright::measure {
namespace {

using namespace reference;  // NOLINT: the names of a layer's parameters

Outcome<LayerRequest> request_of(const Case& what) {
    LayerRequest r;
    Layer& l = r.shape;
    l.hidden = what.integer("hidden");
    l.heads = what.integer("heads");
    l.kv_heads = what.integer("kv_heads");
    l.head_dim = what.integer("head_dim");
    l.ffn = what.integer("ffn");
    l.mlp = find_named<MlpKind>(what.word("mlp")).value_or(MlpKind::Plain);
    l.norm = find_named<NormKind>(what.word("norm")).value_or(NormKind::Layer);
    l.block = find_named<BlockForm>(what.word("block")).value_or(BlockForm::Sequential);
    l.batch = what.integer("batch");
    l.seq = what.integer("seq");
    r.type = find_named<Precision>(what.word("precision")).value_or(Precision::Bf16);
    r.runtime = find_named<Runtime>(what.word("runtime")).value_or(Runtime::Compiled);
    r.attention = find_named<AttentionBackend>(what.word("attention")).value_or(AttentionBackend::Auto);
    r.decode = what.word("phase") == "decode";
    r.train = what.word("pass") == "train" && what.word("phase") == "train";
    if (std::min({l.hidden, l.heads, l.kv_heads, l.ffn, l.batch, l.seq}) < 1) return unsupported("a dimension is 0");
    if (l.head_dim == 0 && l.hidden % l.heads != 0) return unsupported("heads must divide hidden");
    if (l.head_dim == 0) l.head_dim = l.hidden / l.heads;
    if (l.heads % l.kv_heads != 0) return unsupported("kv_heads must divide heads");
    const std::int64_t ranks = what.integer("tp");
    if (ranks < 1 || l.heads % ranks != 0 || l.ffn % ranks != 0) return unsupported("tp must divide heads and ffn");
    r.emulated = ranks > 1;
    l.heads /= ranks;
    l.ffn /= ranks;
    l.kv_heads = std::max<std::int64_t>(1, l.kv_heads / ranks);
    if (l.rotary() && l.head_dim % 2 != 0) return unsupported("rotary positions need an even head size");
    return r;
}

/// The standard deviation that keeps activations near 1: one over the root of the inputs for matrices.
double weight_scale(const Layer& l, int weight) {
    switch (weight) {
        case Qkv:
        case Up: return 1.0 / std::sqrt(static_cast<double>(l.hidden));
        case Proj: return 1.0 / std::sqrt(static_cast<double>(l.q_width()));
        case Down: return 1.0 / std::sqrt(static_cast<double>(l.ffn));
        default: return 1.0;
    }
}

class LayerOp final : public Runnable {
public:
    Status set_up(const LayerRequest& request, Arena& arena) {
        Outcome<std::unique_ptr<LayerPlan>> plan = plan_layer(request, shared_);
        if (!plan) return plan.fault();
        plan_ = std::move(*plan);
        TW_TRY(take_shared(arena));
        const std::size_t set_bytes = plan_->memory.bytes;
        const int copies = set_bytes >= 3 * arena.l2_bytes() ? 1 : arena.copies_for(set_bytes);
        for (int copy = 0; copy < copies; ++copy) {
            const Outcome<void*> set = arena.scratch(set_bytes);
            if (!set) return set.fault();
            sets_.push_back(static_cast<std::byte*>(*set));
            TW_TRY(fill(sets_.back(), static_cast<unsigned>(copy)));
        }
        return measure::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }

    Status launch(cudaStream_t stream, int copy) override {
        for (const Step& step : plan_->steps) TW_TRY(step(sets_[static_cast<std::size_t>(copy)], stream));
        return Done{};
    }

    int copies() const override { return static_cast<int>(sets_.size()); }
    Fields facts() const override {
        Fields facts = plan_->facts;
        if (plan_->request.emulated) facts.emplace_back("emulated", "one rank's shard, without its collectives");
        return facts;
    }
    double flops() const override { return plan_->flops; }

    double bytes() const override {
        const LayerMemory& m = plan_->memory;
        std::size_t total = m.x.bytes + m.y.bytes + m.k_cache.bytes + m.v_cache.bytes + m.grad_y.bytes + m.grad_x.bytes;
        for (const Place& weight : m.weight) total += weight.bytes;
        for (const Place& gradient : m.gradient) total += gradient.bytes;
        return static_cast<double>(total);
    }

    Outcome<double> check(unsigned seed) override {
        const LayerRequest& r = plan_->request;
        const LayerMemory& m = plan_->memory;
        TW_TRY(poison(sets_[0], m.bytes));
        std::vector<Vector> weights;
        for (int w = 0; w < layer_weights; ++w) {
            weights.push_back(random_values(weight_size(r.shape, w), r.type, seed + 10 + static_cast<unsigned>(w),
                                            weight_scale(r.shape, w)));
            if (!weights.back().empty()) TW_TRY(put(place_of(w), weights.back()));
        }
        const std::int64_t count = r.shape.tokens() * r.shape.hidden;
        const Vector x = random_values(count, r.type, seed);
        const Vector grad_y = r.train ? random_values(count, r.type, seed + 1) : Vector();
        LayerResult expected = run_layer(r.shape, weights, x, grad_y);
        if (r.decode) {
            TW_TRY(put_cache(expected.qkv));
            expected.y = last_rows(expected.y, r.shape.hidden, 0, r.shape.hidden);
        }
        TW_TRY(put(m.x, r.decode ? last_rows(x, r.shape.hidden, 0, r.shape.hidden) : x));
        if (r.train) TW_TRY(put(m.grad_y, grad_y));
        TW_TRY(launch(nullptr, 0));
        TW_TRY(measure::check(cudaDeviceSynchronize(), "layer"));
        return worst_error(expected);
    }

private:
    const Place& place_of(int weight) const { return plan_->memory.weight[static_cast<std::size_t>(weight)]; }

    Status take_shared(Arena& arena) {
        const LayerRequest& r = plan_->request;
        const auto take = [&](auto*& into, std::size_t bytes) -> Status {
            const Outcome<void*> memory = arena.scratch(std::max<std::size_t>(bytes, 256));
            if (!memory) return memory.fault();
            into = static_cast<std::remove_reference_t<decltype(into)>>(*memory);
            return Done{};
        };
        const std::int64_t widest = std::max({r.shape.hidden, r.shape.up_width(), r.shape.qkv_width()});
        TW_TRY(take(shared_->workspace, matmul_workspace_bytes));
        TW_TRY(take(shared_->partials, partial_bytes(widest)));
        TW_TRY(take(shared_->angles, static_cast<std::size_t>(r.shape.seq * r.shape.head_dim) * sizeof(float)));
        TW_TRY(fill_rotary_table(shared_->angles, r.shape.seq, r.shape.head_dim, nullptr));
        TW_TRY(take(shared_->attention, plan_->attention->scratch_bytes()));
        TW_TRY(plan_->attention->prepare(shared_->attention));
        if (!r.train) return Done{};
        TW_TRY(take(shared_->attention_backward, plan_->attention_backward->scratch_bytes()));
        return plan_->attention_backward->prepare(shared_->attention_backward);
    }

    /// Weights at the scale of a trained layer, so that power and sparsity are those of real data.
    Status fill(std::byte* set, unsigned copy) const {
        const LayerRequest& r = plan_->request;
        const LayerMemory& m = plan_->memory;
        std::uint64_t seed = 100 * copy;
        const auto random = [&](const Place& place, double scale) {
            const std::size_t count = place.bytes / static_cast<std::size_t>(element_bytes(r.type));
            return fill_random(set + place.offset, count, r.type, ++seed, static_cast<float>(scale));
        };
        for (int w = 0; w < layer_weights; ++w) TW_TRY(random(place_of(w), weight_scale(r.shape, w)));
        for (const Place* place : {&m.x, &m.grad_y, &m.k_cache, &m.v_cache}) TW_TRY(random(*place, 1.0));
        return Done{};
    }

    Status put(const Place& place, const Vector& values) const {
        return upload(values, plan_->request.type, sets_[0] + place.offset);
    }

    /// Columns [start, start + width) of the last token of each sequence.
    Vector last_rows(const Vector& rows, std::int64_t row_width, std::int64_t start, std::int64_t width) const {
        const Layer& l = plan_->request.shape;
        Vector last;
        for (std::int64_t b = 1; b <= l.batch; ++b) {
            const auto begin = rows.begin() + (b * l.seq - 1) * row_width + start;
            last.insert(last.end(), begin, begin + width);
        }
        return last;
    }

    /// The keys and values of all tokens but the last, whose places stay poisoned until the layer appends them.
    Status put_cache(const Vector& qkv) const {
        const LayerRequest& r = plan_->request;
        const Layer& l = r.shape;
        const std::int64_t width = r.kv_width();
        const auto last = [&](std::int64_t token) { return token % l.seq == l.seq - 1; };
        for (const auto& [place, start] :
             {std::pair(plan_->memory.k_cache, l.q_width()), {plan_->memory.v_cache, l.q_width() + width}}) {
            Vector cache(static_cast<std::size_t>(l.tokens() * width), std::nan(""));
            for (std::int64_t token = 0; token < l.tokens(); ++token) {
                if (last(token)) continue;
                const auto from = qkv.begin() + token * l.qkv_width() + start;
                std::copy(from, from + width, cache.begin() + token * width);
            }
            TW_TRY(put(place, cache));
        }
        return Done{};
    }

    Outcome<double> worst_error(const LayerResult& expected) const {
        const LayerMemory& m = plan_->memory;
        double worst = 0.0;
        const auto compare = [&](const Place& place, const Vector& want) -> Status {
            if (want.empty()) return Done{};
            const Precision type = plan_->request.type;
            const Outcome<Vector> got = download(sets_[0] + place.offset, static_cast<std::int64_t>(want.size()), type);
            if (!got) return got.fault();
            worst = std::max(worst, relative_error(*got, want));
            return Done{};
        };
        TW_TRY(compare(m.y, expected.y));
        TW_TRY(compare(m.grad_x, expected.grad_x));
        for (std::size_t w = 0; w < expected.gradients.size(); ++w) {
            TW_TRY(compare(m.gradient[w], expected.gradients[w]));
        }
        return worst;
    }

    std::shared_ptr<LayerShared> shared_ = std::make_shared<LayerShared>();
    std::unique_ptr<LayerPlan> plan_;
    std::vector<std::byte*> sets_;
};

}  // namespace

Outcome<std::unique_ptr<Runnable>> make_layer(const Case& what, Arena& arena) {
    const Outcome<LayerRequest> request = request_of(what);
    if (!request) return request.fault();
    auto op = std::make_unique<LayerOp>();
    TW_TRY(op->set_up(*request, arena));
    return std::unique_ptr<Runnable>(std::move(op));
}

}  // namespace tilewright::measure
