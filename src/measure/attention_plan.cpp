// Heuristic, execution plan, variant pack.
#include "measure/attention_plan.h"

#include <algorithm>
#include <array>

namespace tilewright::measure {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Engine configurations in the order the heuristic prefers.
std::vector<Descriptor> configurations(const AttentionGraph& graph, Refusal& refusal) {
    const Descriptor heuristic = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, refusal);
    const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
    set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.graph, refusal);
    set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, {1, &mode}, refusal);
    finalize(heuristic, refusal);
    constexpr std::int64_t most = 8;
    std::vector<Descriptor> found;
    std::array<cudnnBackendDescriptor_t, most> raw{};
    for (auto& slot : raw) {
        found.push_back(create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, refusal));
        slot = found.back().get();
    }
    std::int64_t count = 0;
    if (refusal.ok()) {
        refusal.note(cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                              CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count, raw.data()),
                     "heuristic results");
    }
    found.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, most)));
    if (refusal.ok() && found.empty()) refusal.reason = "no engine for this graph";
    return found;
}

/// Knobs worth recording, by the name the samples use.
std::string_view knob_name(cudnnBackendKnobType_t knob) {
    switch (knob) {
        case CUDNN_KNOB_TYPE_TILE_SIZE: return "knob_tile_size";
        case CUDNN_KNOB_TYPE_STAGES: return "knob_stages";
        case CUDNN_KNOB_TYPE_KERNEL_CFG: return "knob_kernel";
        case CUDNN_KNOB_TYPE_TILE_CGA_M: return "knob_cluster_m";
        case CUDNN_KNOB_TYPE_TILE_CGA_N: return "knob_cluster_n";
        case CUDNN_KNOB_TYPE_STREAM_K: return "knob_stream_k";
        case CUDNN_KNOB_TYPE_TILE_M: return "knob_tile_m";
        case CUDNN_KNOB_TYPE_TILE_N: return "knob_tile_n";
        case CUDNN_KNOB_TYPE_WARP_SPEC_CFG: return "knob_warp_specialization";
        case CUDNN_KNOB_TYPE_SPLIT_K_SLC: return "knob_split";
        default: return "";
    }
}

std::int64_t read_int(const Descriptor& from, cudnnBackendAttributeName_t name) {
    std::int64_t value = 0;
    std::int64_t count = 0;
    cudnnBackendGetAttribute(from.get(), name, CUDNN_TYPE_INT64, 1, &count, &value);
    return value;
}

Outcome<cudnnHandle_t> shared_handle() {
    static cudnnHandle_t handle = nullptr;
    if (handle != nullptr) return handle;
    Refusal refusal;
    refusal.note(cudnnCreate(&handle), "cudnnCreate");
    if (!refusal.ok()) return failed(refusal.reason);
    return handle;
}

}  // namespace

Outcome<std::unique_ptr<AttentionPlan>> AttentionPlan::make(const Attention& op) {
    if (cudnnGetVersion() < 90600) return unsupported("cuDNN before 9.6 is not supported");
    const Outcome<cudnnHandle_t> handle = shared_handle();
    if (!handle) return handle.fault();
    std::unique_ptr<AttentionPlan> plan(new AttentionPlan);
    plan->op_ = op;
    plan->handle_ = *handle;
    Refusal refusal;
    plan->graph_ = build_attention_graph(op, *handle, cudnnGetVersion(), refusal);
    if (!refusal.ok()) return unsupported(refusal.reason);
    TW_TRY(plan->choose());
    return plan;
}

Status AttentionPlan::choose() {
    Refusal refusal;
    for (const Descriptor& config : configurations(graph_, refusal)) {
        Refusal attempt;
        Descriptor plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, attempt);
        set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, {1, &handle_}, attempt);
        set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config, attempt);
        finalize(plan, attempt);
        if (!attempt.ok()) {
            refusal.reason = attempt.reason;
            continue;
        }
        plan_ = std::move(plan);
        workspace_bytes_ = static_cast<std::size_t>(read_int(plan_, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE));
        place_scratch();
        describe_engine(config);
        return Done{};
    }
    return unsupported(refusal.reason);
}

void AttentionPlan::place_scratch() {
    const auto row_bytes = static_cast<std::size_t>(op_.batch * op_.heads * op_.q_len) * sizeof(float);
    scratch_bytes_ = aligned(workspace_bytes_);
    const auto place = [&](Port port, std::size_t bytes) {
        if (std::find(graph_.ports.begin(), graph_.ports.end(), port) == graph_.ports.end()) return;
        placed_.emplace_back(port, scratch_bytes_);
        scratch_bytes_ += aligned(bytes);
    };
    place(Port::RowSum, row_bytes);
    place(Port::DQSum, row_bytes * static_cast<std::size_t>(op_.head_dim));
    place(Port::SeqQ, static_cast<std::size_t>(op_.batch) * sizeof(std::int32_t));
    place(Port::SeqKv, static_cast<std::size_t>(op_.batch) * sizeof(std::int32_t));
}

void AttentionPlan::describe_engine(const Descriptor& config) {
    facts_.emplace_back("library", "cudnn");
    Refusal ignored;
    Descriptor engine = create(CUDNN_BACKEND_ENGINE_DESCRIPTOR, ignored);
    cudnnBackendDescriptor_t raw_engine = engine.get();
    std::int64_t count = 0;
    if (cudnnBackendGetAttribute(config.get(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                                 &raw_engine) == CUDNN_STATUS_SUCCESS) {
        facts_.emplace_back("engine", std::to_string(read_int(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX)));
    }
    std::vector<Descriptor> choices;
    std::vector<cudnnBackendDescriptor_t> raw;
    constexpr int most = 24;  // an older library refuses to be asked for more knobs than it knows
    for (int i = 0; i < most; ++i) {
        choices.push_back(create(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, ignored));
        raw.push_back(choices.back().get());
    }
    count = 0;
    cudnnBackendGetAttribute(config.get(), CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, most,
                             &count, raw.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(count) && i < choices.size(); ++i) {
        cudnnBackendKnobType_t knob{};
        std::int64_t one = 0;
        cudnnBackendGetAttribute(choices[i].get(), CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &one,
                                 &knob);
        const std::string_view name = knob_name(knob);
        if (name.empty()) continue;
        facts_.emplace_back(name, std::to_string(read_int(choices[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE)));
    }
    facts_.emplace_back("workspace_bytes", std::to_string(scratch_bytes_));
}

Status AttentionPlan::prepare(void* scratch) {
    scratch_ = static_cast<std::byte*>(scratch);
    for (const auto& [port, offset] : placed_) {
        if (port != Port::SeqQ && port != Port::SeqKv) continue;
        const std::int64_t length = port == Port::SeqQ ? op_.q_len : op_.kv_len;
        const std::vector<std::int32_t> lengths(static_cast<std::size_t>(op_.batch), static_cast<std::int32_t>(length));
        if (cudaMemcpy(scratch_ + offset, lengths.data(), lengths.size() * sizeof(std::int32_t),
                       cudaMemcpyHostToDevice) != cudaSuccess) {
            return failed("cannot write the sequence lengths");
        }
    }
    return Done{};
}

Status AttentionPlan::execute(Bindings operands, cudaStream_t stream) const {
    std::vector<std::int64_t> ids;
    std::vector<void*> pointers;
    const auto bind = [&](std::int64_t uid, const void* pointer) {
        ids.push_back(uid);
        pointers.push_back(const_cast<void*>(pointer));
    };
    for (const auto& [port, offset] : placed_) bind(static_cast<std::int64_t>(port), scratch_ + offset);
    for (const auto& [port, pointer] : operands) {
        const bool used = std::find(graph_.ports.begin(), graph_.ports.end(), port) != graph_.ports.end();
        if (used) bind(static_cast<std::int64_t>(port), pointer);
    }
    for (const Scalar& scalar : graph_.scalars) bind(scalar.uid, &scalar.as_float);
    const auto count = static_cast<std::int64_t>(ids.size());
    void* const workspace = scratch_;
    Refusal refusal;
    const Descriptor pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, refusal);
    set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, {count, ids.data()}, refusal);
    set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, {count, pointers.data()}, refusal);
    set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, {1, &workspace}, refusal);
    finalize(pack, refusal);
    if (refusal.ok()) refusal.note(cudnnSetStream(handle_, stream), "set stream");
    if (refusal.ok()) refusal.note(cudnnBackendExecute(handle_, plan_.get(), pack.get()), "execute");
    if (!refusal.ok()) return failed(refusal.reason);
    return Done{};
}

}  // namespace tilewright::measure
