"""What the study trains and what it has trained: rows of plan.csv, lines of results.jsonl, which run comes next.

A row's `lr` is a number (group `rate`: the baseline tried at several) or a multiple ("1x", "2x") of its size's learning
rate: the one of the `rate` runs with the lowest loss, of the size itself or else of the next smaller one. It is settled
by the first run that uses it; later ones keep it."""
import collections
import csv
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
SHAPE = ("hidden", "layers", "heads", "kv_heads", "head_dim", "ffn", "vocab")
KINDS = ("mlp", "block")
COUNTS = ("seed", "order", "batch", "sequence", "steps")
FIRST_LR = 2e-3
LONGEST_S = 480.0
TRIES = 2  # of a run that fails
OVERHEAD_S = 12.0  # building, loading compiled code, four validations


def parameters_outside_embeddings(shape):
    """Weights of the blocks and of the last norm."""
    hidden = shape["hidden"]
    wide, narrow = shape["heads"] * shape["head_dim"], shape["kv_heads"] * shape["head_dim"]
    mlp = (3 if shape["mlp"] == "swiglu" else 2) * hidden * shape["ffn"]
    norms = hidden * (1 if shape["block"] == "parallel" else 2)
    return shape["layers"] * (2 * hidden * (wide + narrow) + mlp + norms) + hidden


# Seconds per token by part on an H200: a bf16 product's rate grows with the width; what is elementwise moves about 140
# bytes per channel and layer at 4 TB/s; the loss reads and writes the logits about six times.
ELEMENTWISE_BYTES, LOGIT_PASSES, BANDWIDTH, ATTENTION_RATE = 140, 6, 4e12, 300e12


def product_rate(hidden):
    return min(550e12, 250e12 + 0.35e12 * hidden)


def seconds_per_token(row):
    hidden, layers, wide = row["hidden"], row["layers"], row["heads"] * row["head_dim"]
    blocks = 6 * row["params_outside_embeddings"] / product_rate(hidden)
    attention = 6 * layers * wide * row["sequence"] / ATTENTION_RATE
    elementwise = ELEMENTWISE_BYTES * hidden * layers / BANDWIDTH
    head = 6 * hidden * row["vocab"] / 450e12 + 2 * LOGIT_PASSES * row["vocab"] / BANDWIDTH
    return blocks + attention + elementwise + head


def tokens_of(row):
    return row["batch"] * row["sequence"] * row["steps"]


def estimated_s(row):
    return OVERHEAD_S + seconds_per_token(row) * tokens_of(row)


def read_plan(path=HERE / "plan.csv"):
    rows = []
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            row |= {key: int(row[key]) for key in (*SHAPE, *COUNTS, "params_outside_embeddings")}
            rows.append(row)
    return rows


def read_results(path):
    """Lines that parse; a line cut off by a killed process is left out."""
    results = []
    if path and pathlib.Path(path).exists():
        for line in pathlib.Path(path).read_text().splitlines():
            try:
                results.append(json.loads(line))
            except json.JSONDecodeError:
                pass
    return [result for result in results if "id" in result]


def size_rank(size):
    return int(size.rstrip("m"))


def settled_lr(size, results):
    """The size's learning rate: as used already, else the one that the baseline's lowest loss speaks for."""
    used = [result["size_lr"] for result in results if result.get("size") == size and result.get("size_lr")]
    if used:
        return used[0]
    checks = [result for result in results
              if result["status"] == "ok" and result["group"] == "rate" and size_rank(result["size"]) <= size_rank(size)]
    if not checks:
        return FIRST_LR
    largest = max(size_rank(result["size"]) for result in checks)
    return min((result for result in checks if size_rank(result["size"]) == largest), key=lambda r: r["val_loss"])["lr"]


def resolved(row, results):
    """The row with its learning rate as a number, what that is a multiple of, and the id that follows from it."""
    text = row["lr"]
    size_lr = settled_lr(row["size"], results) if text.endswith("x") else None
    lr = float(f"{float(text[:-1]) * size_lr:.4g}") if size_lr else float(text)
    name = f"{row['size']}-{row['name']}-lr{lr:g}-s{row['seed']}-o{row['order']}-t{row['steps']}"
    return row | {"lr": lr, "size_lr": size_lr, "id": name}


def next_run(plan, results, seconds_left, speed):
    """The first row without a result that fits the time left; `speed` is measured over estimated time so far. A multiple
    of a learning rate waits for the size's checks that the plan lists before it."""
    failed = collections.Counter(result["id"] for result in results if result["status"] == "failed")
    done = {result["id"] for result in results if result["status"] == "ok" or failed[result["id"]] >= TRIES}
    unchecked = set()
    for row in plan:
        relative = row["lr"].endswith("x")
        if relative and row["size"] in unchecked:
            continue
        row = resolved(row, results)
        if row["id"] in done:
            continue
        if estimated_s(row) * speed <= min(seconds_left, LONGEST_S):
            return row
        if not relative:
            unchecked.add(row["size"])
    return None


def upcoming(plan, results, seconds):
    """The rows that would be run in these seconds, for compiling ahead."""
    results, rows = list(results), []
    while seconds > 0 and (row := next_run(plan, results, seconds, 1.0)):
        rows.append(row)
        results.append({"id": row["id"], "status": "ok", "group": "", "size": row["size"]})
        seconds -= estimated_s(row)
    return rows
