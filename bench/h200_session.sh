#!/usr/bin/env bash
# One session on a GPU, in order of value: check that every kernel computes what it should, then peaks, then sweeps.
#   bench/h200_session.sh PROGRAM FOLDER [STAGE…]
# PROGRAM is tilewright-measure, with tilewright beside it, FOLDER takes the samples (a rerun resumes there). Without stages, all run in order.
# A sweep that loses the device (exit 3) is started again after the op that lost it; BUDGET_x shortens a stage. After
# each stage all files are packed into ARCHIVE (default FOLDER.tar.gz). cuBLASLt 13 and cuDNN 9 must be on the loader's
# path.
set -u -o pipefail

usage() { sed -n '2,8p' "$0" | sed 's/^# //'; exit 2; }
[ $# -ge 2 ] || usage
program=$(realpath "$1")
folder=$2
shift 2
mkdir -p "$folder/shapes"
"$program" --help >/dev/null || exit 3
tilewright=$(dirname "$program")/tilewright

say() { printf '\n== %s (%s s since start)\n' "$1" "$SECONDS"; }

# sweep OP OUT BUDGET FLAGS…: appends to FOLDER/OUT.jsonl, again after a lost device, at most three times.
sweep() {
    local op=$1 out=$2 budget=$3 try
    shift 3
    for try in 1 2 3; do
        "$program" "$op" --out "$folder/$out.jsonl" --budget "$budget" "$@" && return 0
        [ $? -eq 3 ] || return 1
        echo "$op: device lost, attempt $try"
    done
    return 1
}

shapes() { "$program" generate --set "$1" --count "$2" --seed "${3:-1}" >"$folder/shapes/$4.csv"; }

check_streams() {
    "$program" stream --check --kind "$1" --rows "$2" --width "$3" --pass forward,backward --form eager,fused
}

stage_check() {
    "$program" gemm --check --layout TN,NN,NT --m 1,7,64,130 --n 8,96,257 --k 16,65,128 --batch 1,3 --dtype bf16,fp16,tf32 \
        >"$folder/check_gemm.txt"
    local gemm=$?
    "$program" gemm --check --layout TN --m 16,64,144 --n 16,96,256 --k 16,128,144 --dtype fp8 >>"$folder/check_gemm.txt" || gemm=1
    "$program" attention --check --batch 2 --heads 4 --kv_heads 2 --q_len 128 --kv_len 128 --head_dim 32,64,80,128 \
        --causal 0,1 --pass forward,backward --backend cudnn >"$folder/check_attention.txt"
    local attention=$?
    local stream=0 row_kinds=layernorm,rmsnorm,gelu,swiglu,residual,bias,rotary,softmax,crossentropy,adamw
    check_streams $row_kinds 37,64 96,256,1000 >"$folder/check_stream.txt" || stream=1
    check_streams $row_kinds 1100 88,1344 >>"$folder/check_stream.txt" || stream=1
    check_streams $row_kinds 7 708,2056,8192,16384 >>"$folder/check_stream.txt" || stream=1
    check_streams crossentropy 3 36000,120000 >>"$folder/check_stream.txt" || stream=1
    check_streams crossentropy 1100 1336,20001 >>"$folder/check_stream.txt" || stream=1
    check_streams layernorm 4096 8200 >>"$folder/check_stream.txt" || stream=1  # several rows to each block that stays
    check_streams rmsnorm 6560 5128 >>"$folder/check_stream.txt" || stream=1
    check_streams embedding 37,300 88,256 >>"$folder/check_stream.txt" || stream=1
    for family in gemm attention stream; do
        printf '%-10s %s\n' "$family" "$(cut -d' ' -f1 "$folder/check_$family.txt" | sort | uniq -c | tr -s ' \n' ' ')"
        grep -E '^(WRONG|FAIL)' "$folder/check_$family.txt" | head -5
    done
    echo "exit codes: gemm $gemm, attention $attention, stream $stream"
}

# A few ops under each clock mode, printed: the numbers to look at before anything long is started.
stage_smoke() {
    sweep gemm smoke 40s --layout TN,NN,NT --m 8192 --n 8192 --k 8192 --clock quick,sustained,burst
    sweep gemm smoke 20s --m 1,16,333,4096 --n 4096,4097 --k 4096
    sweep gemm smoke 10s --m 4096 --n 4096 --k 4096 --dtype fp16,tf32,fp8
    sweep attention smoke 20s --batch 4 --heads 16 --kv_heads 16 --q_len 2048 --kv_len 2048 --head_dim 64,128 --pass forward,backward
    sweep stream smoke 20s --kind layernorm,gelu,residual --rows 16384 --width 8192
    head -n 1 "$folder/smoke.jsonl"
    "$tilewright" samples show "$folder/smoke.jsonl"
    "$tilewright" samples list "$folder/smoke.jsonl"
}

stage_peaks() { "$program" peaks --out "$folder/peaks.jsonl"; }

stage_gemm() {
    shapes gemm-quick "${COUNT_GEMM:-20000}" 1 gemm-quick
    sweep gemm gemm-quick "${BUDGET_GEMM:-390s}" --from "$folder/shapes/gemm-quick.csv" --retry
}

# Products that take long: mostly those whose rows are odd.
stage_long() {
    shapes gemm-long 300 1 gemm-long
    sweep gemm gemm-long "${BUDGET_LONG:-60s}" --from "$folder/shapes/gemm-long.csv"
}

stage_narrow() {
    shapes gemm-narrow 1200 1 gemm-narrow
    sweep gemm gemm-narrow "${BUDGET_NARROW:-90s}" --from "$folder/shapes/gemm-narrow.csv"
}

stage_batched() {
    shapes gemm-batched 1500 1 gemm-batched
    sweep gemm gemm-batched "${BUDGET_BATCHED:-30s}" --from "$folder/shapes/gemm-batched.csv"
}

stage_clocks() {
    shapes gemm-clocks 1500 1 gemm-clocks
    sweep gemm gemm-clocks "${BUDGET_CLOCKS:-420s}" --from "$folder/shapes/gemm-clocks.csv" --clock sustained,burst
}

stage_attention() {
    shapes attention 1500 1 attention
    sweep attention attention "${BUDGET_ATTENTION:-120s}" --from "$folder/shapes/attention.csv"
}

stage_stream() {
    shapes stream 4000 1 stream
    sweep stream stream "${BUDGET_STREAM:-60s}" --from "$folder/shapes/stream.csv"
}

stage_cliff() {
    shapes cliff 1299 1 cliff
    sweep gemm cliff "${BUDGET_CLIFF:-40s}" --from "$folder/shapes/cliff.csv"
}

# The same shapes in two processes and two orders; `spread` prints how far they differ.
stage_spread() {
    shapes gemm-quick 250 2 spread
    shapes gemm-clocks 50 2 spread-clocks
    for run in 1 2; do
        sweep gemm "spread-$run" 25s --from "$folder/shapes/spread.csv" --shuffle "$run"
        sweep gemm "spread-$run" 60s --from "$folder/shapes/spread-clocks.csv" --shuffle "$run" --clock sustained,burst
    done
    "$tilewright" samples spread "$folder/spread-1.jsonl" "$folder/spread-2.jsonl"
}

# What the paper's experiments ask (docs/paper.md) of kernels and our samples do not answer (layers: bench/pytorch_layers.py).
stage_paper() {
    local kind samples
    samples=$(dirname "$0")/../data/samples
    for kind in gemm attention stream; do
        zcat "$samples"/h200/*.jsonl.gz | "$tilewright" reproduce --shapes "$kind" --gpu h200 \
            --measured - >"$folder/shapes/paper-$kind.csv"
    done
    for kind in attention stream gemm; do
        sweep "$kind" paper "${BUDGET_PAPER:-330s}" --from "$folder/shapes/paper-$kind.csv"
    done
}

all="check smoke peaks spread gemm long narrow batched clocks attention stream cliff paper"
for stage in ${*:-$all}; do
    case " $all " in *" $stage "*) ;; *) echo "no stage is called $stage; there are $all" >&2; exit 2 ;; esac
    say "$stage"
    "stage_$stage" 2>&1 | tee "$folder/log_$stage.txt"
    tar -czf "${ARCHIVE:-$folder.tar.gz}" -C "$folder" .
done
say "done"
"$tilewright" samples list "$folder"/*.jsonl
