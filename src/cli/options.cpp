// Shared flags and what they set. Dimensions come from shape.h's own table and words from names.h, so that neither can
// be forgotten here. Every fault of shape, workload and device is reported at once.
#include "cli/options.h"

#include <algorithm>
#include <type_traits>

#include "cli/files.h"
#include "cli/host.h"
#include "quantity/problems.h"
#include "quantity/suggest.h"
#include "tilewright/workload.h"

namespace tilewright::cli {
namespace {

/// What help says of each dimension; one without a line here is described by its name.
std::string dimension_help(std::string_view name) {
    static const std::map<std::string_view, const char*> lines = {
        {"hidden", "width of the residual stream"},
        {"layers", "number of layers"},
        {"heads", "query heads; head size and kv heads follow when they did before"},
        {"kv_heads", "key and value heads"},
        {"head_dim", "size of one head"},
        {"ffn", "inner width of the MLP"},
        {"vocab", "rows of the embedding, padding included"},
        {"position_rows", "rows of a learned position table"},
        {"embedding_dim", "embedding width when it is projected; 0 for hidden"},
        {"window", "sliding attention window in tokens; 0 for none"},
    };
    const auto found = lines.find(name);
    return found == lines.end() ? "sets " + std::string(name) : found->second;
}

template <class E>
void set_choice(const Arguments& arguments, std::string_view flag, E& target) {
    target = arguments.choice<E>(flag).value_or(target);
}

/// A flag of the workload and what it does there; a list, as a search takes it, does nothing.
struct WorkloadFlag {
    Flag flag;
    void (*set)(const Arguments& arguments, std::string_view flag, Workload& workload);
};

template <auto Field>
void set_size(const Arguments& arguments, std::string_view flag, Workload& workload) {
    workload.*Field = arguments.count(flag).value_or(workload.*Field);
}

template <auto Field>
void set_prompts(const Arguments& arguments, std::string_view flag, Workload& workload) {
    workload.prompts.*Field = arguments.count(flag).value_or(0);
}

template <auto Field>
void set_ways(const Arguments& arguments, std::string_view flag, Workload& workload) {
    auto& ways = workload.parallel.*Field;
    if (const auto value = arguments.count(flag)) ways = static_cast<std::remove_reference_t<decltype(ways)>>(*value);
}

template <auto Field>
void set_word(const Arguments& arguments, std::string_view flag, Workload& workload) {
    set_choice(arguments, flag, workload.*Field);
}

template <auto Field>
void set_real(const Arguments& arguments, std::string_view flag, Workload& workload) {
    workload.*Field = arguments.real(flag).value_or(workload.*Field);
}

template <auto Field>
void set_format(const Arguments& arguments, std::string_view flag, Workload& workload) {
    workload.formats.*Field = arguments.choice<Format>(flag);
}

/// How numbers are multiplied and stored, and how experts are served.
const std::vector<WorkloadFlag>& format_table() {
    static const std::vector<WorkloadFlag> table = {
        {{"--precision", joined(precision_words, "|"),
          "of the matrix products; in serving also how weights, and with them activations, are stored (bf16)",
          Kind::Choice},
         [](const Arguments& arguments, std::string_view flag, Workload& workload) {
             set_precision(workload, *arguments.text(flag));
         }},
        {{"--weights", choices<Format>(), "how the layers' weights are stored, in serving (as --precision)",
          Kind::Choice},
         set_format<&Formats::weights>},
        {{"--activations", choices<Format>(), "what these products are given (as is usual for the weights)",
          Kind::Choice},
         set_format<&Formats::activations>},
        {{"--kv", choices<Format>(), "how the KV cache is stored (16 bits)", Kind::Choice}, set_format<&Formats::kv>},
        {{"--redundant-experts", "N", "in serving, copies of the hottest experts over all --ep ranks (0)", Kind::Count},
         set_size<&Workload::redundant_experts>},
        {{"--expert-skew", "X", "in serving, exponent of the power law of tokens over experts, 0: even (1.01)",
          Kind::Real},
         set_real<&Workload::expert_skew>},
    };
    return table;
}

/// The phase comes first: it decides what is usual for the rest.
const std::vector<WorkloadFlag>& workload_table() {
    static const std::vector<WorkloadFlag> table = {
        {{"--phase", choices<Phase>(), "what is run (train)", Kind::Choice},
         [](const Arguments& arguments, std::string_view flag, Workload& workload) {
             workload = in_phase(workload, arguments.choice<Phase>(flag).value_or(Phase::Decode));  // of a load
         }},
        {{"--batch", "N", "micro-batch: sequences on one GPU at a time (4)", Kind::Count}, set_size<&Workload::batch>},
        {{"--seq", "N",
          "tokens per sequence, 8k is 8192; in decode the length of the KV cache (2048, or the learned positions)",
          Kind::Length},
         set_size<&Workload::seq>},
        {{"--kv-len", "N", "tokens attended to, when not as the phase implies", Kind::Length},
         set_size<&Workload::kv_len>},
        {{"--prompts", "N", "prompts that a decoding step computes along, as chunked prefill does (0)", Kind::Count},
         set_prompts<&Prompts::count>},
        {{"--prompt-tokens", "N", "their tokens in this step, of all prompts together", Kind::Length},
         set_prompts<&Prompts::tokens>},
        {{"--prompt-cached", "N", "tokens of each prompt that are in the cache already (0)", Kind::Length},
         set_prompts<&Prompts::cached>},
        {{"--tp", "N", "tensor-parallel GPUs (1)", Kind::Count}, set_ways<&Parallelism::tp>},
        {{"--pp", "N", "pipeline stages (1)", Kind::Count}, set_ways<&Parallelism::pp>},
        {{"--dp", "N", "data-parallel replicas (1)", Kind::Count}, set_ways<&Parallelism::dp>},
        {{"--cp", "N", "context-parallel GPUs (1)", Kind::Count}, set_ways<&Parallelism::cp>},
        {{"--ep", "N", "GPUs of the experts: replicas, then tensor ranks (1)", Kind::Count},
         set_ways<&Parallelism::ep>},
        {{"--etp", "N", "tensor ranks that share an expert (1 with --ep in training)", Kind::Count},
         set_ways<&Parallelism::etp>},
        {{"--zero", "N", "ZeRO stage of the replicas, 0 to 3 (0)", Kind::Count}, set_ways<&Parallelism::zero_stage>},
        {{"--sequence-parallel", "", "tensor ranks share what lies between their products", Kind::Switch},
         [](const Arguments&, std::string_view, Workload& workload) { workload.parallel.sequence_parallel = true; }},
        {{"--virtual-stages", "N", "stretches of layers of one pipeline stage (1)", Kind::Count},
         set_ways<&Parallelism::virtual_stages>},
        {{"--micro-batches", "N", "of one step on one replica: gradient accumulation (1)", Kind::Count},
         set_size<&Workload::micro_batches>},
        {{"--recompute", choices<Recompute>(), "what the backward pass computes again (none)", Kind::Choice},
         set_word<&Workload::recompute>},
        {{"--master", choices<MasterWeights>(), "the optimizer's own copy of the parameters (as the runtime trains)",
          Kind::Choice},
         set_word<&Workload::master>},
        {{"--overlap", choices<Overlap>(), "collectives that run beside products (data)", Kind::Choice},
         set_word<&Workload::overlap>},
        {{"--runtime", "NAME|FILE",
          "the software that runs it, as `tilewright runtimes` lists it or a file (pytorch in training, in a plan "
          "megatron; vllm in serving)",
          Kind::Text},
         [](const Arguments& arguments, std::string_view flag, Workload& workload) {
             workload.runtime = find_runtime(*arguments.text(flag)).value_or(workload.runtime);
         }},
        {{"--host-scale", "X", "how many times longer this machine's host takes (1)", Kind::Real},
         set_real<&Workload::host_scale>},
        {{"--attention", choices<AttentionBackend>(), "attention kernels (auto: as PyTorch picks)", Kind::Choice},
         set_word<&Workload::attention>},
        {{"--clock", choices<Clock>(), "under the power cap, or at full clock (sustained)", Kind::Choice},
         set_word<&Workload::clock>},
    };
    return table;
}

std::vector<WorkloadFlag> all_workload_flags() {
    std::vector<WorkloadFlag> all = workload_table();
    all.insert(all.end(), format_table().begin(), format_table().end());
    return all;
}

constexpr const char* assume_flag = "--assume";
constexpr const char* workload_flag = "--workload";

/// The workload of --workload in place of the shape's own.
void take_workload(const Arguments& arguments, const Session& session, Workload& workload, Problems& problems) {
    const auto path = arguments.text(workload_flag);
    if (!path) return;
    const Result<std::string> bytes = read_whole(*path);
    const Result<WorkloadFile> file = bytes ? read_workload(*bytes, *path) : bytes.problems();
    if (!file) return append(problems, file);
    for (const std::string& line : file->assumed) warn(session, *path + ": " + line);
    workload = file->workload;
}

/// `where` turned from a field's name into what the user can change: the flag given, or the shape and its field.
Problems placed(Problems problems, const Arguments& arguments, const std::string& otherwise) {
    for (Problem& problem : problems) {
        const bool short_way = problem.where == "weights" && !arguments.has("--weights");
        const std::string flag = flag_of(short_way ? "precision" : problem.where);
        if (arguments.has(flag) || otherwise.empty()) {
            problem.where = flag;
        } else {
            if (!problem.what.starts_with(problem.where)) problem.what = problem.where + ": " + problem.what;
            problem.where = otherwise;
        }
    }
    return problems;
}

void note_origin(Question& question, const std::string& what, const std::string& origin) {
    if (origin != built_in) question.used.push_back(what + " from " + origin);
}

/// Flags that change nothing of such a step.
Problems refuse_idle(const Arguments& arguments, const Question& question) {
    static constexpr const char* of_training[] = {"--recompute", "--master", "--zero", "--virtual-stages"};
    const bool trains = question.workload.phase == Phase::Train;
    Problems problems;
    if (!trains) problems = refuse_flags(arguments, of_training, "when nothing is trained");
    if (arguments.has("--expert-skew") && (trains || !question.shape.experts)) {
        problems.push_back({"--expert-skew", 0,
                            trains ? "is of serving; training is priced with even experts"
                                   : "a model without experts has none to load",
                            "leave it out"});
    }
    return problems;
}

void take_shape(const Arguments& arguments, const std::string& name, Question& question, Problems& problems) {
    apply_shape_flags(arguments, question.shape);
    append(problems, placed(validate(question.shape), arguments, name));
}

}  // namespace

std::string flag_of(std::string_view field) {
    if (field == "zero_stage") return "--zero";
    std::string flag = "--" + std::string(field);
    std::replace(flag.begin(), flag.end(), '_', '-');
    return flag;
}

FlagGroup device_flags() {
    return {"Device",
            {{"--gpu", "NAME", "the GPU; `tilewright devices` lists them, local is this machine's", Kind::Text},
             {"--cluster", "NAME|FILE", "a cluster: its GPU, node and network, instead of --gpu", Kind::Text},
             {"--device-file", "FILE", "a data sheet of your own in TOML, instead of --gpu", Kind::Text},
             {"--profile", "FILE", "what was learnt of that GPU, as `tilewright fit -o` writes it", Kind::Text}}};
}

FlagGroup workload_flags() {
    FlagGroup group{"Workload", {}};
    for (const WorkloadFlag& known : all_workload_flags()) group.flags.push_back(known.flag);
    group.flags.push_back(
        {workload_flag, "FILE",
         "how it is run: DeepSpeed's JSON, torchtitan's TOML, Megatron's arguments, or a [workload] of ours",
         Kind::Text});
    return group;
}

FlagGroup serving_workload_flags() {
    FlagGroup group = workload_flags();
    for (Flag& flag : group.flags) {
        if (flag.name == "--phase") flag.value += "|serve";
    }
    return group;
}

FlagGroup shape_flags() {
    FlagGroup group{"Shape overrides", {}};
    for (const Dimension& dimension : dimensions()) {
        const bool length =
            std::string_view(dimension.name) == "window" || std::string_view(dimension.name) == "position_rows";
        group.flags.push_back(
            {flag_of(dimension.name), "N", dimension_help(dimension.name), length ? Kind::Length : Kind::Count});
    }
    group.flags.push_back({"--mlp", choices<MlpKind>(), "plain or gated MLP", Kind::Choice});
    group.flags.push_back(
        {"--block", choices<BlockForm>(), "attention and MLP one after the other or side by side", Kind::Choice});
    group.flags.push_back({"--positions", choices<Positions>(), "how positions are told", Kind::Choice});
    group.flags.push_back({"--norm", choices<NormKind>(), "kind of norm", Kind::Choice});
    group.flags.push_back({"--tied", "yes|no", "whether the head shares the embedding's weights", Kind::Choice});
    group.flags.push_back(
        {assume_flag, "", "go on with a file that is not understood, and say what was assumed", Kind::Switch});
    return group;
}

FlagGroup output_flags() {
    return {"Output", {{"--json", "", "the answer as JSON", Kind::Switch}, {"--help", "", "this page", Kind::Switch}}};
}

void apply_workload_flags(const Arguments& arguments, Workload& workload) {
    for (const WorkloadFlag& known : all_workload_flags()) {
        if (arguments.has(known.flag.name)) known.set(arguments, known.flag.name, workload);
    }
    if (arguments.has("--runtime")) run_by(workload, workload.runtime, arguments);
}

void run_by(Workload& workload, RuntimeId runtime, const Arguments& arguments) {
    workload.runtime = runtime;
    if (!arguments.has("--master") && workload.phase == Phase::Train) workload.master = usual_master(workload);
}

void apply_shape_flags(const Arguments& arguments, Shape& shape) {
    const FlagGroup group = shape_flags();
    for (const Flag& flag : group.flags) {
        const auto value = arguments.text(flag.name);
        if (!value || flag.name == assume_flag) continue;
        const bool searched = *value == "both" || value->find_first_of(",.") != std::string::npos;  // a list or a range
        if (!searched) shape.name += " " + flag.name + " " + *value;
    }
    for (const Dimension& dimension : dimensions()) {
        if (const auto value = arguments.count(flag_of(dimension.name))) set_dimension(shape, dimension.name, *value);
    }
    set_choice(arguments, "--mlp", shape.mlp);
    set_choice(arguments, "--block", shape.block);
    set_choice(arguments, "--positions", shape.positions);
    const bool told = arguments.has("--positions") && !arguments.has("--position-rows");
    if (told && shape.positions != Positions::Learned) shape.position_rows = 0;
    set_choice(arguments, "--norm", shape.norms.kind);
    if (const auto tied = arguments.text("--tied")) shape.tied = *tied == "yes";
}

Assume assume_of(const Arguments& arguments) { return arguments.has(assume_flag) ? Assume::Yes : Assume::No; }

bool overrides_shape(const Arguments& arguments) {
    const FlagGroup group = shape_flags();
    return std::any_of(group.flags.begin(), group.flags.end(),
                       [&](const Flag& flag) { return flag.name != assume_flag && arguments.has(flag.name); });
}

Result<FoundDevice> device_of(const Arguments& arguments) {
    const auto path = arguments.text("--device-file");
    for (const char* flag : {"--device-file", "--cluster"}) {
        if (arguments.has(flag) && arguments.has("--gpu")) {
            return Problem{flag, 0, "is given beside --gpu", "give one of them"};
        }
    }
    const std::string profile = arguments.text("--profile").value_or("");
    if (const auto cluster = arguments.text("--cluster")) return find_in_cluster(*cluster, profile);
    if (path) return read_device_file(*path, profile);
    const auto name = arguments.text("--gpu");
    if (!name) return Problem{"--gpu", 0, "is missing", "say --gpu h200; `tilewright devices` lists them"};
    Result<FoundDevice> found = find_gpu(*name, profile);
    if (!found && (*name == "all" || name->find(',') != std::string::npos))
        return Problem{"--gpu", 0, "'" + *name + "' is more than the one GPU that this takes",
                       "name one; `tilewright compare SHAPE --gpu " + *name + "` sets them side by side"};
    return found;
}

Result<Question> make_question(const Arguments& arguments, const std::string& name, const Session& session,
                               Overrides overrides) {
    Question question;
    Problems problems;
    Result<FoundShape> found = find_shape(name, assume_of(arguments));
    Result<FoundDevice> device = device_of(arguments);
    append(problems, found);
    append(problems, device);
    if (found) {
        for (const std::string& line : found->file.assumed) warn(session, found->origin + ": " + line);
        note_origin(question, "model " + found->file.shape.name, found->origin);
        question.shape = found->file.shape;
        question.workload = found->file.workload.value_or(Workload{});
        if (overrides == Overrides::Apply) take_shape(arguments, name, question, problems);
        if (!found->file.workload) question.workload.seq = usual_length(question.shape);
    }
    const Result<HostScale> host = host_scale(arguments);
    append(problems, host);
    if (host && !host->path.empty()) note_origin(question, "host scale", host->path);
    take_workload(arguments, session, question.workload, problems);
    apply_workload_flags(arguments, question.workload);
    if (found) take_formats(arguments, found->file.stored, question);
    question.workload.host_scale = host ? host->scale : 1.0;
    append(problems, placed(validate(question.workload), arguments, ""));
    if (found) append(problems, refuse_idle(arguments, question));
    if (!problems.empty()) return problems;
    if (arguments.has("--runtime"))
        note_origin(question, "runtime " + *arguments.text("--runtime"), arguments.runtime_origin);
    note_origin(question, "device " + device->device.name, device->origin);
    note_origin(question, "profile " + device->device.name, device->profile_origin);
    question.profile = std::move(device->profile);
    question.device = std::move(device->device);
    if (!host->told) use_own_host(question);
    if (Problems bad = check_formats(question, session); !bad.empty()) return bad;
    return question;
}

Problems misfit(const Arguments& arguments, const Question& question) {
    return placed(validate(question.shape, question.workload), arguments, question.shape.name);
}

Result<std::vector<Question>> make_questions(const Arguments& arguments, const std::vector<Asked>& shapes,
                                             const Session& session) {
    std::vector<Question> questions;
    Problems problems;
    for (const Asked& asked : shapes) {
        const Result<Question> question = make_question(arguments, asked.name, session, asked.overrides);
        for (const Problem& problem : question ? cannot_run(arguments, *question) : question.problems()) {
            if (std::find(problems.begin(), problems.end(), problem) == problems.end()) problems.push_back(problem);
        }
        if (question) questions.push_back(*question);
    }
    if (!problems.empty()) return problems;
    return questions;
}

}  // namespace tilewright::cli
