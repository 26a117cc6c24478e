#!/usr/bin/env bash
# fit_profiles.sh TILEWRIGHT PUBLIC [DEVICE…]: fits data/profiles, all or some, from our samples (data/samples) and from public
# timings (a folder of gzip CSV with columns op, dtype, m, n, k, batch, latency_us and, for the paper's sweeps, layout; for attention also heads,
# kv_heads, kv_dtype, window, with m queries, n keys, k the head size).
set -euo pipefail
program=$1 public=$2 devices=" ${*:3} "
profiles=$(dirname "$0")/../data/profiles
samples=$(dirname "$0")/../data/samples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Products in the bulk form; linear layers are TN where no layout is given.
products() {
    zcat "$1" | awk -F, -v OFS=, -v want="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "layout,m,n,k,batch,dtype,latency_us"; next }
        $at["dtype"] == want {
            print ("layout" in at ? $at["layout"] : "TN"), $at["m"], $at["n"], $at["k"], $at["batch"], want, $at["latency_us"]
        }'
}

# Fused attention of 16-bit operands without a window in the bulk form; which kernel it was is the device's own choice.
attention() {
    zcat "$@" | awk -F, -v OFS=, '
        $1 == "gpu" { for (i = 1; i <= NF; i++) at[$i] = i; if (NR == 1) print "batch,heads,kv_heads,q_len,kv_len,head_dim,causal,pass,backend,dtype,latency_us"; next }
        $at["dtype"] == "bf16" && $at["kv_dtype"] == "bf16" && $at["window"] == 0 && $at["k"] <= 256 {
            print $at["batch"], $at["heads"], $at["kv_heads"], $at["m"], $at["n"], $at["k"], $at["op"] == "attn_context", "forward", "auto", "bf16", $at["latency_us"]
        }'
}

fit() {  # device, source, files of samples…
    [[ $devices == "  " || $devices == *" $1 "* ]] || return 0
    "$program" fit --device "$1" --source "$2" -o "$profiles/$1.toml" "${@:3}"
}

# The paper's logs hold about 11 us of host time a call; where they are mixed with device times it is taken off.
# Collectives of NCCL, and in the serving engines' own kernels ("direct") where they were captured in a graph.
collectives() {
    zcat "$1" | awk -F, -v OFS=, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "kind,ranks,bytes,library,latency_us"; next }
        { kind = $at["op"]; sub("alltoall", "all_to_all", kind); kernel = $at["kernel"] }
        kernel == "NCCL" { print kind, $at["batch"], $at["bytes"], "nccl", $at["latency_us"] }
        kernel ~ /graph|TRTLLM/ { print kind, $at["batch"], $at["bytes"], "direct", $at["latency_us"] }'
}
for part in a100 h200 b200; do collectives "$public/collective_${part}_sxm.csv.gz" > "$work/collective_$part.csv"; done

less_host_time() { awk -F, -v OFS=, 'NR > 1 { $7 -= 11 } 1'; }

for file in gemm_a100_sxm gemm_b200_sxm gemm_rtx_pro_6000_server; do
    products "$public/$file.csv.gz" bf16 > "$work/$file.csv"
done
attention "$public/attention_a100_sxm.csv.gz" > "$work/attention_a100.csv"
attention "$public/attention_b200_sxm.csv.gz" "$public/attention_encoder_b200_sxm.csv.gz" > "$work/attention_b200.csv"
attention "$public/attention_rtx_pro_6000_server.csv.gz" > "$work/attention_rtx.csv"
for file in paper_a100_fp16 paper_v100_fp16 paper_mi250x_fp16; do
    products "$public/$file.csv.gz" fp16 > "$work/$file.csv"
done
less_host_time < "$work/paper_a100_fp16.csv" > "$work/paper_a100_device.csv"

aiconfigurator="NVIDIA aiconfigurator (Apache-2.0), short runs"
logs="TransformerSizing logs (2023)"
fit h200 "own H200 samples (data/samples): cuBLASLt 13.1, cuDNN 9.14, PyTorch 2.11; collectives: aiconfigurator, nccl-tests" \
    "$samples"/h200/{gemm-quick,gemm-clocks,gemm-lasting,gemm-narrow,gemm-long,gemm-batched,attention,stream,stream-wide,pytorch,pytorch-compiled}.jsonl.gz "$work/collective_h200.csv"
fit a100-80-sxm "$aiconfigurator, SGLang 0.5.10; fp16 and odd sizes: $logs, cuBLAS 11.7, less 11 us of host time; attention: vLLM 0.14, FlashAttention-2, cache writes inside" \
    "$work/gemm_a100_sxm.csv" "$work/paper_a100_device.csv" "$work/attention_a100.csv" "$work/collective_a100.csv"
fit b200 "$aiconfigurator, TensorRT-LLM 1.3.0rc20; attention: vLLM 0.24, TensorRT-LLM kernels, cache writes inside" \
    "$work/gemm_b200_sxm.csv" "$work/attention_b200.csv" "$work/collective_b200.csv"
fit rtx-pro-6000 "$aiconfigurator, TensorRT-LLM 1.3.0rc20; attention: vLLM 0.24, FlashAttention-2, cache writes inside" \
    "$work/gemm_rtx_pro_6000_server.csv" "$work/attention_rtx.csv"
fit a100-40-sxm "$logs, cuBLAS 11.7, wall clock: host time is inside" "$work/paper_a100_fp16.csv" "$work/collective_a100.csv"
fit v100-sxm2 "$logs, cuBLAS 11.7, wall clock: host time is inside" "$work/paper_v100_fp16.csv"
fit mi250x "$logs, rocBLAS, one die, wall clock: host time is inside" "$work/paper_mi250x_fp16.csv"
