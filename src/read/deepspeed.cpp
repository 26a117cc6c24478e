// DeepSpeed's configuration says how a model is trained and nothing of the model.
#include "read/foreign.h"

namespace tilewright::read {
namespace {

bool enabled(Fields& top, const char* key, Report& report) {
    const Value* table = top.table(key);
    if (table == nullptr) return false;
    return Fields(*table, key, report).flag("enabled").value_or(false);
}

/// A count, or nothing where the file says "auto", which leaves it to the trainer.
std::optional<std::int64_t> count(Fields& top, const char* key, Tally& tally) {
    const Value* value = top.ask(key);
    if (value == nullptr) return std::nullopt;
    const auto* text = value->as<std::string>();
    if (text != nullptr && *text == "auto") {
        tally.ignore(std::string(key) + " (auto)");
        return std::nullopt;
    }
    tally.take(key);
    return top.integer(key, {1, 1 << 30});
}

}  // namespace

bool looks_like_deepspeed(const Value& root) {
    for (const char* key : {"zero_optimization", "train_micro_batch_size_per_gpu", "train_batch_size"}) {
        if (root.find(key) != nullptr) return true;
    }
    return false;
}

void read_deepspeed(const Value& root, Workload& workload, Tally& tally, Report& report) {
    Fields top(root, "", report);
    workload.batch = count(top, "train_micro_batch_size_per_gpu", tally).value_or(workload.batch);
    workload.micro_batches = count(top, "gradient_accumulation_steps", tally).value_or(workload.micro_batches);
    if (const auto all = count(top, "train_batch_size", tally)) {
        const std::int64_t each = workload.batch * workload.micro_batches;
        if (*all % each != 0) {
            report.add(top.line_of("train_batch_size"),
                       "train_batch_size " + std::to_string(*all) + " is no multiple of the " + std::to_string(each) +
                           " sequences of one GPU's step",
                       "it is train_micro_batch_size_per_gpu times gradient_accumulation_steps times the GPUs");
        } else {
            workload.parallel.dp = *all / each;
        }
    }
    if (const Value* zero = top.table("zero_optimization")) {
        Fields fields(*zero, "zero_optimization", report);
        if (const auto stage = fields.integer("stage", {0, 3})) workload.parallel.zero_stage = static_cast<int>(*stage);
        tally.take("zero_optimization.stage");
        for (const Member* member : fields.unasked()) tally.ignore("zero_optimization." + member->key);
    }
    if (enabled(top, "bf16", report) || enabled(top, "bfloat16", report)) {
        workload.precision = Precision::Bf16;
        tally.take("bf16");
    }
    if (enabled(top, "fp16", report)) {
        workload.precision = Precision::Fp16;
        tally.take("fp16");
    }
    for (const Member* member : top.unasked()) tally.ignore(member->key);
}

}  // namespace tilewright::read
