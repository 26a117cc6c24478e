#!/usr/bin/env bash
# The headline's measurement: promised and measured steps of the ten models that docs/case-studies.md names.
#   bench/prove_ten.sh write PROGRAM FOLDER [FLAG…]   one Python program a model, by `tilewright prove`; needs no GPU
#   bench/prove_ten.sh run FOLDER OUT                 runs them on this machine's GPU; a JSON line a shape, appended to OUT
# MODELS="gpt2 gpt2-xl" names some of them.
set -eu
models=${MODELS:-"gpt2 gpt2-xl gpt3-760m gpt3-2.7b gpt3-6.7b pythia-410m opt-1.3b tinyllama-1.1b qwen2.5-1.5b llama-2-7b"}
case ${1:-} in
    write)
        program=$2 folder=$3
        shift 3
        mkdir -p "$folder"
        for model in $models; do "$program" prove "$model" --gpu h200 --no-run --out "$folder/$model.py" "$@"; done ;;
    run)
        for model in $models; do python3 "$2/$model.py" --json >>"$3"; done ;;
    *) sed -n '2,5p' "$0" | sed 's/^# //'; exit 2 ;;
esac
