#!/usr/bin/env bash
# gpu_runtimes.sh OUT SECONDS [STAGE…]: what runtimes cost on this machine's GPU and host, into OUT.
# Stages, in this order when none is named: host (bench/host_costs.py, a minute), captures (no GPU, 90 s), time and busy
# (bench/stopwatch.py; time gets two thirds of what is left). `compiled` runs only when named: it compiles in four processes, then times;
# `smoke` too: two layers of each class on the CPU.
# OUT then holds host.jsonl, captures.tar, times.jsonl, busy.jsonl, compiled.jsonl and log.txt: six files at most.
set -u -o pipefail
[ $# -ge 2 ] || { sed -n '2,6p' "$0" | sed 's/^# //'; exit 2; }
out=$1 total=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONUNBUFFERED=1 HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false TRANSFORMERS_VERBOSITY=error

left() { echo $((total - SECONDS)); }
at_most() { echo $(($1 < $2 ? $1 : $2)); }
say() { printf '\n== %s (%s of %s s are left)\n' "$1" "$(left)" "$total"; }

# Once more after a lost device (exit 3), at most three times: a rerun goes on after the last line.
stopwatch() {
    local try budget=$1
    shift
    for try in 1 2 3; do
        python3 "$here/stopwatch.py" --seconds "$(at_most "$budget" "$(left)")" "$@"
        [ $? -eq 3 ] || return 0
        echo "the device was lost, attempt $try"
    done
}

stage_host() { timeout 120 python3 "$here/host_costs.py" --out "$out/host.jsonl" --seconds "$(at_most 60 "$(left)")"; }
stage_captures() {
    python3 "$here/capture_all.py" "$work/captures" --jobs 12 --seconds "$(at_most 90 "$(left)")"
    cp "$work/captures.tar" "$out/captures.tar"
}
stage_time() { stopwatch $(($(left) * 2 / 3)) --out "$out/times.jsonl"; }
stage_busy() { stopwatch "$(left)" --busy --out "$out/busy.jsonl"; }
stage_smoke() { python3 "$here/stopwatch.py" --smoke --out "$work/smoke.jsonl" --seconds "$(left)"; }
stage_compiled() {
    local part
    for part in 1 2 3 4; do
        timeout "$(($(left) / 2))" python3 "$here/stopwatch.py" --runtime huggingface-compiled --warm "$part/4" &
    done
    wait
    stopwatch "$(left)" --runtime huggingface-compiled --out "$out/compiled.jsonl"
}

for stage in ${*:-host captures time busy}; do
    say "$stage"
    "stage_$stage"
done 2>&1 | tee -a "$out/log.txt"
