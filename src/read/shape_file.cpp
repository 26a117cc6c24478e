// The keys of our own form, in the order of the Shape and Workload structs, and the choice between that form and a
// Hugging Face config.json.
#include "read/capture_file.h"
#include "read/document.h"
#include "read/fields.h"
#include "read/foreign.h"
#include "read/gzip.h"
#include "read/hugging_face.h"
#include "shape/defaults.h"
#include "tilewright/read.h"

namespace tilewright::read {
namespace {

void read_sizes(Fields& fields, Shape& shape) {
    shape.hidden = fields.required_integer("hidden", sizes);
    shape.layers = fields.required_integer("layers", sizes);
    shape.heads = fields.required_integer("heads", sizes);
    shape.vocab = fields.required_integer("vocab", sizes);
    shape.kv_heads = fields.integer("kv_heads", sizes).value_or(0);
    shape.head_dim = fields.integer("head_dim", sizes).value_or(0);
    shape.ffn = fields.integer("ffn", sizes).value_or(0);
    shape.position_rows = fields.integer("position_rows", sizes_or_none).value_or(0);
    shape.embedding_dim = fields.integer("embedding_dim", sizes_or_none).value_or(0);
    shape.window = fields.integer("window", sizes_or_none).value_or(0);
    shape.windowed_every = fields.integer("windowed_every", sizes).value_or(1);
    shape.windowed = fields.integer("windowed", sizes).value_or(1);
}

void read_switches(Fields& fields, Shape& shape) {
    shape.block = fields.word<BlockForm>("block").value_or(shape.block);
    shape.positions = fields.word<Positions>("positions").value_or(shape.positions);
    shape.tied = fields.flag("tied").value_or(shape.tied);
    Norms& norms = shape.norms;
    norms.kind = fields.word<NormKind>("norm").value_or(norms.kind);
    norms.per_layer = static_cast<int>(fields.integer("norms_per_layer", {0, 4}).value_or(norms.per_layer));
    norms.final = fields.flag("final_norm").value_or(norms.final);
    norms.embedding = fields.flag("embedding_norm").value_or(norms.embedding);
    norms.query_key = fields.flag("query_key_norm").value_or(norms.query_key);
    norms.query_key_whole = fields.flag("query_key_norm_whole").value_or(norms.query_key_whole);
    shape.sinks = fields.flag("sinks").value_or(shape.sinks);
    Biases& bias = shape.bias;
    bias.qkv = fields.flag("bias_qkv").value_or(bias.qkv);
    bias.projection = fields.flag("bias_projection").value_or(bias.projection);
    bias.mlp = fields.flag("bias_mlp").value_or(bias.mlp);
    bias.head = fields.flag("bias_head").value_or(bias.head);
}

Experts read_experts(const Value& table, Report& report) {
    Fields fields(table, "[shape.experts]", report);
    Experts experts;
    experts.count = fields.required_integer("count", sizes);
    experts.active = fields.required_integer("active", sizes);
    experts.ffn = fields.required_integer("ffn", sizes);
    experts.shared_ffn = fields.integer("shared_ffn", sizes_or_none).value_or(0);
    experts.dense_layers = fields.integer("dense_layers", sizes_or_none).value_or(0);
    experts.every = fields.integer("every", sizes).value_or(1);
    experts.router_bias = fields.flag("router_bias").value_or(false);
    fields.reject_unknown();
    return experts;
}

Latent read_latent(const Value& table, Report& report) {
    Fields fields(table, "[shape.latent]", report);
    Latent latent;
    latent.q_rank = fields.integer("q_rank", sizes_or_none).value_or(0);
    latent.kv_rank = fields.required_integer("kv_rank", sizes);
    latent.nope_dim = fields.required_integer("nope_dim", sizes);
    latent.rope_dim = fields.required_integer("rope_dim", sizes);
    latent.v_dim = fields.required_integer("v_dim", sizes);
    fields.reject_unknown();
    return latent;
}

Shape read_shape_table(const Value& table, Report& report) {
    Fields fields(table, "[shape]", report);
    Shape shape = default_shape(fields.word<MlpKind>("mlp").value_or(MlpKind::Plain));
    read_sizes(fields, shape);
    read_switches(fields, shape);
    shape.family = fields.text("family").value_or("");
    if (const Value* experts = fields.table("experts")) shape.experts = read_experts(*experts, report);
    if (const Value* latent = fields.table("latent")) shape.latent = read_latent(*latent, report);
    const bool needs_ffn = shape.mlp == MlpKind::Gated &&
                           !(shape.experts && shape.experts->dense_layers == 0 && shape.experts->every == 1);
    if (needs_ffn) fields.require("ffn", expected_integer(sizes));
    fields.reject_unknown();
    return shape;
}

Workload read_workload_table(const Value& table, Report& report) {
    Fields fields(table, "[workload]", report);
    Workload workload;
    workload.phase = fields.word<Phase>("phase").value_or(workload.phase);
    workload.batch = fields.integer("batch", sizes).value_or(workload.batch);
    workload.seq = fields.integer("seq", sizes).value_or(workload.seq);
    workload.kv_len = fields.integer("kv_len", sizes_or_none).value_or(workload.kv_len);
    workload.precision = fields.word<Precision>("precision").value_or(workload.precision);
    workload.formats = {fields.word<Format>("weights"), fields.word<Format>("activations"), fields.word<Format>("kv")};
    workload.runtime = fields.word<RuntimeId>("runtime").value_or(usual_runtime(workload.phase));
    workload.attention = fields.word<AttentionBackend>("attention").value_or(workload.attention);
    workload.clock = fields.word<Clock>("clock").value_or(workload.clock);
    Parallelism& parallel = workload.parallel;
    parallel.tp = fields.integer("tp", sizes).value_or(parallel.tp);
    parallel.pp = fields.integer("pp", sizes).value_or(parallel.pp);
    parallel.dp = fields.integer("dp", sizes).value_or(parallel.dp);
    parallel.cp = fields.integer("cp", sizes).value_or(parallel.cp);
    parallel.ep = fields.integer("ep", sizes).value_or(parallel.ep);
    parallel.etp = fields.integer("etp", sizes).value_or(parallel.etp);
    workload.redundant_experts = fields.integer("redundant_experts", sizes_or_none).value_or(0);
    workload.expert_skew = fields.positive("expert_skew").value_or(workload.expert_skew);
    parallel.zero_stage = static_cast<int>(fields.integer("zero_stage", {0, 3}).value_or(parallel.zero_stage));
    fields.reject_unknown();
    return workload;
}

/// The line of a field that `validate` names in the vocabulary of Shape or Workload ("norms.per_layer", "parallel.tp").
int line_of_field(const Value& table, std::string_view field) {
    if (const Value* value = table.find(field)) return value->line;
    const std::size_t dot = field.find('.');
    if (dot == std::string_view::npos) return 0;
    if (const Value* within = table.find(field.substr(0, dot))) return line_of_field(*within, field.substr(dot + 1));
    std::string joined(field);
    joined[dot] = '_';
    if (const Value* value = table.find(joined)) return value->line;
    return line_of_field(table, field.substr(dot + 1));
}

/// The keys of a table and of the tables in it, under the names that problems give their fields.
void add_places(const Value& table, const std::string& prefix, std::vector<KeyPlace>& places) {
    for (const Member& member : *table.as<Object>()) {
        if (member.value.as<Object>() != nullptr) {
            add_places(member.value, member.key + ".", places);
        } else {
            places.push_back({prefix + member.key, member.key, member.value.line});
        }
    }
}

/// The shape of a file with a [shape] table, and its workload when it has a [workload] table.
ShapeFile read_own_shape(const Value& root, Report& report) {
    ShapeFile file;
    Fields top(root, "", report);
    const std::string source = top.text("source").value_or(report.where);
    top.require("shape", "a table [shape]; docs/shapes.md shows it");
    if (const Value* table = top.table("shape")) {
        file.shape = read_shape_table(*table, report);
        const auto line_of = [&](const std::string& field) { return line_of_field(*table, field); };
        derive_sizes(file.shape);
        report.adopt(validate(report.clean() ? file.shape : with_stand_ins(file.shape)), line_of);
    }
    for (const char* name : {"shape", "workload"}) {
        const Value* table = root.find(name);
        if (table != nullptr && table->as<Object>() != nullptr) add_places(*table, "", file.places);
    }
    if (const Value* table = top.table("workload")) {
        file.workload = read_workload_table(*table, report);
        report.adopt(validate(*file.workload), [&](const std::string& field) { return line_of_field(*table, field); });
    }
    top.reject_unknown();
    file.shape.name = name_from(report.where);
    file.shape.source = source;
    return file;
}

/// A file of another program, with its name and what `validate` says.
Result<ShapeFile> finished(ShapeFile file, Report& report) {
    const auto unplaced = [](const std::string&) { return 0; };
    if (report.clean()) report.adopt(validate(file.shape), unplaced);
    if (report.clean() && file.workload) report.adopt(validate(*file.workload), unplaced);
    if (!report.clean()) return report.by_line();
    file.shape.name = name_from(report.where);
    file.shape.source = report.where;
    return file;
}

/// A document of ours, of Hugging Face, or of another program.
Result<ShapeFile> read_document(const Value& root, bool json, Assume assume, Report& report) {
    if (is_capture(root) || root.find("shape") != nullptr) {
        ShapeFile file = is_capture(root) ? shape_of_capture(root, report) : read_own_shape(root, report);
        if (!report.clean()) return report.by_line();
        return file;
    }
    if (json && looks_like_params(root)) return finished(read_params(root, report), report);
    if (looks_like_torchtitan(root)) return finished(read_torchtitan(root, report), report);
    if (json && looks_like_deepspeed(root)) {
        return Problem{report.where, 1, "a configuration of DeepSpeed says how a model is trained and not what it is",
                       "name a shape, and give this file by --workload"};
    }
    if (json && looks_like_index(root)) {
        return Problem{report.where, 1, "an index names files and no sizes",
                       "name it on the command line, beside its files"};
    }
    ShapeFile file = json ? read_hugging_face(root, assume, report) : read_own_shape(root, report);
    if (!report.clean()) return report.by_line();
    return file;
}

/// Whether a document is JSON, by how it begins or by its name; otherwise it is TOML.
bool is_json(std::string_view text, std::string_view where) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return where.ends_with(".json") || (first != std::string_view::npos && text[first] == '{');
}

}  // namespace
}  // namespace tilewright::read

namespace tilewright {

Result<ShapeFile> read_shape(std::string_view bytes, const std::string& where, Assume assume) {
    if (read::is_gzip(bytes)) {
        const Result<std::string> unpacked = read::gunzip(bytes, where, read::max_document_bytes);
        return unpacked ? read_shape(*unpacked, where, assume) : Result<ShapeFile>(unpacked.problems());
    }
    read::Report report{where, {}};
    if (read::looks_like_gguf(bytes)) return read::finished(read::read_gguf(bytes, report), report);
    if (read::looks_like_safetensors(bytes)) {
        const Result<read::Tensors> tensors = read::read_safetensors(bytes, where);
        if (!tensors) return tensors.problems();
        return read::finished(read::shape_of_tensors(*tensors, report), report);
    }
    const std::string_view text = read::without_mark(bytes);
    const bool json = read::is_json(text, where);
    if (!json && bytes.size() <= read::max_document_bytes && read::looks_like_megatron(text)) {
        return read::finished(read::read_megatron(text, report), report);
    }
    const Result<read::Value> root = json ? read::read_json(bytes, where) : read::read_toml(bytes, where);
    if (!root) return root.problems();
    return read::read_document(*root, json, assume, report);
}

Result<WorkloadFile> read_workload(std::string_view bytes, const std::string& where) {
    read::Report report{where, {}};
    read::Tally tally;
    WorkloadFile file;
    const std::string_view text = read::without_mark(bytes);
    const bool json = read::is_json(text, where);
    if (!json && bytes.size() <= read::max_document_bytes && read::looks_like_megatron(text)) {
        file.workload = read::megatron_workload(text, tally, report);
    } else {
        const Result<read::Value> root = json ? read::read_json(bytes, where) : read::read_toml(bytes, where);
        if (!root) return root.problems();
        const read::Value* own = root->find("workload");
        if (own != nullptr && own->as<read::Object>() != nullptr) {
            file.workload = read::read_workload_table(*own, report);
        } else if (read::looks_like_torchtitan(*root)) {
            file.workload = read::torchtitan_workload(*root, tally, report);
        } else if (read::looks_like_deepspeed(*root)) {
            read::read_deepspeed(*root, file.workload, tally, report);
        } else {
            report.add(1, "says nothing of how a model is run",
                       "a [workload] table of ours, DeepSpeed's JSON, torchtitan's TOML and Megatron's arguments do");
        }
    }
    if (report.clean()) report.adopt(validate(file.workload), [](const std::string&) { return 0; });
    if (!report.clean()) return report.by_line();
    file.assumed = tally.lines();
    return file;
}

}  // namespace tilewright
