// What is not covered, and how it is told: model types with layers that a shape cannot say, and keys of structure that
// a family does not know.
#include <algorithm>
#include <span>

#include "read/hugging_face.h"

namespace tilewright::read {
namespace {

/// A kind of model that no shape describes, and the model types that are of it.
struct Uncovered {
    std::string_view why;
    std::initializer_list<std::string_view> types;
};

const Uncovered uncovered[] = {
    {"has state-space layers",
     {"mamba", "mamba2", "falcon_mamba", "jamba", "zamba", "zamba2", "bamba", "nemotron_h", "falcon_h1", "plamo2",
      "hymba", "codestral_mamba", "mamba_ssm"}},
    {"has layers of linear attention",
     {"qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text", "minimax", "minimax_text_01",
      "MiniMaxText01", "kimi_linear", "olmo_hybrid", "rwkv", "rwkv5", "rwkv6", "rwkv7", "retnet"}},
    {"has embeddings of tokens in every layer",
     {"gemma3n", "gemma3n_text", "gemma4", "gemma4_text", "gemma4_unified", "gemma4_unified_text"}},
    {"has layers of cross attention", {"mllama", "mllama_text_model"}},
    {"has differential attention", {"diffllama"}},
    {"has experts within its attention", {"jetmoe"}},
    {"has attention whose output is gated", {"afmoe", "laguna"}},
    {"has two attentions a layer and experts beside them", {"longcat_flash"}},
    {"has layers with different numbers of heads", {"step3p5", "step3p7", "mimo_v2_flash", "openelm"}},
    {"has norms within its attention and its MLP", {"bitnet"}},
    {"chooses the keys of its attention as it goes", {"doge", "deepseek_v4"}},
    {"reads bytes in patches of different lengths", {"blt"}},
    {"has recurrent or convolution layers", {"recurrent_gemma", "lfm2", "lfm2_moe", "stripedhyena", "xlstm"}},
    {"is an encoder",
     {"bert", "roberta", "xlm-roberta", "distilbert", "albert", "electra", "deberta", "deberta-v2", "modernbert",
      "nomic_bert", "mpnet", "camembert", "longformer", "big_bird", "esm", "xlnet", "xlm", "ernie"}},
    {"is a vision or speech model",
     {"vit", "deit", "beit", "swin", "swinv2", "dinov2", "siglip", "siglip_vision_model", "clip", "clip_vision_model",
      "convnext", "whisper", "wav2vec2", "hubert", "resnet"}},
    {"is an encoder and a decoder",
     {"t5", "mt5", "umt5", "longt5", "t5gemma", "bart", "mbart", "pegasus", "marian", "led", "m2m_100", "blenderbot"}},
};

/// Parts of a key's name that speak of structure.
constexpr std::string_view structural[] = {
    "expert",      "moe",         "mamba",      "ssm",        "conv",   "linear_",   "recurrent", "hybrid",
    "layer_types", "block_type",  "pattern",    "altup",      "laurel", "per_layer", "lora_rank", "attn_type_list",
    "attn_layer",  "sparse_step", "layer_freq", "chunk_size", "index_", "num_nextn"};

/// Parts of a name that say that it decides no size: rates, thresholds, how a router is trained.
constexpr std::string_view harmless[] = {
    "loss",        "coef",         "dropout", "_eps", "token", "norm_topk", "implementation", "alpha",
    "bias_update", "router_dtype", "jitter",  "scal", "group", "index_map", "capacity",       "logits"};

bool contains_any(std::string_view key, std::span<const std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return key.find(part) != key.npos; });
}

/// Whether the key is switched on: not null, false, 0, or empty.
bool is_set(const Value& value) {
    if (const auto* flag = value.as<bool>()) return *flag;
    if (const auto* number = value.as<std::int64_t>()) return *number != 0;
    if (const auto* number = value.as<double>()) return *number != 0;
    if (const auto* text = value.as<std::string>()) return !text->empty();
    if (const auto* list = value.as<Array>()) return !list->empty();
    if (const auto* table = value.as<Object>()) return !table->empty();
    return false;
}

}  // namespace

std::vector<const Member*> Config::not_understood() const {
    std::vector<const Member*> found = fields_.unasked();
    std::erase_if(found, [this](const Member* member) {
        const bool of_structure = contains_any(member->key, structural) && !contains_any(member->key, harmless);
        return !is_set(member->value) || (!of_structure && fields_.meant(member->key).empty());
    });
    return found;
}

std::string_view not_covered(std::string_view model_type) {
    for (const Uncovered& kind : uncovered) {
        if (std::find(kind.types.begin(), kind.types.end(), model_type) != kind.types.end()) return kind.why;
    }
    return {};
}

}  // namespace tilewright::read
