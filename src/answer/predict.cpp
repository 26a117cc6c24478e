// A step and what follows from it; several side by side.
#include <algorithm>
#include <cmath>

#include "answer/priced.h"
#include "tilewright/ops.h"
#include "tilewright/profile.h"
#include "tilewright/quality.h"
#include "tilewright/workload.h"

namespace tilewright {
namespace {

std::vector<ComponentCost> by_component(const GraphCost& cost) {
    std::vector<ComponentCost> parts;
    for (const PricedOp& priced : cost.ops) {
        auto found = std::find_if(parts.begin(), parts.end(),
                                  [&](const auto& part) { return part.component == priced.op.component; });
        if (found == parts.end()) found = parts.insert(parts.end(), ComponentCost{priced.op.component, {}, {}});
        found->time += priced.total;
        for (std::size_t i = 0; i < term_count; ++i) {
            found->terms[i] += priced.cost.terms[i] * static_cast<double>(priced.op.count);
        }
    }
    std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
    return parts;
}

decltype(Prediction::families) by_family(const GraphCost& cost) {
    decltype(Prediction::families) families;
    for (const PricedOp& priced : cost.ops) {
        FamilyCost& family = families[priced.op.work.index()];
        const auto count = static_cast<double>(priced.op.count);
        family.time += priced.total;
        family.low += priced.cost.low * count;
        family.high += priced.cost.high * count;
        family.evidence = std::max(family.evidence, priced.cost.evidence);
    }
    return families;
}

/// Components of any of them, by their time in all together.
std::vector<Component> components_of(const std::vector<Prediction>& predictions) {
    std::vector<std::pair<double, Component>> found;
    for (const auto& [word, component] : names<Component>) {
        Seconds time;
        for (const Prediction& prediction : predictions) time += prediction.time_of(component);
        if (time.value > 0) found.emplace_back(time.value, component);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Component> ordered;
    for (const auto& [time, component] : found) ordered.push_back(component);
    return ordered;
}

/// The law holds around its baseline: of another size there is no saying what equal tokens mean.
std::optional<Learning> learning_of(const Prediction& base, const Prediction& other) {
    constexpr double about = 0.25;
    const LossLaw law(base.shape);
    const LossChange loss = law.change(other.shape);
    const double size = std::log(loss_traits(other.shape).params / law.baseline().params);
    if (base.workload.phase != Phase::Train || !loss.known || std::abs(size) > about) return std::nullopt;
    return Learning{loss, other.tokens_per_s / base.tokens_per_s / law.tokens(std::log1p(loss.value))};
}

/// What does not depend on the scope, and the layer.
Prediction prediction_of(const Question& question, const Pricer& pricer) {
    Prediction prediction;
    prediction.shape = question.shape;
    prediction.params = count_parameters(question.shape);
    prediction.workload = question.workload;
    prediction.device = question.device;
    prediction.profile_source = question.profile.source;
    prediction.errors = question.profile.errors;
    prediction.layer = price(lower_layer(question.shape, question.workload), pricer);
    prediction.memory = memory(question.shape, question.workload, pricer);
    prediction.used = question.used;
    return prediction;
}

constexpr double idle_of_host_bound = 0.1;

/// The step on both clocks. A layer is what the GPU computes. Where GPUs or micro-batches share the step, its
/// terms contain what the host adds.
void take_clocks(Prediction& prediction) {
    const Workload& workload = prediction.workload;
    const Cost& sum = prediction.kernels.sum;
    const StepTime step = step_time(prediction.kernels, prediction.shape, workload);
    prediction.host_time = step.timeline.host_time;
    if (prediction.scope == Scope::Layer) {
        prediction.host_time = {};
        prediction.time = prediction.gpu_busy = sum.time;
        const Interval within = interval_of(sum, spread_of(workload, prediction.shape));
        prediction.low = sum.time * within.low;
        prediction.high = sum.time * within.high;
    } else if (const std::optional<Step>& split = prediction.split) {
        prediction.host_time = step.timeline.host_time * static_cast<double>(workload.micro_batches);
        prediction.gpu_busy = split->time - split->term(StepTerm::Host).exposed;
        prediction.time = split->time;
        prediction.low = split->low;
        prediction.high = split->high;
    } else {
        prediction.gpu_busy = step.timeline.gpu_busy;
        prediction.time = step.timeline.time;
        prediction.low = step.low;
        prediction.high = step.high;
    }
    prediction.idle = prediction.time - prediction.gpu_busy;
    prediction.host_bound = prediction.idle > prediction.time * idle_of_host_bound;
}

Prediction finished(Prediction prediction, const Pricer& pricer) {
    summarize(prediction);
    const Workload& workload = prediction.workload;
    const bool layer = prediction.scope == Scope::Layer;
    const std::int64_t gpus = layer ? workload.parallel.tp * workload.parallel.cp : gpu_count(workload.parallel);
    const FlopsPerSecond peak = pricer.peak(workload) * static_cast<double>(gpus);
    prediction.flops = (layer ? layer_model_flops : model_flops)(prediction.shape, workload);
    prediction.hardware_flops =
        prediction.split ? prediction.split->hardware_flops : prediction.kernels.flops * static_cast<double>(gpus);
    prediction.mfu = (prediction.flops / prediction.time) / peak;
    prediction.hfu = (prediction.hardware_flops / prediction.time) / peak;
    return prediction;
}

}  // namespace

bool answer::is_split(const Workload& workload) {
    if (workload.parallel.pp > 1 || workload.micro_batches > 1) return true;
    return gpu_count(workload.parallel) > 1 && workload.phase == Phase::Train && !workload.forward_only;
}

Seconds answer::whole_step(const Shape& shape, const Workload& workload, const Pricer& pricer) {
    if (is_split(workload)) return price_step(shape, workload, pricer).time;
    return step_time(price(lower(shape, workload), pricer), shape, workload).timeline.time;
}

Prediction answer::predict(const Question& question, const Pricer& pricer, GraphCost step) {
    Prediction prediction = prediction_of(question, pricer);
    prediction.kernels = std::move(step);
    if (answer::is_split(question.workload)) prediction.split = price_step(question.shape, question.workload, pricer);
    prediction = finished(std::move(prediction), pricer);
    if (prediction.host_bound) prediction.remedies = answer::host_remedies(question, pricer, prediction);
    return prediction;
}

Prediction predict(const Question& question, Scope scope) {
    const Pricer pricer = question.pricer();
    if (scope == Scope::Model) {
        return answer::predict(question, pricer, price(lower(question.shape, question.workload), pricer));
    }
    Prediction prediction = prediction_of(question, pricer);
    prediction.scope = scope;
    prediction.kernels = prediction.layer;
    return finished(std::move(prediction), pricer);
}

void summarize(Prediction& prediction) {
    const Workload& workload = prediction.workload;
    take_clocks(prediction);
    const std::int64_t micro_batches = prediction.scope == Scope::Layer ? 1 : workload.micro_batches;
    const std::int64_t replicas = prediction.scope == Scope::Layer ? 1 : workload.parallel.dp;
    prediction.tokens_per_step = tokens_per_step(workload) * static_cast<double>(micro_batches * replicas);
    prediction.tokens_per_s = prediction.tokens_per_step / prediction.time.value;
    prediction.fits = prediction.memory.total <= room(prediction.device);
    prediction.notes.clear();
    if (const std::int64_t missing = missing_positions(prediction.shape, workload); missing > 0) {
        prediction.fits = false;
        prediction.notes.push_back("the model has learned positions for " +
                                   std::to_string(prediction.shape.position_rows) + " tokens, " +
                                   std::to_string(missing) + " fewer than a sequence has");
    }
    prediction.components = by_component(prediction.kernels);
    prediction.families = by_family(prediction.kernels);
}

Seconds Prediction::time_of(Component component) const {
    const auto found = std::find_if(components.begin(), components.end(),
                                    [&](const ComponentCost& part) { return part.component == component; });
    return found == components.end() ? Seconds{} : found->time;
}

std::vector<PricedOp> slowest(const GraphCost& cost, std::size_t keep) {
    std::vector<PricedOp> ops = cost.ops;
    std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.total > b.total; });
    if (ops.size() > keep) ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(keep), ops.end());
    return ops;
}

Comparison compare(std::vector<Prediction> predictions) {
    Comparison comparison{std::move(predictions), {}, {}, 0};
    const std::vector<Prediction>& shapes = comparison.shapes;
    for (const Prediction& shape : shapes) comparison.learning.push_back(learning_of(shapes.front(), shape));
    comparison.components = components_of(shapes);
    const auto fastest = std::max_element(shapes.begin(), shapes.end(),
                                          [](const auto& a, const auto& b) { return a.tokens_per_s < b.tokens_per_s; });
    comparison.fastest = static_cast<std::size_t>(fastest - shapes.begin());
    return comparison;
}

Comparison compare(std::span<const Question> questions) {
    std::vector<Prediction> predictions;
    for (const Question& question : questions) predictions.push_back(predict(question));
    return compare(std::move(predictions));
}

}  // namespace tilewright
