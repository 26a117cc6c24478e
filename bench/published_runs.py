#!/usr/bin/env python3
"""published_runs.py TABLE.csv KIND > runs.csv: a published table in the form that score_runs reads (docs/clusters.md).

KIND is one of the tables below; each is a mapping from its columns to ours, plus what its source says of the software.
A new table needs one more function here, or a file written in our columns directly.
"""
import csv
import sys

COLUMNS = ("source model cluster hidden heads layers vocab bias seq gpus tp pp cp zero sequence_parallel overlap "
           "global_batch micro_batch virtual_stages recompute precision attention dropout runtime master iteration_s").split()


def iteration_from_tflops(row, forward_passes):
    """Narayanan et al. 2021, equation 3: of the layers' FLOPs every forward pass is 24, the backward pass 48; the head
    is never recomputed. Megatron-LM counts its FLOPs the same way without recomputation."""
    b, s, l, h, v = (float(row[k]) for k in ("global_batch", "seq_len", "layers", "hidden", "vocab"))
    layers = (24 * forward_passes + 48) * l * h * h * (1 + s / (6 * h))
    flops = b * s * (layers + 6 * v * h)
    return flops / (float(row["tflops_per_gpu"]) * 1e12 * int(row["n_gpus"]))


def megatron(row, source, cluster):
    return {"source": source, "model": row["model"], "cluster": cluster, "hidden": row["hidden"], "heads": row["heads"],
            "layers": row["layers"], "vocab": row.get("vocab") or "51200", "seq": row["seq_len"], "gpus": row["n_gpus"],
            "tp": row["tp"], "pp": row["pp"], "global_batch": row["global_batch"], "master": "fp32"}


# Micro-batch and virtual stages of each model: examples/sc21/run_table_1.sh of Megatron-LM.
SC21 = {"1.7B": (16, 1), "3.6B": (16, 1), "7.5B": (16, 1), "18B": (8, 1), "39B": (4, 1), "76B": (2, 3), "145B": (2, 2),
        "310B": (1, 2), "530B": (1, 3), "1T": (1, 1)}


def sc21(row):
    """Unfused attention with a fused softmax, dropout as Megatron-LM's GPT has by default, fp16; replicas of one stage by
    PyTorch's DistributedDataParallel, which reduces gradients beside the backward pass, the others by Megatron-LM's own,
    which does not (run_table_1.sh)."""
    run = megatron(row, "megatron-sc21", "dgx-a100")
    micro_batch, virtual_stages = SC21[row["model"]]
    run.update(recompute="full", precision="fp16", attention="unfused", dropout=1, runtime="compiled", zero=0,
               overlap="data" if row["pp"] == "1" else "none", micro_batch=micro_batch, virtual_stages=virtual_stages,
               iteration_s=iteration_from_tflops(row, 2))
    return run


def sequence_parallel(row):
    """As before, with the dropout that the paper's count of activations (34 s b h + 5 a s s b) has; tensor ranks exchange gradients
    beside products (section 4.2.2; LinearWithGradAccumulationAndAsyncCommunication of Megatron-LM), and there are no replicas."""
    run = megatron(row, "megatron-seqpar", "dgx-a100")
    selective = "selective" in row["mode"]
    run.update(recompute="selective" if selective else "full", sequence_parallel=int(selective), precision="fp16",
               attention="unfused", dropout=1, runtime="megatron", overlap="data", zero=0,
               micro_batch=row["microbatch"], virtual_stages=row["interleave"], iteration_s=row["iteration_s"])
    return run


def megatron_h100(row):
    """Transformer Engine's kernels (additions and loss on their own, cuDNN's attention), distributed optimizer, all
    overlaps that the README lists. The micro-batch is not stated; batches of replicas with stages are four sequences for
    each stage, which is taken as four micro-batches of one for each."""
    run = megatron(row, "megatron-h100", "dgx-h100")
    run.update(precision="bf16", attention="cudnn", runtime="eager", overlap="all", zero=1,
               micro_batch="" if row["pp"] == "1" else 1, sequence_parallel=int(int(row["tp"]) > 1),
               iteration_s=iteration_from_tflops(row, 1))
    return run


def mosaicml(row):
    """PyTorch FSDP without compilation, FlashAttention in Triton (submit_benchmarks.py). PURE reduces gradients in bf16;
    those runs used PyTorch 1.13 (its default image), whose checkpoint repeats whole layers."""
    if row["act_cpu_offload"] == "True":
        return None
    gpu = row["gpu"]
    cluster = {"h100_80gb": "dgx-h100", "a100_80gb": "dgx-a100", "a100_40gb": "dgx-a100-40"}[gpu]
    tokens = float(row["global_batch_tokens"])
    pure = row["mp_mode"] == "PURE"
    recompute = "none" if row["act_ckpt"] != "True" else "full" if pure else "early"
    return {"source": "mosaicml-" + gpu.split("_")[0] + ("-40" if "40" in gpu else "")
            + ("-fp8" if "fp8" in row["precision"] else ""), "model": row["model"],
            "cluster": cluster, "hidden": row["d_model"], "heads": row["n_heads"], "layers": row["n_layers"],
            "vocab": row["vocab"], "bias": 0, "seq": row["seq_len"], "gpus": row["n_gpus"],
            "zero": {"FULL_SHARD": 3, "SHARD_GRAD_OP": 2}[row["sharding"]], "global_batch": row["global_batch"],
            "micro_batch": row["microbatch"], "recompute": recompute,
            "precision": "fp8" if "fp8" in row["precision"] else "bf16", "attention": "flash1", "runtime": "eager",
            "overlap": "data", "master": "none" if pure else "fp32",
            "iteration_s": tokens / float(row["tokens_per_s"])}


KINDS = {"sc21": sc21, "sequence-parallel": sequence_parallel, "megatron-h100": megatron_h100, "mosaicml": mosaicml}


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in KINDS:
        sys.exit(f"usage: published_runs.py TABLE.csv {'|'.join(KINDS)}")
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    out.writeheader()
    with open(sys.argv[1], newline="", encoding="utf-8") as table:
        for row in csv.DictReader(table):
            run = KINDS[sys.argv[2]](row)
            if run:
                out.writerow(run)


main()
