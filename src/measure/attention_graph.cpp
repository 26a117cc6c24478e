// Tensors and operations added one by one, and the two passes of attention written with them.
#include "measure/attention_graph.h"

#include <cmath>
#include <limits>

namespace tilewright::measure {

namespace {

using Extents = std::vector<std::int64_t>;

/// A tensor of the graph under construction.
struct Node {
    std::size_t part = 0;  ///< index of its descriptor in AttentionGraph::parts
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    Extents dims, strides;
};

Extents packed(const Extents& dims) {
    Extents strides(dims.size(), 1);
    for (std::size_t i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
    return strides;
}

/// The last two dimensions swapped: the same memory read as its transpose.
Node transposed(Node node) {
    std::swap(node.dims[2], node.dims[3]);
    std::swap(node.strides[2], node.strides[3]);
    return node;
}

/// Adds tensors and operations one by one; every method returns the tensor it defines.
class Builder {
public:
    Builder(AttentionGraph& graph, Refusal& refusal) : graph_(graph), refusal_(refusal) {}

    /// A tensor with memory, bound to `port` at execution.
    Node input(Port port, Node shape) {
        graph_.ports.push_back(port);
        return declare(std::move(shape), static_cast<std::int64_t>(port), false, false);
    }

    Node scalar(float value) {
        Scalar entry{next_, {}};
        entry.as_float = value;
        graph_.scalars.push_back(entry);
        return declare({0, CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}}, next_++, false, true);
    }

    Node scalar(std::int32_t value) {
        Scalar entry{next_, {}};
        entry.as_int = value;
        graph_.scalars.push_back(entry);
        return declare({0, CUDNN_DATA_INT32, {1, 1, 1, 1}, {1, 1, 1, 1}}, next_++, false, true);
    }

    /// An intermediate that never reaches memory.
    Node hidden(const Extents& dims, cudnnDataType_t type = CUDNN_DATA_FLOAT) {
        return declare({0, type, dims, packed(dims)}, next_++, true, false);
    }

    Node pointwise(cudnnPointwiseMode_t mode, const Node& x, const Node* b, Node y) {
        return pointwise(mode, {&x, b}, y);
    }

    struct Operands {
        const Node* x;
        const Node* b = nullptr;
        const Node* choice = nullptr;
        std::int64_t axis = -1;
        cudnnDataType_t precision = CUDNN_DATA_FLOAT;
    };

    Node pointwise(cudnnPointwiseMode_t mode, const Operands& in, Node y) {
        const Descriptor& how = part(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
        set(how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, {1, &mode}, refusal_);
        set(how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, {1, &in.precision}, refusal_);
        if (in.axis >= 0) set(how, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, {1, &in.axis}, refusal_);
        finalize(how, refusal_);
        const std::size_t how_part = graph_.parts.size() - 1;
        const Descriptor& op = part(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
        set(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, graph_.parts[how_part], refusal_);
        connect(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, in.x);
        connect(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, in.b);
        connect(op, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, in.choice);
        connect(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, &y);
        finish_operation(op);
        return y;
    }

    Node reduce(cudnnReduceTensorOp_t mode, const Node& x, Node y) {
        const cudnnDataType_t precision = CUDNN_DATA_FLOAT;
        const Descriptor& how = part(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
        set(how, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, {1, &mode}, refusal_);
        set(how, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, {1, &precision}, refusal_);
        finalize(how, refusal_);
        const std::size_t how_part = graph_.parts.size() - 1;
        const Descriptor& op = part(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
        set(op, CUDNN_ATTR_OPERATION_REDUCTION_DESC, graph_.parts[how_part], refusal_);
        connect(op, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, &x);
        connect(op, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, &y);
        finish_operation(op);
        return y;
    }

    /// The true lengths of m, n, k per sequence, where a padded graph needs them.
    struct Lengths {
        const Node* m = nullptr;
        const Node* n = nullptr;
        const Node* k = nullptr;
    };

    Node matmul(const Node& a, const Node& b, Node c, const Lengths& lengths) {
        const cudnnDataType_t precision = CUDNN_DATA_FLOAT;
        const Descriptor& how = part(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
        set(how, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, {1, &precision}, refusal_);
        finalize(how, refusal_);
        const std::size_t how_part = graph_.parts.size() - 1;
        const Descriptor& op = part(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
        set(op, CUDNN_ATTR_OPERATION_MATMUL_DESC, graph_.parts[how_part], refusal_);
        connect(op, CUDNN_ATTR_OPERATION_MATMUL_ADESC, &a);
        connect(op, CUDNN_ATTR_OPERATION_MATMUL_BDESC, &b);
        connect(op, CUDNN_ATTR_OPERATION_MATMUL_CDESC, &c);
        connect(op, CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, lengths.m);
        connect(op, CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC, lengths.n);
        connect(op, CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, lengths.k);
        finish_operation(op);
        return c;
    }

    /// The transpose of x as a tensor of its own.
    Node transpose(const Node& x, cudnnDataType_t type) {
        Node shape = transposed(x);
        shape.type = type;
        const Node y = declare(std::move(shape), next_++, true, false);
        const Descriptor& op = part(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
        connect(op, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, &x);
        connect(op, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, &y);
        finish_operation(op);
        return y;
    }

    void finish(cudnnHandle_t handle) {
        std::vector<cudnnBackendDescriptor_t> raw;
        for (const std::size_t op : operations_) raw.push_back(graph_.parts[op].get());
        Descriptor all = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, refusal_);
        set(all, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, {1, &handle}, refusal_);
        set(all, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            {static_cast<std::int64_t>(raw.size()), raw.data()}, refusal_);
        finalize(all, refusal_);
        if (refusal_.ok()) graph_.graph = std::move(all);
    }

private:
    Node declare(Node node, std::int64_t uid, bool is_virtual, bool by_value) {
        const Descriptor& tensor = part(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
        const std::int64_t alignment = by_value ? 4 : 16;
        const auto rank = static_cast<std::int64_t>(node.dims.size());
        set(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, {1, &uid}, refusal_);
        set(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, {1, &node.type}, refusal_);
        set(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, {1, &alignment}, refusal_);
        set(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, {rank, node.dims.data()}, refusal_);
        set(tensor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, {rank, node.strides.data()}, refusal_);
        set(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, {1, &is_virtual}, refusal_);
        set(tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, {1, &by_value}, refusal_);
        finalize(tensor, refusal_);
        node.part = graph_.parts.size() - 1;
        return node;
    }

    const Descriptor& part(cudnnBackendDescriptorType_t type) {
        graph_.parts.push_back(create(type, refusal_));
        return graph_.parts.back();
    }

    void connect(const Descriptor& op, cudnnBackendAttributeName_t name, const Node* tensor) {
        if (tensor != nullptr) set(op, name, graph_.parts[tensor->part], refusal_);
    }

    void finish_operation(const Descriptor& op) {
        finalize(op, refusal_);
        operations_.push_back(graph_.parts.size() - 1);
    }

    AttentionGraph& graph_;
    Refusal& refusal_;
    std::int64_t next_ = static_cast<std::int64_t>(Port::first_free);
    std::vector<std::size_t> operations_;
};

/// The graph of one problem: the operands common to both passes, and the steps of each.
class AttentionWriter {
public:
    AttentionWriter(const Attention& op, std::size_t version, Builder& builder) : op_(op), b_(builder) {
        type_ = op_.precision == Precision::Fp16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16;
        v_dim_ = op_.v_dim == 0 ? op_.head_dim : op_.v_dim;
        scores_ = {op_.batch, op_.heads, op_.q_len, op_.kv_len};
        rows_ = {op_.batch, op_.heads, op_.q_len, 1};
        // Masked scores: -infinity from cuDNN 9.10 on, the lowest float before (cudnn-frontend,
        // get_negative_inf_value).
        hidden_score_ =
            version < 91000 ? std::numeric_limits<float>::lowest() : -std::numeric_limits<float>::infinity();
        // Up to 9.15 the backward pass needs a padding mask unless 128 divides kv_len (cudnn-frontend, the same).
        padded_ = op_.pass == AttentionPass::Backward && version <= 91500 && op_.kv_len % 128 != 0;
    }

    void write_forward() {
        const Node q = b_.input(Port::Q, operand(op_.heads, op_.q_len, op_.head_dim));
        const Node k = b_.input(Port::K, transposed(operand(op_.kv_heads, op_.kv_len, op_.head_dim)));
        const Node v = b_.input(Port::V, operand(op_.kv_heads, op_.kv_len, v_dim_));
        const Node o = b_.input(Port::O, operand(op_.heads, op_.q_len, v_dim_));
        const Node scale = b_.scalar(softmax_scale());
        Node score = b_.matmul(q, k, b_.hidden(scores_), {});
        score = mask(b_.pointwise(CUDNN_POINTWISE_MUL, score, &scale, b_.hidden(scores_)));
        const Node most = b_.reduce(CUDNN_REDUCE_TENSOR_MAX, score, b_.hidden(rows_));
        const Node shifted = b_.pointwise(CUDNN_POINTWISE_SUB, score, &most, b_.hidden(scores_));
        const Node raised = b_.pointwise(CUDNN_POINTWISE_EXP, shifted, nullptr, b_.hidden(scores_));
        const Node sum = b_.reduce(CUDNN_REDUCE_TENSOR_ADD, raised, b_.hidden(rows_));
        const Node log = b_.pointwise(CUDNN_POINTWISE_LOG, sum, nullptr, b_.hidden(rows_));
        const Node stats = b_.input(Port::Stats, row_values());
        b_.pointwise(CUDNN_POINTWISE_ADD, most, &log, stats);
        const Node weight = b_.pointwise(CUDNN_POINTWISE_DIV, raised, &sum, b_.hidden(scores_, type_));
        b_.matmul(weight, v, o, {});
    }

    void write_backward() {
        const Node q = b_.input(Port::Q, operand(op_.heads, op_.q_len, op_.head_dim));
        const Node k = b_.input(Port::K, transposed(operand(op_.kv_heads, op_.kv_len, op_.head_dim)));
        const Node v = b_.input(Port::V, transposed(operand(op_.kv_heads, op_.kv_len, v_dim_)));
        const Node o = b_.input(Port::O, operand(op_.heads, op_.q_len, v_dim_));
        const Node grad_o = b_.input(Port::DO, operand(op_.heads, op_.q_len, v_dim_));
        const Node stats = b_.input(Port::Stats, row_values());
        const Node scale = b_.scalar(softmax_scale());
        const Node one = b_.scalar(1.0F);
        if (padded_) declare_lengths();

        const Extents out_dims = {op_.batch, op_.heads, op_.q_len, v_dim_};
        const Node product = b_.pointwise(CUDNN_POINTWISE_MUL, grad_o, &o, b_.hidden(out_dims));
        const Node total = b_.reduce(CUDNN_REDUCE_TENSOR_ADD, product, b_.hidden(rows_));
        const Node row_sum = b_.pointwise(CUDNN_POINTWISE_MUL, total, &one, b_.input(Port::RowSum, row_values()));

        Node score = b_.matmul(q, k, b_.hidden(scores_), {length_q(), length_kv(), nullptr});
        score = b_.pointwise(CUDNN_POINTWISE_MUL, score, &scale, b_.hidden(scores_));
        score = b_.pointwise(CUDNN_POINTWISE_SUB, score, &stats, b_.hidden(scores_));
        score = mask(padded_ ? mask_padding(score) : score);
        const Node weight = b_.pointwise(CUDNN_POINTWISE_EXP, score, nullptr, b_.hidden(scores_));
        sum_over_group(b_.transpose(weight, type_), grad_o, {Port::DV, v_dim_});

        Node grad = b_.matmul(grad_o, v, b_.hidden(scores_), {length_q(), length_kv(), nullptr});
        grad = b_.pointwise(CUDNN_POINTWISE_SUB, grad, &row_sum, b_.hidden(scores_));
        grad = b_.pointwise(CUDNN_POINTWISE_MUL, grad, &weight, b_.hidden(scores_));
        grad = b_.pointwise(CUDNN_POINTWISE_MUL, grad, &scale, b_.hidden(scores_));
        sum_over_group(b_.transpose(grad, type_), q, {Port::DK, op_.head_dim});

        const Extents q_dims = {op_.batch, op_.heads, op_.q_len, op_.head_dim};
        const Node sum = b_.input(Port::DQSum, {0, CUDNN_DATA_FLOAT, q_dims, packed(q_dims)});
        b_.matmul(grad, b_.transpose(k, type_), sum, {length_q(), nullptr, length_kv()});
        b_.pointwise(CUDNN_POINTWISE_IDENTITY, sum, nullptr,
                     b_.input(Port::DQ, operand(op_.heads, op_.q_len, op_.head_dim)));
    }

private:
    struct Gradient {
        Port port;
        std::int64_t dim;
    };

    /// dK or dV = weights^T * rows; with grouped heads each query head's part is summed into its key head's.
    void sum_over_group(const Node& weights, const Node& rows, const Gradient& gradient) {
        const Node out = b_.input(gradient.port, operand(op_.kv_heads, op_.kv_len, gradient.dim));
        if (op_.heads == op_.kv_heads) {
            b_.matmul(weights, rows, out, {length_kv(), nullptr, length_q()});
            return;
        }
        const Node all = b_.matmul(weights, rows, b_.hidden({op_.batch, op_.heads, op_.kv_len, gradient.dim}, type_),
                                   {length_kv(), nullptr, length_q()});
        b_.reduce(CUDNN_REDUCE_TENSOR_ADD, all, out);
    }

    /// Hides what the causal mask (aligned to the last key) and the window remove.
    Node mask(Node score) {
        const bool causal = op_.causal && op_.q_len > 1;
        if (!causal && op_.window == 0) return score;
        if (causal) score = hide(score, right_bound(score));
        if (op_.window > 0 && op_.window < op_.kv_len) score = hide(score, left_bound(score));
        return score;
    }

    /// column <= row + (kv_len - q_len)
    Node right_bound(const Node& score) {
        Node row = index(score, 2);
        const Node column = index(score, 3);
        if (op_.q_len != op_.kv_len) {
            const Node keys = b_.scalar(static_cast<std::int32_t>(op_.kv_len));
            const Node queries = b_.scalar(static_cast<std::int32_t>(op_.q_len));
            row = b_.pointwise(CUDNN_POINTWISE_ADD, {&row, &keys, nullptr, 3, CUDNN_DATA_INT32}, integers());
            row = b_.pointwise(CUDNN_POINTWISE_SUB, {&row, &queries, nullptr, 3, CUDNN_DATA_INT32}, integers());
        }
        return compare(CUDNN_POINTWISE_CMP_GE, row, column);
    }

    /// column + window > row + (kv_len - q_len)
    Node left_bound(const Node& score) {
        const Node row = index(score, 2);
        const Node column = index(score, 3);
        const Node width = b_.scalar(static_cast<float>(op_.window - op_.kv_len + op_.q_len));
        const Node reach =
            b_.pointwise(CUDNN_POINTWISE_ADD, {&column, &width, nullptr, 3, CUDNN_DATA_FLOAT}, b_.hidden(scores_));
        return compare(CUDNN_POINTWISE_CMP_GT, reach, row);
    }

    Node mask_padding(const Node& score) {
        const Node row = index(score, 2);
        const Node column = index(score, 3);
        const Node real_row = compare(CUDNN_POINTWISE_CMP_LT, row, length_q_);
        const Node real_column = compare(CUDNN_POINTWISE_CMP_LT, column, length_kv_);
        return hide(score, compare(CUDNN_POINTWISE_LOGICAL_AND, real_row, real_column));
    }

    Node index(const Node& score, std::int64_t axis) {
        return b_.pointwise(CUDNN_POINTWISE_GEN_INDEX, {&score, nullptr, nullptr, axis}, integers());
    }

    Node compare(cudnnPointwiseMode_t mode, const Node& left, const Node& right) {
        return b_.pointwise(mode, {&left, &right, nullptr, -1, CUDNN_DATA_BOOLEAN},
                            b_.hidden(scores_, CUDNN_DATA_BOOLEAN));
    }

    Node hide(const Node& score, const Node& kept) {
        const Node nothing = b_.scalar(hidden_score_);
        return b_.pointwise(CUDNN_POINTWISE_BINARY_SELECT, {&score, &nothing, &kept}, b_.hidden(scores_));
    }

    void declare_lengths() {
        const Node shape{0, CUDNN_DATA_INT32, {op_.batch, 1, 1, 1}, {1, 1, 1, 1}};
        length_q_ = b_.input(Port::SeqQ, shape);
        length_kv_ = b_.input(Port::SeqKv, shape);
    }

    Node integers() { return b_.hidden(scores_, CUDNN_DATA_INT32); }
    Node row_values() const { return {0, CUDNN_DATA_FLOAT, rows_, packed(rows_)}; }
    const Node* length_q() const { return padded_ ? &length_q_ : nullptr; }
    const Node* length_kv() const { return padded_ ? &length_kv_ : nullptr; }
    float softmax_scale() const { return 1.0F / std::sqrt(static_cast<float>(op_.head_dim)); }

    Node operand(std::int64_t heads, std::int64_t tokens, std::int64_t dim) const {
        return {0, type_, {op_.batch, heads, tokens, dim}, {tokens * heads * dim, dim, heads * dim, 1}};
    }

    const Attention& op_;
    Builder& b_;
    cudnnDataType_t type_;
    std::int64_t v_dim_;
    Extents scores_, rows_;
    float hidden_score_;
    bool padded_;
    Node length_q_, length_kv_;
};

}  // namespace

AttentionGraph build_attention_graph(const Attention& op, cudnnHandle_t handle, std::size_t version, Refusal& refusal) {
    AttentionGraph graph;
    graph.parts.reserve(512);
    Builder builder(graph, refusal);
    AttentionWriter writer(op, version, builder);
    if (op.pass == AttentionPass::Forward) {
        writer.write_forward();
    } else {
        writer.write_backward();
    }
    builder.finish(handle);
    return graph;
}

}  // namespace tilewright::measure
