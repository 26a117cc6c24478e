// A step and what follows from it; several side by side.
#include <algorithm>

#include "answer/priced.h"
#include "tilewright/profile.h"

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

Prediction finished(Prediction prediction, const Pricer& pricer) {
    prediction.flops = prediction.step.flops;
    prediction.mfu = model_flops_utilization(prediction.step, pricer, prediction.workload.precision);
    summarize(prediction);
    return prediction;
}

}  // namespace

Prediction answer::predict(const Question& question, const Pricer& pricer, GraphCost step) {
    Prediction prediction = prediction_of(question, pricer);
    prediction.step = std::move(step);
    const Workload& workload = question.workload;
    const bool many = gpu_count(workload.parallel) > 1 || workload.micro_batches > 1;
    const bool training = workload.phase == Phase::Train && !workload.forward_only;
    if (many && training) prediction.training = price_step(question.shape, workload, pricer);
    return finished(std::move(prediction), pricer);
}

Prediction predict(const Question& question, Scope scope) {
    const Pricer pricer = question.pricer();
    if (scope == Scope::Model) {
        return answer::predict(question, pricer, price(lower(question.shape, question.workload), pricer));
    }
    Prediction prediction = prediction_of(question, pricer);
    prediction.scope = scope;
    prediction.step = prediction.layer;
    return finished(std::move(prediction), pricer);
}

void summarize(Prediction& prediction) {
    const Seconds time = prediction.step.sum.time;
    prediction.tokens_per_step = tokens_per_step(prediction.workload);
    prediction.tokens_per_s = prediction.tokens_per_step / time.value;
    prediction.host_bound = prediction.workload.runtime == Runtime::Eager && prediction.step.host_time > time;
    prediction.fits = prediction.memory.total <= prediction.device.memory;
    prediction.components = by_component(prediction.step);
    prediction.families = by_family(prediction.step);
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
    Comparison comparison{std::move(predictions), {}, 0};
    const std::vector<Prediction>& shapes = comparison.shapes;
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
