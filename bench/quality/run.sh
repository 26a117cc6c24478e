#!/usr/bin/env bash
# One turn at the GPU: the corpus, then runs of the plan until the seconds are used.
#   bench/quality/run.sh OUT SECONDS
# OUT/results.jsonl starts with bench/quality/results.jsonl and what an earlier turn on this machine left, so that
# finished runs are not repeated; every run is there as soon as it has ended. The tokens are kept in CACHE (default
# tilewright-quality in the user's cache folder). OUT gets tokenizer.json too where the repository has none, corpus.json and log.txt.
set -u -o pipefail
[ $# -eq 2 ] || { sed -n '2,6p' "$0" | sed 's/^# //'; exit 2; }
end=$((SECONDS + $2)) out=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tilewright-quality}
device=${DEVICE:-cuda}
export PYTHONUNBUFFERED=1 TOKENIZERS_PARALLELISM=true
mkdir -p "$out" "$cache"
exec > >(tee -a "$out/log.txt") 2>&1
results=$out/results.jsonl
cat "$here/results.jsonl" "$cache/results.jsonl" 2>/dev/null | awk '!seen[$0]++' >"$results"
rm -f "$cache/warming"  # a sign that a compiler ended by force left
echo "run: $(wc -l <"$results") runs done before"

children=()
finish() {
    trap '' TERM INT
    for child in "${children[@]}"; do kill "$child" 2>/dev/null; done
    wait "${children[@]}" 2>/dev/null
    cp "$results" "$cache/results.jsonl"
    cp "$cache/corpus.json" "$out/" 2>/dev/null
    echo "run: $(wc -l <"$results") runs done, $SECONDS s"
}
trap 'finish; exit 143' TERM INT

# Compiling ahead needs no tokens: it starts at once and goes on beside the first runs.
nice -n 5 python3 "$here/train.py" --cache "$cache" --out "$results" --seconds $((end - SECONDS)) --device "$device" --warm &
children+=($!)
python3 "$here/corpus.py" --cache "$cache" --tokenizer-out "$out/tokenizer.json" ${ROOTS:-} &
corpus=$!
children+=("$corpus")
wait "$corpus" || { echo "run: no corpus"; finish; exit 1; }
for attempt in 1 2 3; do  # again after a crash that left no line
    left=$((end - SECONDS - 5))
    [ "$left" -gt 30 ] || break
    python3 "$here/train.py" --cache "$cache" --out "$results" --seconds "$left" --device "$device" &
    trainer=$!
    children+=("$trainer")
    wait "$trainer" && break
    echo "run: the trainer ended with $?, attempt $attempt"
done
finish
