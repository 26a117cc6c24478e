#!/usr/bin/env bash
# fit_kernels.sh FIT_KERNELS PUBLIC [learnt] [DEVICE…]: fits data/kernels from public timings (a folder of gzip CSV with columns gpu, op, dtype, m, n, k, batch,
# latency_us, for attention also heads, kv_heads, kv_dtype, window; NVIDIA aiconfigurator, Apache-2.0). Prints the errors on what was held out and, when all devices are fitted, puts them on
# docs/accuracy/serving-kernels.md; rows of devices not named stay as they are. `learnt` keeps the constants and learns anew what they leave over.
set -euo pipefail
fit=$1 public=$2 anew=anew
shift 2
[[ ${1:-} != learnt ]] || { anew=''; shift; }
devices=" $* "
kernels=$(dirname "$0")/../data/kernels page=$(dirname "$0")/../docs/accuracy/serving-kernels.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wanted() { [[ $devices == "  " || $devices == *" $1 "* ]]; }
known="a100-80-sxm:a100_sxm l40s:l40s h100-sxm:h100_sxm h200:h200_sxm b200:b200_sxm b300:b300_sxm rtx-pro-6000:rtx_pro_6000_server"

rows_of() {  # name there, dtype
    for kind in gemm gemm_quant gemm_nvfp4; do
        [[ -e $public/${kind}_$1.csv.gz ]] || continue
        zcat "$public/${kind}_$1.csv.gz" | awk -F, -v want="$2" 'NR > 1 && $3 == want { print $4 "," $5 "," $6 "," $8 }'
    done
}

calls_of() {  # name there
    zcat "$public/attention_$1.csv.gz" | awk -F, -v OFS=, 'NR > 1 { print $4, $5, $6, $7, $11, $12, $13 == "fp8", $14, 1, $8 }'
}

# The file with the rows of the devices fitted now in place of the old ones.
renew() {  # file, section, new rows
    awk -v section="[$2]" -v rows="$3" '
        BEGIN { while ((getline line < rows) > 0) { split(line, word, " "); new[word[1]] = line; order[++count] = word[1] } }
        function rest() { for (i = 1; i <= count; i++) if (order[i] in new) { print new[order[i]]; delete new[order[i]] } }
        /^\[/ { if (inside) rest(); inside = $0 == section; if (inside) seen = 1 }
        inside && $1 in new && /"/ { delete new[$1] }  # a word stays
        inside && $1 in new { print new[$1]; delete new[$1]; next }
        { print }
        END { if (!seen) print section; rest() }' "$1" > "$work/renewed"
    cp "$work/renewed" "$1"
}

# As many devices at once as there are processors: their rows into the file, their errors to the page and to stderr.
fit_all() {  # products or attention, way or walk, where rows come from
    local pair name
    for pair in $known; do
        name=${pair%%:*}
        while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n; done
        if wanted "$name"; then "$3" "${pair##*:}" "$2" | "$fit" "$1" "$name" "$2" "$work/trees.$name.$2" $anew > "$work/row.$name" 2> "$work/error.$name" & fi
    done
    wait
    for pair in $known; do
        name=${pair%%:*}
        if wanted "$name"; then
            cat "$work/row.$name" >> "$work/$2"
            tee -a "$work/errors" < "$work/error.$name" >&2
        fi
    done
    renew "$kernels/$1.toml" "$2" "$work/$2"
}

ways="fp8 fp8_block fp8_static int8_wo int8_sq int4_wo nvfp4" walks="prefill prefill_fp8 prefill_triton decode decode_fp8 decode_triton"
for way in $ways; do fit_all products "$way" rows_of; done
for walk in $walks; do fit_all attention "$walk" calls_of; done
for pair in $known; do  # trees of other laws stay: those of bench/engines/learnt.py
    name=${pair%%:*} trees=()
    for law in $ways $walks; do [[ ! -s $work/trees.$name.$law ]] || trees+=("$work/trees.$name.$law"); done
    [[ ${#trees[@]} == 0 ]] && continue
    {
        echo "# What the constants of products.toml, attention.toml and data/engines leave over on $name: its law, then a tree; docs/cost.md explains them."
        cat "${trees[@]}"
        [[ ! -e $kernels/$name.trees ]] || awk -v mine="# $ways $walks " 'index(mine, $1 " ") == 0' "$kernels/$name.trees"
    } > "$work/trees"
    cp "$work/trees" "$kernels/$name.trees"
done
[[ $devices == "  " ]] || exit 0
sed '/^| GPU/,$d' "$page" > "$work/page"
{ cat "$work/page"; echo "| GPU | what | points | mean | median | 90th percentile | in the interval | data-sheet roofline |"; echo "|---|---|---|---|---|---|---|---|"; cat "$work/errors"; } > "$work/whole"
cp "$work/whole" "$page"
