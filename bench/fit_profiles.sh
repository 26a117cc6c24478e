#!/usr/bin/env bash
# fit_profiles.sh TILEWRIGHT PUBLIC [DEVICE…]: fits data/profiles, all or some, from our samples (data/samples) and from public
# timings (a folder of gzip CSV with columns op, dtype, m, n, k, batch, latency_us and, for the paper's sweeps, layout; for attention also heads,
# kv_heads, kv_dtype, window, with m queries, n keys, k the head size). Relatives come before the GPUs that start from their profiles, which lie inside
# the program: it is built again in between, in the folder where it lies. Attention of training (bench/fit_attention.py) comes last.
# fit_profiles.sh TILEWRIGHT PUBLIC choices [DEVICE…]: only which kernels the library chooses and what batches take that others timed (fit_choices, built
# beside the program), on top of the profiles as they are. bench/refit.cpp does so with attention, single queries alone, or streams.
set -euo pipefail
program=$1 public=$2 only=""
if [[ ${3:-} == choices ]]; then only=choices && set -- "$1" "$2" "${@:4}"; fi
devices=" ${*:3} "
profiles=$(dirname "$0")/../data/profiles
samples=$(dirname "$0")/../data/samples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wanted() { [[ $devices == "  " || $devices == *" $1 "* ]]; }

# Products in the bulk form; where no layout is given linear layers are TN, batches NN. NVIDIA's aiconfigurator keeps activations and takes
# five copies of the weights in turn, and all of a batch stays; the paper's logs use one set of operands, by the wall clock.
products() {  # file, dtype, reuse, whether by the host's clock, the least batch
    zcat "$public/$1.csv.gz" | awk -F, -v OFS=, -v want="$2" -v reuse="$3" -v host="$4" -v least="${5:-1}" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "layout,m,n,k,batch,dtype,latency_us,reuse,by_host"; next }
        $at["dtype"] == want && $at["batch"] >= least {
            print ("layout" in at ? $at["layout"] : least > 1 ? "NN" : "TN"), $at["m"], $at["n"], $at["k"], $at["batch"], want, $at["latency_us"], reuse, host
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

# Collectives of NCCL, and in the serving engines' own kernels where they were captured in a graph.
collectives() {
    zcat "$1" | awk -F, -v OFS=, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "kind,ranks,bytes,library,latency_us"; next }
        { kind = $at["op"]; sub("alltoall", "all_to_all", kind); kernel = $at["kernel"] }
        kernel ~ /NCCL|graph|TRTLLM/ { print kind, $at["batch"], $at["bytes"], kernel, $at["latency_us"] }'
}

# What a public GPU has: products, attention, and collectives within a node where its server says something of the GPU.
public_samples() {  # name there, collectives
    products "gemm_$1" bf16 rotated 0 > "$work/gemm_$1.csv"
    local files=("$public/attention_$1.csv.gz")
    [[ -e $public/attention_encoder_$1.csv.gz ]] && files+=("$public/attention_encoder_$1.csv.gz")
    attention "${files[@]}" > "$work/attention_$1.csv"
    echo "$work/gemm_$1.csv" "$work/attention_$1.csv"
    [[ $2 == node ]] || return 0
    collectives "$public/collective_$1.csv.gz" > "$work/collective_$1.csv"
    echo "$work/collective_$1.csv"
}

paper_samples() {
    products "paper_$1_fp16" fp16 all 1 > "$work/paper_$1.csv"
    echo "$work/paper_$1.csv"
}

# The H200's own samples come first; what others timed of it teaches its profile no more than their choices.
choices() {  # device, name there, name of the paper's logs
    products "gemm_$2" bf16 rotated 0 > "$work/gemm_$2.csv"
    local files=("$work/gemm_$2.csv" ${3:+$(paper_samples "$3")})
    if [[ $1 != h200 && -z ${3:-} && -e $public/bmm_$2.csv.gz ]]; then  # batches of our own, or of the logs, say more of a step
        products "bmm_$2" bf16 all 0 2 > "$work/bmm_$2.csv"
        files+=("$work/bmm_$2.csv")
    fi
    "$(dirname "$program")/fit_choices" "$1" "$profiles/$1.toml" "${files[@]}"
}

if [[ $only == choices ]]; then
    while read -r device table logs; do
        if wanted "$device"; then choices "$device" "$table" "$logs"; fi
    done <<< "h200 h200_sxm
a100-80-sxm a100_sxm a100
b200 b200_sxm
rtx-pro-6000 rtx_pro_6000_server
h100-sxm h100_sxm
b300 b300_sxm
l40s l40s"
    exit
fi

build_again() { cmake --build "$(dirname "$program")" --target tilewright_program >&2; }

fit() {  # device, source, files of samples…
    "$program" fit --device "$1" --source "$2" -o "$profiles/$1.toml" "${@:3}"
}

aiconfigurator="NVIDIA aiconfigurator (Apache-2.0)"
engine="TensorRT-LLM 1.3.0rc20; attention: vLLM 0.24"
logs="TransformerSizing logs (2023)"
if wanted h200; then
    collectives "$public/collective_h200_sxm.csv.gz" > "$work/collective_h200.csv"
    fit h200 "own H200 samples (data/samples): cuBLASLt 13.1, cuDNN 9.14, PyTorch 2.11; collectives: aiconfigurator, nccl-tests" \
        "$samples"/h200/{gemm-quick,gemm-clocks,gemm-lasting,gemm-narrow,gemm-long,gemm-batched,attention,stream,stream-wide,pytorch,pytorch-compiled}.jsonl.gz "$work/collective_h200.csv"
    choices h200 h200_sxm
    build_again
fi
if wanted a100-80-sxm; then
    fit a100-80-sxm "$aiconfigurator, SGLang 0.5.10; attention: vLLM 0.14, FlashAttention-2, cache writes inside; odd sizes: $logs, cuBLAS 11.7" \
        $(public_samples a100_sxm node) $(paper_samples a100)
    choices a100-80-sxm a100_sxm a100
fi
if wanted b200; then
    fit b200 "$aiconfigurator, $engine, TensorRT-LLM kernels, cache writes inside" $(public_samples b200_sxm node)
    choices b200 b200_sxm
fi
if wanted rtx-pro-6000; then
    fit rtx-pro-6000 "$aiconfigurator, $engine, FlashAttention-2, cache writes inside" $(public_samples rtx_pro_6000_server none)
fi
if wanted a100-80-sxm || wanted b200; then build_again; fi
if wanted h100-sxm; then
    fit h100-sxm "from h200; $aiconfigurator, $engine, FlashAttention-3, cache writes inside" $(public_samples h100_sxm node)
    choices h100-sxm h100_sxm
fi
if wanted b300; then
    fit b300 "from b200; $aiconfigurator, $engine, TensorRT-LLM kernels, cache writes inside" $(public_samples b300_sxm node)
    choices b300 b300_sxm
fi
if wanted l40s; then
    fit l40s "$aiconfigurator, $engine, FlashAttention-2, cache writes inside" $(public_samples l40s none)
    choices l40s l40s
fi
if wanted a100-40-sxm; then fit a100-40-sxm "from a100-80-sxm; $logs, cuBLAS 11.7, wall clock" $(paper_samples a100); fi
if wanted v100-sxm2; then fit v100-sxm2 "$logs, cuBLAS 11.7, wall clock" $(paper_samples v100); fi
if wanted mi250x; then fit mi250x "$logs, rocBLAS, one die, wall clock" $(paper_samples mi250x); fi
trained=()
for device in h100-sxm b200 b300 a100-80-sxm a100-40-sxm; do
    if wanted "$device"; then trained+=("$device"); fi
done
if ((${#trained[@]})); then python3 "$(dirname "$0")/fit_attention.py" "$program" "${trained[@]}"; fi
