// The time of a step from its pieces: m micro-batches through the slowest pipeline stage, the bubble of filling and
// draining it (Narayanan et al. 2021: (p - 1) / v stage times), collectives of the replicas less what hides behind the
// backward or forward pass, the optimizer. docs/clusters.md writes each term out.
#include <algorithm>
#include <cmath>

#include "ops/shard.h"
#include "plan/pieces.h"
#include "tilewright/host.h"
#include "tilewright/runtime.h"

namespace tilewright {
namespace planning {
namespace {

/// How much slower products run while a collective takes units, bandwidth and power beside them: the mean of A100,
/// H100, MI210 and MI250 nodes (Lee et al. 2025, arXiv 2507.03114; at most 40%).
constexpr double contention = 0.189;

/// Standard deviation of how fast parts of one kind compute under their power limit, over the mean. Fitted on every
/// other published run (docs/clusters.md); identical parts are published to lie within 8% in the mean of five clusters,
/// within 22% in the worst (Sinha et al. 2022, arXiv 2208.11035), which is 0.015 to 0.04.
constexpr double spread = 0.03;

/// Deviations by which the slowest of `parts` is expected to lie behind the mean: within 5% of that of a normal
/// distribution from two parts to ten thousand.
double slowest_of(double parts) { return parts < 2.0 ? 0.0 : std::sqrt(2.0 * std::log(parts)) - 0.6; }

class Stepping {
public:
    Stepping(const Pieces& pieces, const Workload& work, const Pricer& pricer)
        : pieces_(pieces), work_(work), pricer_(pricer), parallel_(work.parallel) {
        stage_layers_ = static_cast<double>(ceil_div(static_cast<std::int64_t>(pieces.memory.layers), parallel_.pp));
        share_ = stage_layers_ / pieces.memory.layers;
        micro_batches_ = static_cast<double>(work.micro_batches);
        again_ = pieces.again[static_cast<std::size_t>(work.recompute)];
        trains_ = work.phase == Phase::Train && !work.forward_only;
        const double ends =
            parallel_.pp == 1 ? 0.0 : std::max(pieces.memory.embedding_parameters, pieces.memory.head_parameters);
        const double both =
            pieces.memory.embedding_parameters + pieces.memory.head_parameters - pieces.memory.tied_parameters;
        dense_ = share_ * pieces.memory.layer_parameters + (parallel_.pp == 1 ? both : ends);
        routed_ = share_ * pieces.memory.routed_parameters;
    }

    Step run() {
        passes();
        stages();
        if (trains_) {
            parallel_.zero_stage == 3 ? gathered_layers() : replicas_once();
            update();
        }
        return finish();
    }

private:
    void add(StepTerm term, double exposed, double hidden = 0.0) {
        StepShare& share = step_.terms[static_cast<std::size_t>(term)];
        share.exposed += {exposed};
        share.hidden += {hidden};
    }

    /// Of `time` that could run beside `window` seconds of products, what sticks out; the last of `chunks` always does.
    void add_beside(StepTerm term, double time, double window, double chunks) {
        if (work_.overlap == Overlap::None) window = 0.0;
        const double exposed = std::max(time - window, time / std::max(1.0, chunks));
        add(term, exposed, time - exposed);
    }

    void passes() {
        const Spent layers = (pieces_.forward + pieces_.backward + again_) * (share_ * micro_batches_);
        Spent ends = pieces_.embedding + pieces_.head;
        const bool last_is_slower = pieces_.head.all() >= pieces_.embedding.all();
        if (parallel_.pp > 1) ends = last_is_slower ? pieces_.head : pieces_.embedding;
        add(StepTerm::Forward, pieces_.forward.compute * share_ * micro_batches_);
        add(StepTerm::Backward, pieces_.backward.compute * share_ * micro_batches_);
        add(StepTerm::Recompute, again_.compute * share_ * micro_batches_);
        if (parallel_.pp == 1 || !last_is_slower) add(StepTerm::Embedding, pieces_.embedding.compute * micro_batches_);
        if (parallel_.pp == 1 || last_is_slower) add(StepTerm::Head, pieces_.head.compute * micro_batches_);
        add(StepTerm::TensorParallel, layers.tensor + ends.tensor * micro_batches_,
            layers.hidden + ends.hidden * micro_batches_);
        add(StepTerm::ContextParallel, layers.context, layers.hidden_context);
        // beside the products of another micro-batch (Megatron Core's overlap_moe_expert_parallel_comm, DualPipe)
        const double window = work_.overlap == Overlap::Experts ? layers.compute : 0.0;
        add_beside(StepTerm::ExpertParallel, layers.expert, window, micro_batches_);
    }

    void stages() {
        if (parallel_.pp == 1) return;
        const Spent all = pieces_.forward + pieces_.backward + again_ + pieces_.embedding + pieces_.head;
        const double stage = all.all() / static_cast<double>(parallel_.pp);
        const double stretches = static_cast<double>(parallel_.virtual_stages);
        add(StepTerm::PipelineBubble, static_cast<double>(parallel_.pp - 1) / stretches * stage);
        const Collective hand{CollectiveKind::SendReceive,
                              {pieces_.hand_over_bytes},
                              2,
                              RankGroup::Pipeline,
                              parallel_.tp * parallel_.cp * parallel_.dp};
        const double served = static_cast<double>(parallel_.pp) + micro_batches_ - 2.0;  // one batch passes every stage
        const double handed = (trains_ ? 2.0 * stretches * micro_batches_ : served) * time_of(hand);
        const bool hides = work_.overlap >= Overlap::All;
        add(StepTerm::PointToPoint, hides ? 0.0 : handed, hides ? handed : 0.0);
    }

    /// Seconds to move `each` bytes of every parameter of the stage, divided by `parts`, over its replicas.
    double moved(CollectiveKind kind, double each, double parts = 1.0) const {
        const std::int64_t ranks = lowering::replicas(parallel_);
        const std::int64_t expert_ranks = lowering::expert_replicas(work_);
        double time = 0.0;
        if (ranks > 1) time += time_of(Collective{kind, {dense_ * each / parts}, ranks, RankGroup::Data, parallel_.tp});
        if (routed_ > 0.0 && expert_ranks > 1) {
            const std::int64_t stride = lowering::expert_ways(work_) * parallel_.ep;
            time += time_of(Collective{kind, {routed_ * each / parts}, expert_ranks, RankGroup::Data, stride});
        }
        return time;
    }

    double element() const { return storage_bytes(work_.precision); }
    double gradient_bytes() const { return work_.master == MasterWeights::Fp32 ? sizeof(float) : element(); }
    double backward_window() const { return (pieces_.backward + again_).compute * share_; }
    double forward_window() const { return pieces_.forward.compute * share_; }

    /// Micro-batches that pass between the first layers' gradients of a step and the last ones'. Virtual stages take
    /// turns with as many micro-batches as there are stages, and all but one of them are done when the last begins
    /// (Megatron Core, `forward_backward_pipelining_with_interleaving`). Parameters are needed in the same turns.
    double in_turns() const {
        const double stretches = static_cast<double>(parallel_.virtual_stages);
        const double turn = std::min(micro_batches_, static_cast<double>(parallel_.pp));
        return ((stretches - 1.0) * turn + 1.0) / stretches;
    }

    /// Gradients reduced in the last backward pass, or with ZeRO 2 in every one, which has no room to keep them.
    void replicas_once() {
        const bool sharded = parallel_.zero_stage > 0;
        const double times = parallel_.zero_stage == 2 ? micro_batches_ : 1.0;
        const double reduced =
            moved(sharded ? CollectiveKind::ReduceScatter : CollectiveKind::AllReduce, gradient_bytes());
        const double passes = parallel_.zero_stage == 2 ? micro_batches_ : in_turns();
        add_beside(StepTerm::GradientReduction, times * reduced, passes * backward_window(), times * stage_layers_);
        if (parallel_.zero_stage == 2) add(StepTerm::Accumulation, times * time_of(made_ready()));
        if (!sharded) return;
        add_beside(StepTerm::ParameterGather, moved(CollectiveKind::AllGather, element()),
                   in_turns() * forward_window(), stage_layers_);
    }

    /// ZeRO 3: every layer is gathered before it runs, in both passes, while the one before it computes.
    void gathered_layers() {
        const double layers = stage_layers_;
        const double gather = layers * moved(CollectiveKind::AllGather, element(), layers);
        const double reduce = layers * moved(CollectiveKind::ReduceScatter, gradient_bytes(), layers);
        const double m = micro_batches_;
        add_beside(StepTerm::ParameterGather, m * gather, m * forward_window(), m * layers);
        const double both = gather + reduce;
        const double window = backward_window();
        const double late = work_.overlap == Overlap::None ? both : std::max(both - window, both / layers);
        const double part = both > 0.0 ? late / both : 0.0;
        add(StepTerm::ParameterGather, m * gather * part, m * gather * (1.0 - part));
        add(StepTerm::GradientReduction, m * reduce * part, m * reduce * (1.0 - part));
        add(StepTerm::Accumulation, m * time_of(made_ready()));
    }

    void update() {
        const double ranks = static_cast<double>(lowering::replicas(parallel_));
        const double expert_ranks = static_cast<double>(lowering::expert_replicas(work_));
        const double sharded = dense_ / ranks + routed_ / expert_ranks, whole = dense_ + routed_;
        const double owned = parallel_.zero_stage > 0 ? sharded : whole;
        add(StepTerm::Optimizer, time_of(lowering::optimizer_step(owned, work_)));
        const double summed = parallel_.zero_stage > 1 ? sharded : whole;
        if (micro_batches_ > 1.0) add(StepTerm::Accumulation, (micro_batches_ - 1.0) * time_of(accumulation(summed)));
    }

    /// Gradients added to a sum: by a kernel of its own, or in the product that makes them, which then reads the sum
    /// and writes it in its own type while it computes, but for what products leave exposed.
    Stream accumulation(double parameters) const {
        const GemmProfile& products = pricer_.profile().kernels(GemmFamily::Whole);
        const bool fused = traits_of(work_).gradient_sums != Fusion::Apart;
        const double sum = gradient_bytes();
        Stream stream{StreamKind::Pointwise, static_cast<std::int64_t>(parameters), 1, {}, {}};
        stream.read = {parameters * (fused ? sum * products.exposed_load : sum + element())};
        stream.written = {parameters * (fused ? (sum - element()) * products.exposed_store : sum)};
        return stream;
    }

    /// Gradients of a micro-batch before PyTorch's FSDP reduces them: joined into one tensor, cast to the type that is
    /// reduced, divided by the ranks (torch/distributed/fsdp/_runtime_utils.py). Megatron's are written by their
    /// product where and as they are reduced (`get_main_grad` of megatron_fsdp/param_and_grad_buffer.py).
    Stream made_ready() const {
        const double parameters = lowering::replicas(parallel_) > 1 ? dense_ + routed_ : 0.0;
        const double sum = gradient_bytes(), own = element(), cast = sum > own ? 1.0 : 0.0;
        Stream stream{StreamKind::Pointwise, static_cast<std::int64_t>(parameters), 1, {}, {}};
        if (traits_of(work_).gradient_sums == Fusion::Epilogue) {
            const GemmProfile& products = pricer_.profile().kernels(GemmFamily::Whole);
            stream.written = {parameters * (sum - own) * products.exposed_store};
            return stream;
        }
        stream.read = {parameters * (own + cast * own + sum)};
        stream.written = {parameters * (own + cast * sum + sum)};
        return stream;
    }

    Step finish() {
        double hidden = 0.0;
        for (const StepShare& share : step_.terms) hidden += share.hidden.value;
        add(StepTerm::Contention, hidden * contention);
        double computed = 0.0;
        for (StepTerm term : {StepTerm::Forward, StepTerm::Backward, StepTerm::Recompute, StepTerm::Embedding,
                              StepTerm::Head, StepTerm::PipelineBubble}) {
            computed += step_.term(term).exposed.value;
        }
        add(StepTerm::Stragglers, computed * spread * slowest_of(static_cast<double>(gpu_count(parallel_))));
        for (const StepShare& share : step_.terms) step_.time += share.exposed;
        const Seconds busy = step_.time;
        const double host_spread = runtime_of(work_.runtime).host.spread;
        const Interval& within = pieces_.within;
        const Seconds between = scheduler_wait(work_);
        step_.low = busy * within.low + waited(busy * within.low, within.low, 1.0 / host_spread) + between;
        step_.high = busy * within.high + waited(busy * within.high, within.high, host_spread) + between;
        add(StepTerm::Host, (waited(busy, 1.0, 1.0) + between).value);
        step_.time += step_.term(StepTerm::Host).exposed;
        step_.evidence = pieces_.evidence;
        const double gpus = static_cast<double>(gpu_count(parallel_));
        const double on_stage = micro_batches_ / static_cast<double>(parallel_.pp);
        step_.tokens = tokens_per_step(work_) * micro_batches_ * static_cast<double>(parallel_.dp);
        const double again = pieces_.again_flops[static_cast<std::size_t>(work_.recompute)];
        const FlopsPerSecond peak = pricer_.peak(work_) * gpus;
        step_.flops = {pieces_.flops * micro_batches_ * static_cast<double>(parallel_.dp)};
        step_.hardware_flops = {(pieces_.computed_flops + again) * on_stage * gpus};
        step_.mfu = (step_.flops / step_.time) / peak;
        step_.hfu = (step_.hardware_flops / step_.time) / peak;
        const PowerProfile& power = pricer_.profile().power;
        const double idle = power.matrix.value > 0.0 ? power.idle.value : pricer_.device().power.value;
        step_.energy_j = gpus * (idle * step_.time.value + on_stage * pieces_.energy_j);
        return step_;
    }

    /// What the host adds to `busy` seconds of the GPU where it takes longer to issue. Alone, a GPU has the whole step
    /// to catch up with; a pipeline's stages wait for each other's micro-batches, so each of them takes the slower
    /// clock.
    Seconds waited(Seconds busy, double gpu, double host) const {
        const double issuing = host * pieces_.host[static_cast<std::size_t>(work_.recompute)].of(stage_layers_).value;
        if (parallel_.pp == 1) return {std::max(0.0, micro_batches_ * issuing - busy.value)};
        double computing = 0.0;
        for (StepTerm term :
             {StepTerm::Forward, StepTerm::Backward, StepTerm::Recompute, StepTerm::Embedding, StepTerm::Head,
              StepTerm::TensorParallel, StepTerm::ContextParallel, StepTerm::ExpertParallel}) {
            computing += gpu * step_.term(term).exposed.value / micro_batches_;
        }
        const double filling = static_cast<double>(parallel_.pp - 1) / static_cast<double>(parallel_.virtual_stages);
        return {(micro_batches_ + filling) * std::max(0.0, issuing - computing)};
    }

    template <class Work>
    double time_of(const Work& work) const {
        return pricer_.price(work).time.value;
    }

    const Pieces& pieces_;
    const Workload& work_;
    const Pricer& pricer_;
    const Parallelism& parallel_;
    Step step_;
    Spent again_;
    double stage_layers_ = 1, share_ = 1, micro_batches_ = 1;
    double dense_ = 0, routed_ = 0;  ///< parameters of the stage, each rank's own
    bool trains_ = true;
};

}  // namespace

Step step_of(const Pieces& pieces, const Workload& workload, const Pricer& pricer) {
    Step step = Stepping(pieces, workload, pricer).run();
    step.memory = memory(pieces.memory, workload);
    step.fits = step.memory.total <= room(pricer.device());
    return step;
}

}  // namespace planning

std::int64_t gpu_count(const Parallelism& parallel) { return parallel.tp * parallel.pp * parallel.dp * parallel.cp; }

Step price_step(const Shape& shape, const Workload& workload, const Pricer& pricer) {
    return planning::step_of(planning::price_pieces(shape, workload, pricer), workload, pricer);
}

}  // namespace tilewright
