// The page's model and the program give one answer: random questions through both, numbers to 1e-9, words equal.
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {readFileSync, writeFileSync, mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, test} from "node:test";
import {Model} from "../../web/src/module.js";

const count = Number(process.env.TILEWRIGHT_QUESTIONS ?? 500);
const model = new Model(new WebAssembly.Module(readFileSync(process.env.TILEWRIGHT_WASM)));
const folder = mkdtempSync(join(tmpdir(), "tilewright-explorer-"));
after(() => rmSync(folder, {recursive: true}));

const program = words => {
  const {status, stdout, stderr} = spawnSync(process.env.TILEWRIGHT, words,
    {encoding: "utf8", cwd: folder, maxBuffer: 1 << 28, env: {LANG: "C.UTF-8"}});
  return {code: status, out: stdout, said: stderr};
};

/// A random number generator that gives the same questions every time.
let state = 20260117;
const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
const pick = list => list[Math.floor(random() * list.length)];
const between = (low, high) => low + Math.floor(random() * (high - low + 1));
const size = (low, high) => Math.round(low * (high / low) ** random());

const names = verb => JSON.parse(program([verb, "--json"]).out)[verb].map(entry => entry.name);
const models = names("models");
const devices = names("devices");
const formats = model.choices("predict")["--weights"].split("|");

function question() {
  const verb = pick(["predict", "predict", "predict", "predict", "lint", "compare", "plan"]);
  const words = [verb, pick(models)];
  if (verb === "compare") words.push(pick(models));
  words.push("--gpu", pick(devices), "--json");
  const maybe = (chance, flag, value) => { if (random() < chance) words.push(flag, String(value())); };
  if (verb === "plan") return [...words, "--phase", "decode", "--seq", String(size(64, 16384))];
  maybe(0.6, "--phase", () => pick(["train", "prefill", "decode"]));
  maybe(0.6, "--batch", () => size(1, 256));
  maybe(0.6, "--seq", () => size(1, 32768));
  maybe(0.2, "--precision", () => pick(["bf16", "fp16", "fp8", "fp32", "tf32"]));
  maybe(0.2, "--tp", () => pick([1, 2, 3, 4, 8]));
  maybe(0.1, "--dp", () => pick([1, 2, 8, 64]));
  maybe(0.1, "--pp", () => pick([1, 2, 4]));
  maybe(0.1, "--micro-batches", () => pick([1, 4, 8]));
  maybe(0.1, "--recompute", () => pick(["none", "selective", "full", "early"]));
  maybe(0.2, "--attention", () => pick(["auto", "cudnn", "flash2", "flash1", "unfused", "flash"]));
  maybe(0.15, "--weights", () => pick(formats));
  maybe(0.15, "--kv", () => pick(formats));
  maybe(0.1, "--clock", () => pick(["sustained", "burst"]));
  maybe(0.3, "--hidden", () => between(1, 160) * pick([1, 8, 64]));
  maybe(0.3, "--heads", () => between(1, 96));
  maybe(0.2, "--kv-heads", () => between(1, 16));
  maybe(0.2, "--head-dim", () => pick([32, 64, 80, 96, 128, 192, 256]));
  maybe(0.3, "--ffn", () => size(1, 65536));
  maybe(0.3, "--vocab", () => size(100, 300000));
  maybe(0.2, "--layers", () => between(0, 130));
  maybe(0.03, "--hidden", () => pick(["x", "-4", "", "1e3", "99999999999999999999"]));
  return words;
}

function same(mine, theirs, where) {
  if (typeof theirs === "number" && typeof mine === "number") {
    const apart = Math.abs(mine - theirs);
    assert.ok(apart <= 1e-9 * Math.max(Math.abs(mine), Math.abs(theirs)), `${where}: ${mine} and ${theirs}`);
  } else if (theirs !== null && typeof theirs === "object") {
    assert.deepEqual(Object.keys(mine), Object.keys(theirs), where);
    for (const key of Object.keys(theirs)) same(mine[key], theirs[key], `${where}.${key}`);
  } else {
    assert.equal(mine, theirs, where);
  }
}

function compare(words) {
  const mine = model.ask(words);
  const theirs = program(words);
  const where = words.join(" ");
  assert.equal(mine.code, theirs.code, `${where}\n${mine.said}${theirs.said}`);
  assert.equal(mine.said, theirs.said, where);
  const json = words.includes("--json") && theirs.out;
  same(json ? JSON.parse(mine.out) : mine.out, json ? JSON.parse(theirs.out) : theirs.out, where);
  return theirs.code;
}

test(`${count} random questions`, () => {
  let answered = 0;
  for (let i = 0; i < count; ++i) answered += compare(question()) < 2 ? 1 : 0;
  assert.ok(answered > count / 4, `only ${answered} were answered`);
});

test("lists, help and what is no question", () => {
  for (const words of [["models"], ["devices"], ["devices", "--json"], [], ["help"], ["predict", "--help"], ["perdict"],
                       ["predict", "gpt2"], ["predict", "gpt5", "--gpu", "h200"], ["predict", "gpt2", "--gpu", "h201"],
                       ["lint", "--explain", "TW001"], ["predict", "gemm", "--gpu", "h200"],
                       ["predict", "absent.json", "--gpu", "h200"]]) {
    compare(words);
  }
});

test("files that were dropped", () => {
  const config = '{"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 16, "num_hidden_layers": 24, "intermediate_size": 5632, "vocab_size": 32000, "num_key_value_heads": 4}';
  for (const [name, text] of Object.entries({
    "config.json": config, "short.json": config.slice(0, 100), "empty.json": "", "null.json": "\0\0\0", "list.json": "[1]",
    "large.json": config.replace("2048", "1e400"), "ours.toml": "[shape]\nhidden = 2048\n", "marked.json": config.replace("llama", "<b>x</b>"),
  })) {
    writeFileSync(join(folder, name), text);
    model.put(name, text);
    compare(["predict", name, "--gpu", "h200", "--json"]);
  }
});

test("rows of a sweep are predictions", () => {
  const asked = ["gpt3-2.7b", "--gpu", "h200", "--head-dim", "80"];
  const {columns, rows, problem} = model.sweep([{name: "hidden", values: [2560, 2561, 0]}, {name: "batch", values: [1, 4]}], asked);
  assert.equal(problem, "");
  assert.equal(rows.length, 6 * columns.length);
  const row = i => Object.fromEntries(columns.map((name, j) => [name, rows[i * columns.length + j]]));
  const single = JSON.parse(model.ask(["predict", ...asked, "--hidden", "2561", "--batch", "4", "--json"]).out);
  for (const key of ["time_s", "low_s", "high_s", "gpu_busy_s", "tokens_per_s", "mfu"]) assert.equal(row(3)[key], single[key], key);
  assert.equal(row(3).memory_bytes, single.memory.total_bytes);
  assert.ok(Number.isNaN(row(4).time_s), "a width of zero cannot be");
});

/// What fresh models find that share a search, and what the program finds.
function shared(asked, count) {
  const models = Array.from({length: count}, () => new Model(model.module));
  for (const each of models) assert.equal(each.begin(asked).code, 0);
  for (let slice = 0; slice < models[0].slices(); ++slice) models[slice % count].walk(slice);
  for (const each of models.slice(1)) models[0].merge(each.kept());
  const mine = JSON.parse(models[0].finish(0, true));
  const theirs = JSON.parse(program(["search", ...asked]).out);
  for (const answer of [mine, theirs]) for (const key of Object.keys(answer)) if (/second/.test(key)) delete answer[key];
  return [mine, theirs];
}

test("a free search shared by three models is the program's", () => {
  same(...shared(["gpt3-2.7b", "--gpu", "h200", "--json"], 3), "search");
});

test("a search shared by two models is the program's", () => {
  const [mine, theirs] = shared(["gpt2", "--gpu", "h200", "--only", "heads,ffn", "--json"], 2);
  same(mine, theirs, "search");
  const found = theirs.candidates.find(each => each.loss?.reaches && each.shape.ffn !== 3072);
  const sizes = [{name: "", values: []}, {name: "sizes", values: []}];
  const loss = (words, baseline) => {
    const {columns, rows} = model.sweep(sizes, ["gpt2", "--gpu", "h200", ...words], baseline);
    return rows[columns.indexOf("loss_change")];
  };
  const flags = ["heads", "kv-heads", "head-dim", "ffn"].map(name => [name, String(found.shape[name.replace("-", "_")])]);
  assert.equal(loss(flags.flatMap(([name, value]) => [`--${name}`, value]), {}), found.loss.change);
  assert.ok(loss([], Object.fromEntries(flags)) * found.loss.change <= 0, "from the other side it is the other way");
});

test("one worker's search has a quarter of the speed of a native thread", () => {
  const asked = ["gpt3-2.7b", "--gpu", "h200", "--only", "hidden,layers,ffn,heads", "--json"];
  let [native, own] = [Infinity, Infinity];
  for (let round = 0; round < 3; ++round) {
    native = Math.min(native, JSON.parse(program(["search", ...asked, "--threads", "1"]).out).seconds);
    const began = performance.now();
    assert.equal(model.begin(asked).code, 0);
    for (let slice = 0; slice < model.slices(); ++slice) model.walk(slice);
    model.finish(0, true);
    own = Math.min(own, (performance.now() - began) / 1000);
  }
  console.log(`# search: ${native.toFixed(2)} s by a native thread, ${own.toFixed(2)} s by a worker: ${(native / own).toFixed(2)} of its speed`);
  assert.ok(native / own > 0.12, "half of what a quiet machine shows");
});

test("pictures are those of the report, choices those of the flags", () => {
  const notes = svg => [...svg.matchAll(/<title>([^<]*)<\/title>|data-notes="([^"]*)"/g)].map(each => each[1] ?? each[2]).filter(note => note.includes("&#10;"));
  const asked = ["gpt2", "--gpu", "h200"];
  for (const [name, extra] of [["roofline", []], ["serving", ["--phase", "decode"]]]) {
    const mine = notes(model.picture(name, 720, [...asked, ...extra]).out);
    assert.ok(mine.length > 2, name);
    assert.deepEqual(mine, notes(program(["report", ...asked, "--svg", name]).out), name);
  }
  assert.match(model.picture("tiles", 720, asked, "mlp up").out, /^<svg/);
  assert.match(model.choices("predict")["--phase"], /^train\|prefill\|decode/);
});

test("a trap leaves a model that answers", () => {
  assert.throws(() => model.finish(0, true));
  assert.equal(model.ask(["predict", "gpt2", "--gpu", "h200"]).code, 0);
});
