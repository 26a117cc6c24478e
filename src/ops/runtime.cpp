// The table of runtimes: those of data/runtimes, as lines that the build has put in, and a user's own.
#include "tilewright/runtime.h"

#include <algorithm>
#include <cassert>

#include "ops/runtime_lines.h"

namespace tilewright {
namespace {

constexpr std::size_t built_in_count = static_cast<std::size_t>(RuntimeId::Own);  ///< known by an enumerator
constexpr std::size_t most = 32;                                                  ///< with a user's own

Runtime built_in(const RuntimeLines& file) {
    Result<Runtime> read = read_runtime(file.entries, file.name, std::string(file.name) + ".toml");
    assert(read && "a built-in runtime is readable");
    return std::move(*read);
}

/// Built in the order of `RuntimeId`, then those known by name alone; room for all, so that references stay good.
std::vector<Runtime>& table() {
    static std::vector<Runtime> runtimes = [] {
        std::vector<Runtime> all;
        all.reserve(most);
        for (std::size_t i = 0; i < built_in_count; ++i) {
            const std::string_view name = names<RuntimeId>[i].first;
            for (const RuntimeLines& file : runtime_lines()) {
                if (file.name == name) all.push_back(built_in(file));
            }
        }
        assert(all.size() == built_in_count && "every runtime of the table has a file in data/runtimes");
        for (const RuntimeLines& file : runtime_lines()) {
            if (!find_named<RuntimeId>(file.name)) all.push_back(built_in(file));
        }
        return all;
    }();
    return runtimes;
}

}  // namespace

const Runtime& runtime_of(RuntimeId id) { return table()[static_cast<std::size_t>(id)]; }

std::span<const Runtime> runtimes() { return table(); }

std::string_view name_of(RuntimeId id) { return runtime_of(id).name; }

std::optional<RuntimeId> find_runtime(std::string_view name) {
    const std::vector<Runtime>& all = table();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Runtime& known) { return known.name == name; });
    if (found != all.end()) return static_cast<RuntimeId>(found - all.begin());
    return find_named<RuntimeId>(name);
}

RuntimeId add_runtime(Runtime runtime) {
    std::vector<Runtime>& all = table();
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const Runtime& known) { return known.name == runtime.name; });
    if (same != all.end()) {
        *same = std::move(runtime);
        return static_cast<RuntimeId>(same - all.begin());
    }
    assert(all.size() < most && "few runtimes are added");
    all.push_back(std::move(runtime));
    return static_cast<RuntimeId>(all.size() - 1);
}

MasterWeights usual_master(const Workload& workload) { return runtime_of(workload.runtime).traits.master; }

Workload as_published(const Shape& shape, Workload workload) {
    const std::optional<Engine>& engine = runtime_of(workload.runtime).engine;
    const bool qwen = shape.family == "qwen3" || shape.family == "qwen3_moe";  // weight_block_size of config.json
    const bool blocks =
        shape.family == "deepseek_v3" || shape.family == "kimi_k2" || (qwen && !(engine && engine->own_fp8));
    if (!blocks || workload.phase == Phase::Train || weights_of(workload) != Format::Fp8) return workload;
    workload.formats.weights = Format::Fp8Block;
    if (workload.precision == Precision::Fp8) workload.precision = Precision::Bf16;
    return workload;
}

const RuntimeTraits& traits_of(const Workload& workload, std::string_view family) {
    const Runtime& runtime = runtime_of(workload.runtime);
    const bool autocast = workload.master == MasterWeights::Fp32 && workload.phase == Phase::Train;
    const auto named = std::find_if(runtime.families.begin(), runtime.families.end(),
                                    [&](const Runtime::Family& known) { return known.name == family; });
    if (named != runtime.families.end()) return autocast && named->autocast ? *named->autocast : named->traits;
    return autocast && runtime.autocast ? *runtime.autocast : runtime.traits;
}

}  // namespace tilewright
