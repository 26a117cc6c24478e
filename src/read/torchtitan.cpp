// torchtitan names a model and a flavor whose sizes are in its own code; the catalogue has those that were published.
#include "quantity/suggest.h"
#include "read/foreign.h"
#include "tilewright/runtime.h"

namespace tilewright::read {
namespace {

/// Flavors whose name is not the model's own.
constexpr std::pair<std::string_view, std::string_view> flavors[] = {
    {"llama3 405B", "llama-3.1-405b"},       {"llama4 17bx16e", "llama-4-scout"},
    {"llama4 17bx128e", "llama-4-maverick"}, {"deepseek_v3 671B", "deepseek-v3"},
    {"deepseek_v3 16B", "deepseek-v2-lite"}, {"gpt_oss 20b", "gpt-oss-20b"},
};

std::string catalogue_name(const std::string& name, const std::string& flavor) {
    for (const auto& [known, model] : flavors) {
        if (known == name + " " + flavor) return std::string(model);
    }
    return name + "-" + flavor;
}

/// One table of the file: keys that are taken are marked, the rest is ignored by name.
class Section {
public:
    Section(Fields& top, const char* name, Tally& tally, Report& report)
        : name_(name),
          tally_(tally),
          table_(top.table(name)),
          fields_(table_ == nullptr ? empty() : *table_, name, report) {}
    ~Section() {
        if (table_ == nullptr) return;
        for (const Member* member : fields_.unasked()) tally_.ignore(name_ + "." + member->key);
    }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

    /// A degree or size of at least 1; -1 leaves it to the job and is ignored.
    void count(const char* key, std::int64_t& target) {
        const auto value = fields_.integer(key, {-1, 1 << 30});
        if (!value) return;
        if (*value < 1) return tally_.ignore(name_ + "." + key);
        target = *value;
        tally_.take(name_ + "." + key);
    }
    std::string text(const char* key) {
        const auto value = fields_.text(key);
        if (value) tally_.take(name_ + "." + key);
        return value.value_or("");
    }

private:
    static const Value& empty() {
        static const Value none{0, Object{}};
        return none;
    }
    std::string name_;
    Tally& tally_;
    const Value* table_;
    Fields fields_;
};

Workload read_workload(Fields& top, Tally& tally, Report& report) {
    Workload workload;
    workload.runtime = RuntimeId::Torchtitan;
    workload.master = usual_master(workload);
    Section training(top, "training", tally, report);
    training.count("batch_size", workload.batch);
    training.count("local_batch_size", workload.batch);
    training.count("seq_len", workload.seq);
    Parallelism& parallel = workload.parallel;
    Section ways(top, "parallelism", tally, report);
    ways.count("tensor_parallel_degree", parallel.tp);
    ways.count("pipeline_parallel_degree", parallel.pp);
    ways.count("context_parallel_degree", parallel.cp);
    ways.count("expert_parallel_degree", parallel.ep);
    ways.count("expert_tensor_parallel_degree", parallel.etp);
    std::int64_t sharded = 1, replicated = 1;
    ways.count("data_parallel_shard_degree", sharded);
    ways.count("data_parallel_replicate_degree", replicated);
    parallel.dp = sharded * replicated;
    if (sharded > 1) parallel.zero_stage = 3;
    Section checkpoint(top, "activation_checkpoint", tally, report);
    const std::string mode = checkpoint.text("mode");
    if (mode == "full") workload.recompute = Recompute::Full;
    if (mode == "selective") workload.recompute = Recompute::Selective;
    return workload;
}

}  // namespace

bool looks_like_torchtitan(const Value& root) {
    const Value* model = root.find("model");
    return model != nullptr && model->find("flavor") != nullptr;
}

Workload torchtitan_workload(const Value& root, Tally& tally, Report& report) {
    Fields top(root, "", report);
    const Workload workload = read_workload(top, tally, report);
    for (const Member* member : top.unasked()) tally.ignore(member->key);
    return workload;
}

ShapeFile read_torchtitan(const Value& root, Report& report) {
    Tally tally;
    Fields top(root, "", report);
    ShapeFile file;
    {
        Section model(top, "model", tally, report);
        const std::string name = model.text("name"), flavor = model.text("flavor");
        const Result<Shape> found = find_model(catalogue_name(name, flavor));
        if (found) {
            file.shape = *found;
        } else {
            report.add(root.find("model")->find("flavor")->line,
                       "the sizes of model " + quoted(name + " " + flavor) +
                           " are in torchtitan's code, and no model of the catalogue has them",
                       "name the shape itself (`tilewright models` lists them) and give this file by --workload");
        }
    }
    file.workload = read_workload(top, tally, report);
    for (const Member* member : top.unasked()) tally.ignore(member->key);
    file.assumed = tally.lines();
    return file;
}

}  // namespace tilewright::read
