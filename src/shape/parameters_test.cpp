// The closed-form counts against a second opinion: the list of tensors a checkpoint of that shape would hold.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "shape/shape_samples.h"

namespace tilewright {
namespace {

/// Walks the model as a checkpoint lists it and adds up every tensor.
class CheckpointWalk {
public:
    explicit CheckpointWalk(const Shape& shape) : shape_(shape) {
        const std::int64_t embedding = shape.embedding_dim > 0 ? shape.embedding_dim : shape.hidden;
        linear(shape.vocab, embedding, false);
        if (shape.positions == Positions::Learned) linear(shape.position_rows, shape.hidden, false);
        if (shape.embedding_dim > 0) linear(embedding, shape.hidden, false);
        if (shape.norms.embedding) norm(shape.hidden);
        for (std::int64_t layer = 0; layer < shape.layers; ++layer) walk_layer(layer);
        if (shape.norms.final) norm(shape.hidden);
        if (shape.embedding_dim > 0) linear(shape.hidden, embedding, false);
        if (!shape.tied) linear(embedding, shape.vocab, false);
        if (shape.bias.head) total_ += shape.vocab;
    }

    std::int64_t total() const { return total_; }
    std::int64_t active() const { return total_ - idle_; }

private:
    void linear(std::int64_t inputs, std::int64_t outputs, bool bias) {
        for (std::int64_t row = 0; row < outputs; ++row) total_ += inputs + (bias ? 1 : 0);
    }

    void norm(std::int64_t width) { total_ += shape_.norms.kind == NormKind::Layer ? width + width : width; }

    void mlp(std::int64_t width) {
        linear(shape_.hidden, width, shape_.bias.mlp);
        if (shape_.mlp == MlpKind::Gated) linear(shape_.hidden, width, shape_.bias.mlp);
        linear(width, shape_.hidden, shape_.bias.mlp);
    }

    void latent_attention(const Latent& latent) {
        const std::int64_t query_width = shape_.heads * (latent.nope_dim + latent.rope_dim);
        if (latent.q_rank > 0) {
            linear(shape_.hidden, latent.q_rank, shape_.bias.qkv);
            norm(latent.q_rank);
        }
        linear(latent.q_rank > 0 ? latent.q_rank : shape_.hidden, query_width, false);
        linear(shape_.hidden, latent.kv_rank + latent.rope_dim, shape_.bias.qkv);
        norm(latent.kv_rank);
        for (std::int64_t head = 0; head < shape_.heads; ++head) {
            linear(latent.kv_rank, latent.nope_dim, false);
            linear(latent.kv_rank, latent.v_dim, false);
        }
        linear(shape_.heads * latent.v_dim, shape_.hidden, shape_.bias.projection);
    }

    void attention() {
        for (std::int64_t head = 0; head < shape_.heads; ++head)
            linear(shape_.hidden, shape_.head_dim, shape_.bias.qkv);
        for (std::int64_t head = 0; head < shape_.kv_heads; ++head) {
            linear(shape_.hidden, shape_.head_dim, shape_.bias.qkv);
            linear(shape_.hidden, shape_.head_dim, shape_.bias.qkv);
        }
        linear(shape_.heads * shape_.head_dim, shape_.hidden, shape_.bias.projection);
    }

    void expert_mlp(const Experts& experts) {
        for (std::int64_t expert = 0; expert < experts.count; ++expert) {
            const std::int64_t before = total_;
            mlp(experts.ffn);
            if (expert >= experts.active) idle_ += total_ - before;
        }
        if (experts.shared_ffn > 0) mlp(experts.shared_ffn);
        linear(shape_.hidden, experts.count, experts.router_bias);
    }

    void walk_layer(std::int64_t layer) {
        for (int i = 0; i < shape_.norms.per_layer; ++i) norm(shape_.hidden);
        if (shape_.latent) latent_attention(*shape_.latent);
        if (!shape_.latent) attention();
        if (shape_.sinks) total_ += shape_.heads;
        if (shape_.norms.query_key) {
            norm(shape_.norms.query_key_whole ? shape_.heads * shape_.head_dim : shape_.head_dim);
            norm(shape_.norms.query_key_whole ? shape_.kv_heads * shape_.head_dim : shape_.head_dim);
        }
        const std::int64_t after = shape_.experts ? layer - shape_.experts->dense_layers : -1;
        const bool sparse = after >= 0 && (after + 1) % shape_.experts->every == 0;
        if (sparse) expert_mlp(*shape_.experts);
        if (!sparse) mlp(shape_.ffn);
    }

    const Shape& shape_;
    std::int64_t total_ = 0;
    std::int64_t idle_ = 0;
};

TEST(Parameters, OfGpt2BrokenDownByPart) {
    const ParameterCount count = count_parameters(gpt2());
    EXPECT_EQ(count.embedding, 50257 * 768 + 1024 * 768);
    EXPECT_EQ(count.attention, 12 * (4 * 768 * 768 + 4 * 768));
    EXPECT_EQ(count.mlp, 12 * (8 * 768 * 768 + 5 * 768));
    EXPECT_EQ(count.norms, 25 * 2 * 768);
    EXPECT_EQ(count.head, 0);
    EXPECT_EQ(count.total, 124439808);  // openai-community/gpt2
    EXPECT_EQ(count.active, count.total);
}

TEST(Parameters, OfDeepSeekV2LiteWithExpertsAndLatentAttention) {
    const ParameterCount count = count_parameters(deepseek_v2_lite());
    EXPECT_EQ(count.total, 15706484224);  // deepseek-ai/DeepSeek-V2-Lite
    EXPECT_EQ(count.total - count.active, std::int64_t{26} * 58 * 3 * 2048 * 1408);
}

TEST(Parameters, AttentionWidthNeedNotBeHidden) {
    Shape shape = gpt2();
    shape.head_dim = 80;
    EXPECT_EQ(attention_width(shape), 960);
}

RC_GTEST_PROP(ParametersLaw, EqualTheTensorsOfACheckpoint, ()) {
    const Shape shape = *any_small_shape();
    RC_ASSERT(validate(shape).empty());
    const CheckpointWalk walk(shape);
    const ParameterCount count = count_parameters(shape);
    RC_ASSERT(count.total == walk.total());
    RC_ASSERT(count.active == walk.active());
    RC_ASSERT(count.total == count.embedding + count.attention + count.mlp + count.norms + count.head);
}

RC_GTEST_PROP(ParametersLaw, EveryLayerAddsTheSame, ()) {
    Shape shape = *any_small_shape();
    std::int64_t total[3];
    for (std::int64_t& each : total) {
        each = count_parameters(shape).total;
        shape.layers += shape.experts ? shape.experts->every : 1;
    }
    RC_ASSERT(total[2] - total[1] == total[1] - total[0]);
    RC_ASSERT(total[1] > total[0]);
}

}  // namespace
}  // namespace tilewright
