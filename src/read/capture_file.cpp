// The keys of a captured graph, in the order of docs/capture.md. Indices are checked here, so that whoever walks over
// the graph need not.
#include "read/capture_file.h"

#include <algorithm>

#include "quantity/printable.h"
#include "read/gzip.h"
#include "read/hugging_face.h"

namespace tilewright::read {
namespace {

constexpr std::string_view schema = "tilewright.graph/1";
constexpr std::size_t largest_graph = max_document_bytes;  ///< unpacked
constexpr std::size_t most_dimensions = 16;
constexpr std::int64_t most_elements = std::int64_t{1} << 50;  ///< of one tensor
constexpr Range sizes_of_tensor{0, std::int64_t{1} << 40};

/// The lists of a captured graph, each read against those before it.
class GraphReader {
public:
    GraphReader(const Value& root, Report& report) : root_(root), report_(report) {}

    Capture read() {
        Fields fields(root_, "", report_);
        if (const Value* program = fields.table("program")) read_program(*program);
        if (const Value* versions = fields.table("versions")) {
            for (const Member& member : *versions->as<Object>()) {
                if (const auto* text = member.value.as<std::string>()) {
                    capture_.versions.push_back(printable(member.key + " " + *text));
                }
            }
        }
        capture_.recorded_with = printable(fields.text("recorded_with").value_or(""));
        for (const std::string& note : fields.texts("notes")) capture_.notes.push_back(printable(note));
        capture_.parameters = fields.integer("parameters", {0, most_elements}).value_or(0);
        capture_.weights = {static_cast<double>(fields.integer("parameter_bytes", {0, most_elements}).value_or(0))};
        capture_.peak = {static_cast<double>(fields.integer("peak_bytes", {0, most_elements}).value_or(0))};
        for (const Value& tensor : list("tensors")) read_tensor(tensor);
        for (const Value& path : list("modules")) {
            const auto* text = path.as<std::string>();
            if (text == nullptr) refuse(path, "a module's path");
            capture_.modules.push_back(text == nullptr ? "" : printable(*text));
        }
        for (const Value& op : list("ops")) read_op(op);
        read_calls();
        return std::move(capture_);
    }

private:
    void refuse(const Value& value, const std::string& expected) {
        if (++refused_ <= 8) report_.add(value.line, "found " + describe(value), "expected " + expected);
    }

    const Array& list(std::string_view key) {
        static const Array none;
        const Value* value = root_.find(key);
        if (value != nullptr && value->as<Array>() != nullptr) return *value->as<Array>();
        report_.add(value == nullptr ? 0 : value->line, std::string(key) + " is missing or no list",
                    "record the graph again; docs/capture.md has the format");
        return none;
    }

    void read_program(const Value& table) {
        Fields fields(table, "program", report_);
        capture_.program = printable(fields.text("class").value_or(""));
        if (capture_.program.empty()) capture_.program = printable(fields.text("target").value_or(""));
        capture_.phase = printable(fields.text("phase").value_or(""));
        capture_.master = printable(fields.text("master").value_or(""));
        capture_.batch = fields.integer("batch", sizes_or_none).value_or(0);
        capture_.seq = fields.integer("seq", sizes_or_none).value_or(0);
    }

    std::vector<std::int64_t> integers(const Value& value) {
        std::vector<std::int64_t> found;
        const Array* array = value.as<Array>();
        if (array == nullptr || array->size() > most_dimensions) {
            refuse(value, "a list of at most 16 integers");
            return found;
        }
        for (const Value& item : *array) {
            const auto* integer = item.as<std::int64_t>();
            if (integer == nullptr || *integer < sizes_of_tensor.low || *integer > sizes_of_tensor.high) {
                refuse(item, expected_integer(sizes_of_tensor));
                continue;
            }
            found.push_back(*integer);
        }
        return found;
    }

    /// [type, sizes, strides] and a device where it is not CUDA.
    void read_tensor(const Value& value) {
        CapturedTensor tensor;
        const Array* parts = value.as<Array>();
        const std::string* word = parts != nullptr && parts->size() >= 3 ? (*parts)[0].as<std::string>() : nullptr;
        if (word == nullptr) {
            refuse(value, "a tensor: [type, sizes, strides]");
        } else {
            tensor.sizes = integers((*parts)[1]);
            tensor.strides = integers((*parts)[2]);
            if (const auto type = find_named<ElementType>(*word)) tensor.type = *type;
            CheckedCount count{1};
            for (const std::int64_t size : tensor.sizes) count = count * CheckedCount{std::max<std::int64_t>(1, size)};
            const bool fits = count.value() && *count.value() <= most_elements;
            if (!fits || tensor.sizes.size() != tensor.strides.size())
                refuse(value, "as many strides as sizes, and fewer than 2^50 elements");
            const auto* device = parts->size() > 3 ? (*parts)[3].as<std::string>() : nullptr;
            tensor.on_gpu = device == nullptr || device->starts_with("cuda");
        }
        capture_.tensors.push_back(std::move(tensor));
    }

    /// "t12" is a tensor, where there are so many.
    std::optional<TensorIndex> tensor_index(const std::string& text) const {
        if (text.size() < 2 || text.size() > 9 || text[0] != 't') return std::nullopt;
        std::size_t index = 0;
        for (const char c : text.substr(1)) {
            if (c < '0' || c > '9') return std::nullopt;
            index = 10 * index + static_cast<std::size_t>(c - '0');
        }
        if (index >= capture_.tensors.size()) return std::nullopt;
        return TensorIndex{index};
    }

    CapturedValue value_of(const Value& value) const {
        if (const auto* text = value.as<std::string>()) {
            if (const auto index = tensor_index(*text)) return {*index};
            return {*text};
        }
        if (const auto* flag = value.as<bool>()) return {*flag};
        if (const auto* integer = value.as<std::int64_t>()) return {*integer};
        if (const auto* number = value.as<double>()) return {*number};
        if (const auto* array = value.as<Array>()) return {values_of(*array)};
        return {};
    }

    std::vector<CapturedValue> values_of(const Array& array) const {
        std::vector<CapturedValue> values;
        values.reserve(array.size());
        for (const Value& item : array) values.push_back(value_of(item));
        return values;
    }

    /// [name, arguments, named arguments, results]
    void read_op(const Value& value) {
        CapturedOp op;
        const Array* parts = value.as<Array>();
        const bool whole = parts != nullptr && parts->size() == 4 && (*parts)[0].as<std::string>() != nullptr &&
                           (*parts)[1].as<Array>() != nullptr && (*parts)[2].as<Object>() != nullptr &&
                           (*parts)[3].as<Array>() != nullptr;
        if (!whole) {
            refuse(value, "an op: [name, arguments, {named arguments}, results]");
        } else {
            op.name = printable(*(*parts)[0].as<std::string>());
            op.arguments = values_of(*(*parts)[1].as<Array>());
            for (const Member& member : *(*parts)[2].as<Object>())
                op.named.emplace_back(member.key, value_of(member.value));
            op.results = values_of(*(*parts)[3].as<Array>());
        }
        capture_.ops.push_back(std::move(op));
    }

    std::size_t index(const Value& value, std::size_t count) {
        const auto* integer = value.as<std::int64_t>();
        if (integer != nullptr && *integer >= 0 && static_cast<std::size_t>(*integer) < count) {
            return static_cast<std::size_t>(*integer);
        }
        refuse(value, "an index below " + std::to_string(count));
        return 0;
    }

    void read_calls() {
        const Array &calls = list("calls"), &modules = list("call_modules");
        if (calls.size() != modules.size()) {
            report_.add(root_.line,
                        "calls has " + std::to_string(calls.size()) + " entries and call_modules " +
                            std::to_string(modules.size()),
                        "record the graph again");
            return;
        }
        for (std::size_t i = 0; i < calls.size(); ++i) {
            capture_.calls.push_back(
                {index(calls[i], capture_.ops.size()), index(modules[i], capture_.modules.size()), Pass::Forward});
        }
        read_passes();
    }

    /// [["forward", 1200], ["backward", 2100], …]
    void read_passes() {
        std::size_t at = 0;
        for (const Value& run : list("passes")) {
            const Array* parts = run.as<Array>();
            const bool whole = parts != nullptr && parts->size() == 2 && (*parts)[0].as<std::string>() != nullptr &&
                               (*parts)[1].as<std::int64_t>() != nullptr;
            if (!whole) {
                refuse(run, "a run of calls: [pass, count]");
                continue;
            }
            const std::string& word = *(*parts)[0].as<std::string>();
            const std::int64_t count = *(*parts)[1].as<std::int64_t>();
            const Pass pass = word == "optimizer" ? Pass::Update : word == "backward" ? Pass::Backward : Pass::Forward;
            for (std::int64_t i = 0; i < count && at < capture_.calls.size(); ++i) capture_.calls[at++].pass = pass;
        }
    }

    const Value& root_;
    Report& report_;
    Capture capture_;
    int refused_ = 0;
};

/// The family of a class: "transformers.GPTNeoXForCausalLM" is gpt_neox. Empty where it is none that is read.
std::string_view family_of_class(std::string name) {
    name = name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
    if (!name.ends_with("ForCausalLM") && !name.ends_with("LMHeadModel")) return {};
    name.resize(name.size() - 11);
    const auto folded = [](std::string_view word) {
        std::string out;
        for (const char c : word) {
            if (c != '_') out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        }
        return out;
    };
    for (const Family& family : families()) {
        for (const std::string_view model_type : family.model_types) {
            if (folded(model_type) == folded(name)) return model_type;
        }
    }
    return {};
}

Result<Value> document_of(std::string_view bytes, const std::string& where) {
    if (!is_gzip(bytes)) return read_json(bytes, where);
    const Result<std::string> unpacked = gunzip(bytes, where, largest_graph);
    if (!unpacked) return unpacked.problems();
    return read_json(*unpacked, where);
}

}  // namespace

bool is_capture(const Value& root) {
    const Value* found = root.find("schema");
    const auto* text = found == nullptr ? nullptr : found->as<std::string>();
    return text != nullptr && text->starts_with("tilewright.graph/");
}

bool looks_like_capture(std::string_view bytes) {
    constexpr std::size_t head = 4096;
    if (!is_gzip(bytes)) return bytes.substr(0, head).find("tilewright.graph/") != std::string_view::npos;
    const Result<std::string> unpacked = gunzip(bytes, "", largest_graph);
    return unpacked && std::string_view(*unpacked).substr(0, head).find("tilewright.graph/") != std::string_view::npos;
}

ShapeFile shape_of_capture(const Value& root, Report& report) {
    const Value* program = root.find("program");
    const Value* name = program == nullptr ? nullptr : program->find("class");
    const Value* config = program == nullptr ? nullptr : program->find("config");
    const auto* text = name == nullptr ? nullptr : name->as<std::string>();
    const std::string_view family = text == nullptr ? std::string_view{} : family_of_class(*text);
    if (family.empty() || config == nullptr || config->as<Object>() == nullptr) {
        report.add(name == nullptr ? 0 : name->line,
                   "the shape of " + (text == nullptr ? "this program" : printable(*text)) + " is not known",
                   "say predict, which prices what was recorded");
        return {};
    }
    Value known = *config;
    Object& members = std::get<Object>(known.data);
    std::erase_if(members, [](const Member& member) { return member.key == "model_type"; });
    members.push_back({"model_type", {name->line, std::string(family)}});
    ShapeFile file = read_hugging_face(known, Assume::No, report);
    Fields fields(*program, "program", report);
    Workload workload;
    const std::string phase = fields.text("phase").value_or("");
    workload = in_phase(workload, phase == "train" ? Phase::Train : phase == "decode" ? Phase::Decode : Phase::Prefill);
    workload.batch = fields.integer("batch", sizes).value_or(1);
    workload.seq = fields.integer("seq", sizes).value_or(1);
    file.workload = workload;
    return file;
}

Result<Capture> read_capture(std::string_view bytes, const std::string& where) {
    const Result<Value> root = document_of(bytes, where);
    if (!root) return root.problems();
    Report report{where, {}};
    const Value* stated = root->find("schema");
    if (!is_capture(*root) || *stated->as<std::string>() != schema) {
        return Problem{where, stated == nullptr ? 1 : stated->line,
                       "is no captured graph of schema " + std::string(schema),
                       "record it with tilewright_capture; docs/capture.md says how"};
    }
    Capture capture = GraphReader(*root, report).read();
    if (!report.clean()) return report.by_line();
    Report unknown{where, {}};
    const ShapeFile file = shape_of_capture(*root, unknown);
    if (unknown.clean() && validate(file.shape).empty()) capture.shape = file.shape;
    return capture;
}

}  // namespace tilewright::read
