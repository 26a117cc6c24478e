#!/usr/bin/env python3
"""The text of the quality study: the source and documentation that the training machine holds, as tokens.

Files are taken once per content, without tables and without more of one kind than its cap, and put in an order that
depends on their content alone, so that the same machine image gives the same tokens. About 1.5% of the files, chosen
by their content too, are kept for validation. The tokenizer is a byte-level BPE of 16,384 words: bench/quality/
tokenizer.json, or, where there is none yet, one trained here and written to --tokenizer-out.

    python3 bench/quality/corpus.py --cache FOLDER [--tokenizer-out FILE] [--root /usr --root /opt]

FOLDER gets train.bin and validation.bin (uint16), files.tsv and, last of all, corpus.json; where that is there already
nothing is done.
"""
import argparse
import collections
import hashlib
import json
import multiprocessing
import os
import pathlib
import time

HERE = pathlib.Path(__file__).resolve().parent
TOKENIZER = HERE / "tokenizer.json"
WORDS = 16384
END = "<|end|>"  # between files
MEGA = 1_000_000
# Suffixes and the most bytes, in millions, that each may give.
CAPS = {".py": 420, ".pyi": 40, ".h": 140, ".hpp": 120, ".hxx": 30, ".cuh": 80, ".cu": 30, ".inl": 30, ".c": 40, ".cc": 30,
        ".cpp": 40, ".md": 40, ".rst": 60, ".txt": 40, ".tex": 10, ".html": 30, ".json": 8, ".yaml": 8, ".yml": 8, ".toml": 4,
        ".cfg": 2, ".cmake": 12, ".sh": 8, ".pl": 20, ".pm": 40, ".pod": 20, ".js": 20, ".ts": 20, ".css": 2, ".f": 10,
        ".f90": 10, ".S": 4, ".td": 20, ".mlir": 10, ".ipynb": 4, ".xml": 4}
SMALLEST, LARGEST = 200, 1_000_000  # bytes of a file
FOLDER_FILES = 400  # of one folder at most: more of them are generated from one template
DIGITS = 0.25  # more digits than this among the characters make a table
VALIDATION_PER_MILLE, VALIDATION_TOKENS = 15, 4 * MEGA
TOKENIZER_BYTES = 120 * MEGA
CHUNK_BYTES = 4 * MEGA
SKIPPED = {"__pycache__", ".git", "locale", "nvidia-smi"}


def walk(roots, excluded):
    """Paths of the right suffix and size below the roots, symbolic links not followed."""
    for root in roots:
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders
                                if name not in SKIPPED and os.path.join(folder, name) not in excluded)
            for name in names:
                path = os.path.join(folder, name)
                if os.path.splitext(name)[1] in CAPS and not os.path.islink(path):
                    yield path


def read_text(path):
    """The text of a file, or None for what is no text, no UTF-8, or a table."""
    try:
        with open(path, "rb") as file:
            text = file.read(LARGEST + 1)
        if not SMALLEST <= len(text) <= LARGEST or b"\0" in text:
            return None
        digits = sum(text.count(b"%d" % digit) for digit in range(10))
        return None if digits > DIGITS * len(text) else text.decode()
    except (OSError, UnicodeDecodeError):
        return None


def examine(path):
    text = read_text(path)
    if text is None:
        return None
    content = text.encode()
    return path, len(content), hashlib.sha256(content).hexdigest()


def select(examined):
    """One file per content, within the caps of suffix and folder, in an order that the content decides."""
    by_content = {}
    for path, size, digest in sorted(examined):
        by_content.setdefault(digest, (digest, size, path))
    ordered = sorted(by_content.values(), key=lambda file: hashlib.sha256(b"order" + file[0].encode()).digest())
    taken, folders, kept = collections.Counter(), collections.Counter(), []
    for digest, size, path in ordered:
        suffix, folder = os.path.splitext(path)[1], os.path.dirname(path)
        if taken[suffix] + size <= CAPS[suffix] * MEGA and folders[folder] < FOLDER_FILES:
            taken[suffix] += size
            folders[folder] += 1
            kept.append((digest, size, path))
    return kept


def validates(digest):
    return int(digest[:8], 16) % 1000 < VALIDATION_PER_MILLE


def list_hash(files):
    return hashlib.sha256("".join(f"{digest} {size} {path}\n" for digest, size, path in sorted(files)).encode()).hexdigest()


def train_tokenizer(files, path):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=WORDS, special_tokens=[END], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())

    def texts():
        left = TOKENIZER_BYTES
        for digest, size, name in files:
            if left > 0 and not validates(digest):
                left -= size
                yield read_text(name) or ""

    tokenizer.train_from_iterator(texts(), trainer)
    path.write_text(tokenizer.to_str(pretty=False))


def load_encoder(path):
    """In a worker: the tokenizer, for `encode`."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    from tokenizers import Tokenizer
    encode.tokenizer = Tokenizer.from_file(str(path))


def encode(paths):
    """The tokens of these files, each followed by the end token, as bytes of uint16."""
    import numpy
    tokenizer = encode.tokenizer
    batch = getattr(tokenizer, "encode_batch_fast", tokenizer.encode_batch)
    end = tokenizer.token_to_id(END)
    parts = [numpy.array(one.ids + [end], dtype=numpy.uint16)
             for one in batch([read_text(path) or "" for path in paths], add_special_tokens=False)]
    return numpy.concatenate(parts).tobytes()


def chunks_of(files):
    chunk, size = [], 0
    for _, bytes_, path in files:
        chunk.append(path)
        size += bytes_
        if size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def write_tokens(pool, files, path, most=None):
    """Encodes files in order into `path`; the number of tokens."""
    written = 0
    with open(path, "wb") as out:
        for tokens in pool.imap(encode, chunks_of(files)):
            tokens = tokens[: 2 * (most - written)] if most else tokens
            out.write(tokens)
            written += len(tokens) // 2
    return written


def tokenizer_for(files, cache, out):
    """The committed tokenizer, else the one trained before in this cache, else a new one."""
    if TOKENIZER.exists():
        return TOKENIZER
    trained = cache / "tokenizer.json"
    if not trained.exists():
        train_tokenizer(files, trained)
    if out:
        pathlib.Path(out).write_bytes(trained.read_bytes())
    return trained


def build(roots, cache, tokenizer_out, workers):
    start = time.monotonic()

    def say(text):
        print(f"corpus: {time.monotonic() - start:5.1f} s  {text}", flush=True)

    cache.mkdir(parents=True, exist_ok=True)
    excluded = {"/usr/local/nvidia", str(HERE.parent.parent), str(cache)}  # the driver's mount; this repository
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(workers) as pool:
        examined = [file for file in pool.imap_unordered(examine, walk(roots, excluded), chunksize=64) if file]
    files = select(examined)
    (cache / "files.tsv").write_text("".join(f"{digest}\t{size}\t{path}\n" for digest, size, path in files))
    say(f"{len(files)} files of {len(examined)}, {sum(size for _, size, _ in files) / MEGA:.0f} MB, list {list_hash(files)[:12]}")
    tokenizer = tokenizer_for(files, cache, tokenizer_out)
    say(f"tokenizer {tokenizer.name}, {tokenizer.stat().st_size / MEGA:.2f} MB")
    with spawn.Pool(workers, load_encoder, [tokenizer]) as pool:
        kept = [file for file in files if validates(file[0])]
        validation = write_tokens(pool, kept, cache / "validation.bin", VALIDATION_TOKENS)
        train = write_tokens(pool, [file for file in files if not validates(file[0])], cache / "train.bin")
    by_suffix = collections.Counter()
    for _, size, path in files:
        by_suffix[os.path.splitext(path)[1]] += size
    facts = {"list_sha256": list_hash(files), "files": len(files), "bytes": sum(by_suffix.values()),
             "bytes_by_suffix": dict(by_suffix.most_common()), "train_tokens": train, "validation_tokens": validation,
             "validation_files": len(kept), "words": WORDS, "roots": list(roots), "seconds": round(time.monotonic() - start, 1),
             "tokenizer_sha256": hashlib.sha256(tokenizer.read_bytes()).hexdigest()}
    unfinished = cache / "corpus.json.part"
    unfinished.write_text(json.dumps(facts, indent=1) + "\n")
    unfinished.rename(cache / "corpus.json")
    say(f"{train / MEGA:.1f} M tokens to train on, {validation / MEGA:.2f} M to validate")


def current(cache):
    """Whether the cache holds the tokens of the tokenizer in use."""
    facts = cache / "corpus.json"
    if not facts.exists():
        return False
    made_with = json.loads(facts.read_text())["tokenizer_sha256"]
    return not TOKENIZER.exists() or hashlib.sha256(TOKENIZER.read_bytes()).hexdigest() == made_with


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--tokenizer-out", help="where a newly trained tokenizer is copied")
    parser.add_argument("--root", action="append", help="folders to read; /usr and /opt when not given")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    if current(arguments.cache):
        print(f"corpus: as in {arguments.cache}")
        trained = arguments.cache / "tokenizer.json"
        if arguments.tokenizer_out and trained.exists() and not TOKENIZER.exists():
            pathlib.Path(arguments.tokenizer_out).write_bytes(trained.read_bytes())
        return
    build(arguments.root or ["/usr", "/opt"], arguments.cache, arguments.tokenizer_out, arguments.workers)


if __name__ == "__main__":
    main()
