// params.json: `dim`, `n_layers`, `n_heads` of Meta's and Mistral's own code. Meta leaves the width of the MLP to a
// formula (llama/model.py, FeedForward): two thirds of 4 dim, times ffn_dim_multiplier, rounded up to multiple_of.
#include <cmath>

#include "read/foreign.h"

namespace tilewright::read {
namespace {

constexpr Range small{1, 1 << 20};

std::int64_t meta_width(Fields& fields, std::int64_t dim, Tally& tally) {
    const std::int64_t multiple = fields.integer("multiple_of", small).value_or(256);
    const double factor = fields.positive("ffn_dim_multiplier").value_or(1.0);
    tally.take("multiple_of");
    if (fields.has("ffn_dim_multiplier")) tally.take("ffn_dim_multiplier");
    const double wide = std::min(factor * static_cast<double>(2 * 4 * dim / 3), 1e12);
    const auto width = static_cast<std::int64_t>(wide);
    return (width + multiple - 1) / multiple * multiple;
}

void take_experts(const Value& table, ConfigDraft& draft, Report& report) {
    Fields moe(table, "moe", report);
    draft.set("num_local_experts", moe.required_integer("num_experts", small));
    draft.set("num_experts_per_tok", moe.required_integer("num_experts_per_tok", small));
}

}  // namespace

bool looks_like_params(const Value& root) { return root.find("dim") != nullptr && root.find("n_heads") != nullptr; }

ShapeFile read_params(const Value& root, Report& report) {
    Fields fields(root, "", report);
    Tally tally;
    const Value* moe = fields.table("moe");
    ConfigDraft draft(moe != nullptr ? "mixtral" : root.find("sliding_window") != nullptr ? "mistral" : "llama");
    const auto copy = [&](const char* from, const char* to) {
        const std::optional<std::int64_t> value = fields.integer(from, sizes);
        if (!value) return;
        draft.set(to, *value);
        tally.take(from);
    };
    const std::int64_t dim = fields.required_integer("dim", sizes);
    draft.set("hidden_size", dim);
    tally.take("dim");
    for (const char* key : {"n_layers", "n_heads"}) fields.require(key, expected_integer(sizes));
    copy("n_layers", "num_hidden_layers");
    copy("n_heads", "num_attention_heads");
    copy("n_kv_heads", "num_key_value_heads");
    copy("head_dim", "head_dim");
    copy("sliding_window", "sliding_window");
    if (fields.has("hidden_dim")) {
        copy("hidden_dim", "intermediate_size");
    } else {
        draft.set("intermediate_size", meta_width(fields, dim, tally));
    }
    const std::int64_t vocab = fields.integer("vocab_size", {-1, largest_size}).value_or(-1);
    draft.set("vocab_size", vocab > 0 ? vocab : 32000);
    tally.take("vocab_size");
    if (moe != nullptr) {
        take_experts(*moe, draft, report);
        tally.take("moe");
    }
    for (const Member* member : fields.unasked()) tally.ignore(member->key);
    if (!report.clean()) return {};
    ShapeFile file = draft.read(tally, report);
    if (vocab <= 0) file.assumed.push_back("vocab_size is left to the tokenizer: 32000, as that of Llama 1 and 2 has");
    return file;
}

}  // namespace tilewright::read
