// What a transformer is: the dimensions and the switches that decide which kernels it launches and how
// many parameters it has. A Shape is a plain value; `validate` says whether it makes sense.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/result.h"

namespace tilewright {

enum class MlpKind { Plain, Gated };
enum class BlockForm { Sequential, Parallel };
enum class NormKind { Layer, Rms };
enum class Positions { None, Learned, Rotary, Alibi };

/// A mixture of experts in place of the MLP, in every layer after the first `dense_layers`, or in one of `every`.
struct Experts {
    std::int64_t count = 0;         ///< routed experts
    std::int64_t active = 0;        ///< routed experts a token visits
    std::int64_t ffn = 0;           ///< width of one routed expert
    std::int64_t shared_ffn = 0;    ///< width of the always-on expert (all shared ones together); 0 for none
    std::int64_t dense_layers = 0;  ///< leading layers with a plain MLP of width Shape::ffn
    std::int64_t every = 1;         ///< after those, one layer in this many has experts: the last of each (Llama 4)
    bool router_bias = false;       ///< one learned correction per expert (DeepSeek-V3)

    friend bool operator==(const Experts&, const Experts&) = default;
};

/// Multi-head latent attention (DeepSeek-V2): queries and keys/values pass through low-rank projections, each with a
/// norm over its rank.
struct Latent {
    std::int64_t q_rank = 0;  ///< 0: queries are projected directly
    std::int64_t kv_rank = 0;
    std::int64_t nope_dim = 0;  ///< part of the head without positions
    std::int64_t rope_dim = 0;  ///< part of the head with rotary positions, shared by all heads on the key side
    std::int64_t v_dim = 0;

    friend bool operator==(const Latent&, const Latent&) = default;
};

/// Which linear layers add a bias vector.
struct Biases {
    bool qkv = false;
    bool projection = false;
    bool mlp = false;
    bool head = false;

    friend bool operator==(const Biases&, const Biases&) = default;
};

/// Where normalisation happens. A layer norm has a weight and a bias vector, an RMS norm a weight.
struct Norms {
    NormKind kind = NormKind::Layer;
    int per_layer = 2;       ///< 1 (one norm feeds a parallel block), 2, or 4 (before and after each half, Gemma 2)
    bool final = true;       ///< one after the last layer
    bool embedding = false;  ///< one after the embedding (BLOOM)
    bool query_key = false;  ///< one over each head of q and of k (Qwen 3)
    bool query_key_whole = false;  ///< with `query_key`: one over all heads of q together, and of k (OLMo 2)

    friend bool operator==(const Norms&, const Norms&) = default;
};

/// An architecture. Sizes are positive unless a comment says that 0 means "none".
struct Shape {
    std::string name;
    std::string source;  ///< where the numbers come from
    std::string family;  ///< the class that runs it, as `model_type` of a config.json names it; empty: not known
    std::int64_t hidden = 0;
    std::int64_t layers = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;  ///< usually hidden / heads; with `latent`, nope_dim + rope_dim
    std::int64_t ffn = 0;       ///< MLP width: the inner size of a plain MLP, one of the two halves of a gated one
    std::int64_t vocab = 0;     ///< rows of the embedding as stored, padding included
    MlpKind mlp = MlpKind::Plain;
    BlockForm block = BlockForm::Sequential;
    Positions positions = Positions::Rotary;
    std::int64_t position_rows = 0;   ///< rows of a learned position table; 0 for none
    std::int64_t embedding_dim = 0;   ///< 0: as `hidden`; otherwise projected in and out (OPT-350M)
    std::int64_t window = 0;          ///< sliding attention window in tokens; 0 for full attention
    std::int64_t windowed = 1;        ///< with a window: this many layers use it …
    std::int64_t windowed_every = 1;  ///< … of every so many, the first ones of each (Gemma 3: 5 of 6)
    bool sinks = false;               ///< one learned logit a head in the softmax of attention (gpt-oss)
    bool tied = false;                ///< the head shares the embedding's weights
    Biases bias;
    Norms norms;
    std::optional<Experts> experts;
    std::optional<Latent> latent;

    friend bool operator==(const Shape&, const Shape&) = default;
};

/// Exact parameter counts, by part.
struct ParameterCount {
    std::int64_t embedding = 0;  ///< token and position tables, embedding norm and projections
    std::int64_t attention = 0;  ///< all layers
    std::int64_t mlp = 0;        ///< all layers, experts and routers included
    std::int64_t norms = 0;      ///< all layers, query/key and latent norms and the final norm included
    std::int64_t head = 0;       ///< 0 when tied, apart from a bias
    std::int64_t total = 0;
    std::int64_t active = 0;  ///< used by one token: `total` less the experts it does not visit
};

/// Every reason why the shape cannot exist, `where` set to the field's name; empty when it can.
/// Sizes and the width of all heads together are limited to 2^31 and the parameter count to 2^62.
Problems validate(const Shape& shape);

/// Requires validate(shape) to be empty.
ParameterCount count_parameters(const Shape& shape);

/// Of the first `layers` layers, those that use the window, and those that have experts.
std::int64_t windowed_layers(const Shape& shape, std::int64_t layers);
std::int64_t expert_layers(const Shape& shape, std::int64_t layers);

/// Width of all query heads together, heads * head_dim; it need not equal `hidden`. Requires a valid shape.
std::int64_t attention_width(const Shape& shape);

/// A field of Shape that a flag, a file or a search may change by name ("hidden", "heads", "ffn", "vocab", …).
struct Dimension {
    const char* name;
    std::int64_t Shape::*field;
};

/// Every overridable dimension, in the order of `Shape`.
const std::vector<Dimension>& dimensions();

/// Sets one dimension by name and what hangs on it: changing `heads` or `hidden` keeps the other and rederives
/// head_dim when it was hidden / heads, and keeps kv_heads == heads when it was. A head_dim of 0 stands for a quotient
/// that is not whole, which `validate` explains. False if the name is unknown.
bool set_dimension(Shape& shape, std::string_view name, std::int64_t value);

/// What of the shape is otherwise in the other, in words, names and sources apart: "heads 20", "its norms".
std::vector<std::string> differences(const Shape& shape, const Shape& other);

}  // namespace tilewright
