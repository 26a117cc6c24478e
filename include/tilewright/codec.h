// An op and its named fields: for each kind of op one table of columns (src/ops/kinds.cpp). Bulk files, lines of
// samples, measuring cases, rows of experiments and the tables of docs/formats.md all come from it, so that a column
// has one meaning and a bad cell is the same error everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tilewright/ops.h"
#include "tilewright/result.h"

namespace tilewright {

/// Named values in order; numbers are kept as the text they were written with.
using Fields = std::vector<std::pair<std::string, std::string>>;

/// The value of `name`, or empty.
std::optional<std::string_view> find_field(const Fields& fields, std::string_view name);

/// A call that streams memory, by the name that frameworks have for it.
struct StreamCall {
    std::string_view kernel = "layernorm";  ///< a string literal: layernorm, gelu, crossentropy, …
    AttentionPass pass = AttentionPass::Forward;
    StreamForm form = StreamForm::Eager;
    std::int64_t rows = 0;
    std::int64_t width = 0;
    Precision precision = Precision::Bf16;

    friend bool operator==(const StreamCall&, const StreamCall&) = default;
};

/// The kernel of a call, all its bytes counted as read, or 0 where only who timed it knows them. Empty when the call is
/// several kernels to the lowering, or none.
std::optional<Stream> stream_of(const StreamCall& call);

/// A layer, or a whole model. A layer's shape has one layer, and a vocabulary that only stands for one.
struct Stack {
    Shape shape;
    Workload workload;
    bool whole = false;

    friend bool operator==(const Stack&, const Stack&) = default;
};

/// Latent attention's core, or with `whole` the block around it: projections, norms, absorbed products.
struct LatentCall {
    LatentAttention core;
    bool whole = false;
    std::int64_t width = 0;                          ///< of a key, or with `whole` of the model
    Quantization quantization = Quantization::None;  ///< of the projections

    friend bool operator==(const LatentCall&, const LatentCall&) = default;
};

/// What is timed of a device itself: a copy or a read of so many bytes, or an empty kernel.
struct Probe {
    std::string_view kind;  ///< a string literal: copy, read, graph, eager
    Bytes bytes;

    friend bool operator==(const Probe&, const Probe&) = default;
};

/// What a row describes.
struct Described {
    std::variant<Gemm, Attention, StreamCall, Collective, Stack, Probe, ExpertMlp, LatentCall, Exchange> work;
    Clock clock = Clock::Sustained;

    friend bool operator==(const Described&, const Described&) = default;
};

enum class ColumnType { Count, Amount, Flag, Word };

/// One named value of a kind: what it may be, and which member it is.
struct Column {
    std::string_view name;
    ColumnType type = ColumnType::Count;
    std::string_view unit;                      ///< empty where it has none
    std::string_view fallback;                  ///< when a row leaves it out; empty: it must be given
    std::span<const std::string_view> words{};  ///< those it may be, of a Word
    std::string_view help;
    std::int64_t least = 1;  ///< of a Count
    std::int64_t most = std::int64_t{1} << 31;
    void (*set)(Described& described, double value) = nullptr;  ///< a word is its place among `words`
    double (*get)(const Described& described) = nullptr;
    std::string_view alias{};  ///< what public tables call it
    bool lenient = false;      ///< of a Word: others leave it as it is

    bool required() const { return fallback.empty(); }
};

class Reading;

/// A kind of op and what describes one of them.
struct OpKind {
    std::string_view name;
    std::string_view help;
    std::span<const Column> columns;
    Described (*start)(const Workload& defaults);
    void (*finish)(Described& described, Reading& reading);  ///< derives and checks; may be null

    const Column* find(std::string_view column) const;
};

/// gemm, attention, stream, collective, layer, model, bandwidth, launch, moe, mla, alltoall.
std::span<const OpKind> op_kinds();
const OpKind* find_op_kind(std::string_view name);

/// Where a row stands, for its problems.
struct Place {
    std::string_view where;
    int line = 0;
};

/// The cells of a row by the kind's columns, empty where it says nothing.
using Cells = std::vector<std::string_view>;
Cells cells_of(const OpKind& kind, const Fields& fields);

/// What the cells describe, or every problem of the row. What they leave out is as `defaults` have it.
Result<Described> decode(const OpKind& kind, const Cells& cells, Place place, const Workload& defaults = {});

/// The same by name; columns that the kind does not have are passed over.
Result<Described> decode(const OpKind& kind, const Fields& fields, Place place, const Workload& defaults = {});

/// Every column of the kind, in order.
Fields encode(const OpKind& kind, const Described& described);

/// A cell as a number, a word as its place among those allowed; empty when the column does not take it.
std::optional<double> parse_cell(const Column& column, std::string_view text);

/// The problem of a cell that parse_cell does not take.
Problem refusal(const Column& column, std::string_view text, Place place);

/// The kernels of what is described, in launch order; none of a probe, nor of a call that is no kernel of known bytes.
OpGraph lower(const Described& described);

}  // namespace tilewright
