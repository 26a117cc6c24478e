"""The models and cases that bench/stopwatch.py times and bench/capture_all.py records: real classes of transformers by their published
configurations, some cut in layers so that they fit and are quick to make. Needs torch only inside `build`.

Constants of a runtime may be set from the classes in FIT alone. Every other class judges: its models, and the batch sizes
they are timed with, never enter a fit. The split is by class, so that no sibling of a judged model was fitted."""
import os
import sys

FIT = {"GPT2LMHeadModel", "OPTForCausalLM", "LlamaForCausalLM", "GemmaForCausalLM", "MixtralForCausalLM"}

# Fields that are not given are the class's defaults of transformers 5; dropout is the published one (gpt2 and opt: 0.1).
MODELS = {
    "gpt2-medium": ("GPT2LMHeadModel", dict(vocab_size=50257, n_positions=1024, n_embd=1024, n_layer=24, n_head=16)),
    "gpt2-medium-without-dropout": ("GPT2LMHeadModel", dict(
        vocab_size=50257, n_positions=1024, n_embd=1024, n_layer=24, n_head=16, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)),
    "opt-1.3b": ("OPTForCausalLM", dict(
        vocab_size=50272, hidden_size=2048, ffn_dim=8192, num_hidden_layers=24, num_attention_heads=32, word_embed_proj_dim=2048,
        max_position_embeddings=2048)),
    "pythia-410m": ("GPTNeoXForCausalLM", dict(
        vocab_size=50304, hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16)),
    "pythia-1b": ("GPTNeoXForCausalLM", dict(
        vocab_size=50304, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=8)),
    "llama-3.2-1b": ("LlamaForCausalLM", dict(
        vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
        num_key_value_heads=8, head_dim=64, max_position_embeddings=131072, tie_word_embeddings=True)),
    "mistral-7b-8-layers": ("MistralForCausalLM", dict(
        vocab_size=32000, hidden_size=4096, intermediate_size=14336, num_hidden_layers=8, num_attention_heads=32,
        num_key_value_heads=8, max_position_embeddings=32768, sliding_window=4096)),
    "qwen2.5-0.5b": ("Qwen2ForCausalLM", dict(
        vocab_size=151936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14,
        num_key_value_heads=2, max_position_embeddings=32768, tie_word_embeddings=True)),
    "qwen2.5-1.5b": ("Qwen2ForCausalLM", dict(
        vocab_size=151936, hidden_size=1536, intermediate_size=8960, num_hidden_layers=28, num_attention_heads=12,
        num_key_value_heads=2, max_position_embeddings=32768, tie_word_embeddings=True)),
    "qwen3-0.6b": ("Qwen3ForCausalLM", dict(
        vocab_size=151936, hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16,
        num_key_value_heads=8, head_dim=128, max_position_embeddings=40960, tie_word_embeddings=True)),
    "gemma-2b": ("GemmaForCausalLM", dict(
        vocab_size=256000, hidden_size=2048, intermediate_size=16384, num_hidden_layers=18, num_attention_heads=8,
        num_key_value_heads=1, head_dim=256)),
    "gemma-2-2b": ("Gemma2ForCausalLM", dict(
        vocab_size=256000, hidden_size=2304, intermediate_size=9216, num_hidden_layers=26, num_attention_heads=8,
        num_key_value_heads=4, head_dim=256)),
    "phi-1.5": ("PhiForCausalLM", dict(
        vocab_size=51200, hidden_size=2048, intermediate_size=8192, num_hidden_layers=24, num_attention_heads=32)),
    "phi-2": ("PhiForCausalLM", dict(
        vocab_size=51200, hidden_size=2560, intermediate_size=10240, num_hidden_layers=32, num_attention_heads=32,
        partial_rotary_factor=0.4)),
    "phi-3-mini-12-layers": ("Phi3ForCausalLM", dict(
        vocab_size=32064, hidden_size=3072, intermediate_size=8192, num_hidden_layers=12, num_attention_heads=32,
        num_key_value_heads=32, max_position_embeddings=4096)),
    "falcon-rw-1b": ("FalconForCausalLM", dict(
        vocab_size=50304, hidden_size=2048, num_hidden_layers=24, num_attention_heads=32, alibi=True, bias=True,
        multi_query=False, parallel_attn=False, new_decoder_architecture=False)),
    "falcon-7b-6-layers": ("FalconForCausalLM", dict(
        vocab_size=65024, hidden_size=4544, num_hidden_layers=6, num_attention_heads=71, alibi=False, bias=False,
        multi_query=True, parallel_attn=True, new_decoder_architecture=False)),
    "mixtral-small": ("MixtralForCausalLM", dict(
        vocab_size=32000, hidden_size=1024, intermediate_size=3584, num_hidden_layers=12, num_attention_heads=16,
        num_key_value_heads=4, num_local_experts=8, num_experts_per_tok=2)),
    "qwen3-30b-a3b-4-layers": ("Qwen3MoeForCausalLM", dict(
        vocab_size=151936, hidden_size=2048, moe_intermediate_size=768, num_hidden_layers=4, num_attention_heads=32,
        num_key_value_heads=4, head_dim=128, num_experts=128, num_experts_per_tok=8, norm_topk_prob=True)),
}

# Encoders and others, which are captured but not timed.
OTHERS = {
    "bert-base": ("BertForMaskedLM", dict(
        vocab_size=30522, hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12)),
    "t5-base": ("T5ForConditionalGeneration", dict(
        vocab_size=32128, d_model=768, d_kv=64, d_ff=3072, num_layers=12, num_decoder_layers=12, num_heads=12)),
    "vit-base": ("ViTForImageClassification", dict(
        hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12, image_size=224, patch_size=16)),
    "whisper-small": ("WhisperForConditionalGeneration", dict(
        vocab_size=51865, num_mel_bins=80, d_model=768, encoder_layers=12, encoder_attention_heads=12, decoder_layers=12,
        decoder_attention_heads=12, encoder_ffn_dim=3072, decoder_ffn_dim=3072)),
}

# Longest sequence of the published model; longer ones are not timed.
POSITIONS = {"gpt2-medium": 1024, "gpt2-medium-without-dropout": 1024, "opt-1.3b": 2048, "pythia-410m": 2048, "pythia-1b": 2048,
             "phi-1.5": 2048, "phi-2": 2048, "phi-3-mini-12-layers": 4096, "falcon-rw-1b": 2048, "falcon-7b-6-layers": 2048}

# Shapes of bench/pytorch_model.py's models, as `tilewright predict NAME --json` gives them.
_PLAIN = {"norms_per_layer": 2, "bias_head": False, "block": "sequential", "position_rows": 0}
_BIASED = {"bias_qkv": True, "bias_projection": True, "bias_mlp": True, "norm": "layer", "mlp": "gelu"}
_UNBIASED = {"bias_qkv": False, "bias_projection": False, "bias_mlp": False, "norm": "rms", "mlp": "swiglu"}
PLAIN = {
    "llama-3.2-1b": _PLAIN | _UNBIASED | {
        "hidden": 2048, "layers": 16, "heads": 32, "kv_heads": 8, "head_dim": 64, "ffn": 8192, "vocab": 128256,
        "positions": "rotary", "tied": True},
    "pythia-410m": _PLAIN | _BIASED | {
        "hidden": 1024, "layers": 24, "heads": 16, "kv_heads": 16, "head_dim": 64, "ffn": 4096, "vocab": 50304,
        "positions": "rotary", "tied": False, "block": "parallel"},
    "opt-1.3b": _PLAIN | _BIASED | {
        "hidden": 2048, "layers": 24, "heads": 32, "kv_heads": 32, "head_dim": 64, "ffn": 8192, "vocab": 50272,
        "positions": "learned", "position_rows": 2050, "tied": True},
    "qwen2.5-0.5b": _PLAIN | _UNBIASED | {
        "hidden": 896, "layers": 24, "heads": 14, "kv_heads": 2, "head_dim": 64, "ffn": 4864, "vocab": 151936,
        "positions": "rotary", "tied": True, "bias_qkv": True},
}


def role(name):
    """Whether a model may set constants (`fit`) or only judges them (`held out`)."""
    return "fit" if {**MODELS, **OTHERS}[name][0] in FIT else "held out"


def shortened(config):
    """Two layers and a small vocabulary: for `--smoke`, where only the path through the program matters."""
    layers = ("n_layer", "num_hidden_layers", "num_layers", "num_decoder_layers", "encoder_layers", "decoder_layers")
    small = {key: 2 if key in layers else value for key, value in config.items()}
    return small | {"pad_token_id": 0, "vocab_size": 1000} | ({"num_experts": 16} if "num_experts" in config else {})


def build(class_name, config, device, dtype):
    """A real class with random weights made on the device."""
    import torch
    import transformers
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
    from tilewright_capture import model_of
    torch.manual_seed(0)
    return model_of(getattr(transformers, class_name), config, device, dtype)


# Models whose full batch is two sequences.
HEAVY = {"gemma-2b", "gemma-2-2b", "phi-2", "mistral-7b-8-layers", "qwen3-30b-a3b-4-layers"}
FIRST = ["llama-3.2-1b", "gpt2-medium", "qwen3-0.6b", "opt-1.3b", "gemma-2-2b", "pythia-410m", "mixtral-small", "qwen2.5-1.5b",
         "phi-1.5", "gemma-2b", "falcon-rw-1b", "mistral-7b-8-layers", "phi-3-mini-12-layers", "qwen3-30b-a3b-4-layers"]
SECOND = ["pythia-1b", "qwen2.5-0.5b", "phi-2", "falcon-7b-6-layers", "gpt2-medium-without-dropout"]
COMPILED = ["llama-3.2-1b", "qwen3-0.6b", "gpt2-medium", "pythia-1b", "phi-1.5", "opt-1.3b", "gemma-2-2b", "qwen2.5-0.5b"]


def sized(name, phase, batch, seq, **more):
    """A case of a model, with the sequence cut to its positions."""
    seq = min(seq, POSITIONS.get(name, 8192))
    return {"model": name, "phase": phase, "batch": batch, "seq": seq, "runtime": "huggingface", "master": "bf16"} | more


def first_cases(name):
    """A batch that fills the GPU and one that does not, in each phase; 16 tokens show the host alone."""
    full = 2 if name in HEAVY else 4
    return [sized(name, "train", full, 2048), sized(name, "train", 1, 2048), sized(name, "train", 1, 16),
            sized(name, "prefill", 4, 2048), sized(name, "prefill", 1, 512), sized(name, "prefill", 1, 16),
            sized(name, "decode", 16, 2048), sized(name, "decode", 1, 512)]


def further_cases(name):
    heavy = name in HEAVY
    cases = [sized(name, "train", 8 if heavy else 16, 512), sized(name, "prefill", 16, 256), sized(name, "decode", 4, 1024)]
    if POSITIONS.get(name, 8192) >= 8192:
        cases += [sized(name, "train", 1, 8192), sized(name, "prefill", 1, 8192), sized(name, "decode", 2, 8192)]
    return cases


def all_cases():
    """Every case, the most telling first."""
    cases = [case for name in FIRST for case in first_cases(name)]
    for name in PLAIN:
        for phase, batch, seq in (("train", 4, 2048), ("train", 1, 2048), ("train", 1, 16), ("prefill", 4, 2048),
                                  ("prefill", 1, 512), ("decode", 16, 2048), ("decode", 1, 512)):
            cases.append(sized(name, phase, batch, seq, runtime="pytorch"))
    masters = ["llama-3.2-1b", "qwen3-0.6b", "gpt2-medium", "pythia-1b", "phi-1.5", "opt-1.3b", "gemma-2b", "qwen2.5-1.5b"]
    cases += [sized(name, "train", batch, 2048, master="fp32") for name in masters for batch in (4, 1)]
    cases += [case for name in SECOND for case in first_cases(name)]
    cases += [case for name in FIRST for case in further_cases(name)]
    for name in COMPILED:
        cases += [sized(name, "train", batch, 2048, runtime="huggingface-compiled") for batch in (2 if name in HEAVY else 4, 1)]
    return cases
