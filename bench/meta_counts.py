"""Counts the parameters of transformers' own classes for the published configurations in tests/configs, on the meta device: no weights,
no GPU, seconds for a model of a million million parameters. One JSON line a model; tests/catalogue_test.cpp compares with them.

    python3 bench/meta_counts.py tests/configs > tests/configs/counts.jsonl

`parameters` are what model.parameters() holds, a tied head once. `stored` adds what the checkpoint stores beside them (the routers'
correction biases of DeepSeek-V3 and its relatives, which are buffers). `outside_embeddings` is `parameters` without the token table and,
where it has weights of its own, the head."""
import json
import pathlib
import sys

import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM

# Published with code of their own that is DeepSeek-V3's.
SAME_CLASS = {"kimi_k2": "deepseek_v3"}


def text_config(published):
    """The configuration of the text model, as transformers reads the published one."""
    fields = {key: value for key, value in published.items() if key not in ("model_type", "architectures")}
    model_type = published["model_type"]
    config = AutoConfig.for_model(SAME_CLASS.get(model_type, model_type), **fields)
    return config.get_text_config()


def elements(tensors):
    """Elements of distinct tensors: a tied one counts once."""
    return sum({id(tensor): tensor.numel() for tensor in tensors}.values())


def count(path):
    config = text_config(json.loads(path.read_text()))
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.tie_weights()
    buffers = [buffer for name, buffer in model.named_buffers() if name.endswith("e_score_correction_bias")]
    total = elements(model.parameters())
    tables = [model.get_input_embeddings().weight, model.get_output_embeddings().weight]
    return {"name": path.stem, "class": type(model).__name__, "parameters": total, "stored": total + elements(buffers),
            "outside_embeddings": total - elements(tables), "transformers": transformers.__version__}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python3 bench/meta_counts.py FOLDER_OF_CONFIGS")
    failed = 0
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
        try:
            print(json.dumps(count(path)), flush=True)
        except Exception as error:  # one class that does not build must not hide the others
            failed += 1
            print(f"{path.name}: {type(error).__name__}: {error}", file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
