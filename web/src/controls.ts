// What is asked: model, GPU, software, workload; and a slider for each size. The baseline is marked on each of them.
import type {App, Shown} from "./app";
import {h, save} from "./element";
import {grouped, signed} from "./format";
import {row_of} from "./rows";
import {inside} from "./answers";
import {command, dimensions, fits_address, turns, ways, words} from "./state";
import type {State, Turn} from "./state";

const labels: Record<string, string> = {
  hidden: "Hidden size", layers: "Layers", heads: "Heads", "kv-heads": "KV heads", "head-dim": "Head size", ffn: "MLP width", vocab: "Vocabulary",
  batch: "Batch", seq: "Sequence", tp: "Tensor", pp: "Pipeline", dp: "Data", cp: "Context", ep: "Expert", "micro-batches": "Micro-batches",
};
export const label = (name: string) => labels[name] ?? name;

/// A size of the answer by the name of its flag.
export function value_of(prediction: Shown["now"], name: string): number {
  const key = name.replaceAll("-", "_");
  return Number(prediction?.shape[key] ?? prediction?.workload[key] ?? 0);
}

function divisors(value: number, fits: (each: number) => boolean): number[] {
  const found: number[] = [];
  for (let each = 1; each <= value; ++each) if (value % each === 0 && fits(each)) found.push(each);
  return found;
}

/// Heads that divide the width, kv heads that divide the heads; null where any whole number goes.
export function legal(name: string, shown: Shown): number[] | null {
  const of = (key: string) => value_of(shown.now, key);
  if (name === "kv-heads") return divisors(of("heads"), () => true);
  if (name === "heads" && of("heads") * of("head-dim") === of("hidden")) return divisors(of("hidden"), heads => of("hidden") / heads >= 8 && of("hidden") / heads <= 512);
  return null;
}

export function range_of(name: string, shown: Shown): [number, number] {
  const base = Math.max(1, value_of(shown.base ?? shown.now, name));
  const most: Partial<Record<Turn, number>> = {batch: Math.max(64, 4 * base), seq: Math.max(8192, 4 * base), heads: Math.max(64, 2 * base), layers: Math.max(48, 2 * base), "head-dim": 256};
  return [Math.max(1, Math.round(name === "batch" || name === "layers" || name === "heads" ? 1 : base / 4)), most[name as Turn] ?? 2 * base];
}

/// A change of one size and what must follow it so that the shape can be: the head size stays when the width moves.
export function moved(name: string, value: number, shown: Shown): Record<string, string | undefined> {
  const flags: Record<string, string | undefined> = {[name]: String(value)};
  if (name === "hidden") flags["head-dim"] = String(value_of(shown.now, "head-dim"));
  if (name === "heads" && legal("heads", shown)) flags["head-dim"] = undefined;
  if (name === "heads" && value_of(shown.now, "kv-heads") !== value_of(shown.now, "heads")) {
    const groups = divisors(value, () => true);
    const wanted = value_of(shown.now, "kv-heads");
    flags["kv-heads"] = String(groups.reduce((best, each) => (Math.abs(each - wanted) < Math.abs(best - wanted) ? each : best), 1));
  }
  return flags;
}

/// The value of the locked dimension that brings the parameters back to the baseline's: a size falls or rises with it, so
/// that a few rounds of closer looks find it.
function compensated(app: App, flags: Record<string, string | undefined>): string | undefined {
  const {state, shown} = app;
  const wanted = Number(shown.base?.shape.params ?? 0);
  let [low, high] = [1, Math.max(64, 8 * value_of(shown.base, state.lock))];
  let best: number | undefined;
  while (wanted > 0 && high - low > 0) {
    const step = Math.max(1, Math.ceil((high - low) / 32));
    const values = Array.from({length: Math.floor((high - low) / step) + 1}, (_, i) => low + i * step);
    const {columns, rows} = app.model.sweep([{name: state.lock, values}, {name: "sizes", values: []}], words({...state, flags: {}}, {...state.flags, ...flags}));
    const column = columns.indexOf("params");
    const apart = (i: number) => Math.abs(rows[i * columns.length + column]! - wanted);
    let nearest = -1;
    for (let i = 0; i < values.length; ++i) if (Number.isFinite(apart(i)) && (nearest < 0 || apart(i) < apart(nearest))) nearest = i;
    if (nearest < 0) return undefined;
    best = values[nearest]!;
    if (step === 1) break;
    [low, high] = [Math.max(1, best - step), best + step];
  }
  return best === undefined ? undefined : String(best);
}

export function turn(app: App, name: string, value: number, chosen = true): void {
  const flags = moved(name, value, app.shown);
  const {lock} = app.state;
  if (lock && lock !== name && (dimensions as readonly string[]).includes(name)) flags[lock] = compensated(app, flags) ?? app.state.flags[lock];
  app.set(flags, chosen);
}

function slider(app: App, name: Turn): HTMLElement {
  const id = `size-${name}`;
  const number = h("input", {type: "number", id, min: 1, step: 1, inputmode: "numeric", onchange: () => (number.value === "" ? app.set({[name]: app.state.base[name]}) : turn(app, name, Math.round(Number(number.value))))});
  const range = h("input", {type: "range", "aria-label": label(name), oninput: () => {
    const list = legal(name, app.shown);
    turn(app, name, list ? list[Number(range.value)]! : Number(range.value), false);
  }});
  const ghost = h("i", {class: "ghost", "aria-hidden": "true"});
  const back = h("button", {type: "button", class: "back", "aria-label": `${label(name)} as in the baseline`, title: "as in the baseline", onclick: () => app.set({[name]: app.state.base[name]})}, "↺");
  app.add(shown => {
    if (!shown.now) return;
    const list = legal(name, shown);
    const [low, high] = list ? [0, list.length - 1] : range_of(name, shown);
    const value = Number(shown.problem ? shown.state.flags[name] ?? value_of(shown.now, name) : value_of(shown.now, name));
    const base = value_of(shown.base, name);
    const place = (v: number) => (list ? list.findIndex(each => each >= v) : v);
    range.min = String(low);
    range.max = String(Math.max(high, list ? 0 : value));
    if (document.activeElement !== range || place(value) !== Number(range.value)) range.value = String(place(value));
    range.setAttribute("aria-valuetext", String(value));
    if (document.activeElement !== number || !shown.problem) number.value = String(value);
    ghost.style.setProperty("--at", String((place(base) - low) / Math.max(1, Number(range.max) - low)));
    back.style.visibility = value === base ? "hidden" : "visible";
  });
  return h("div", {class: "size"}, h("label", {for: id}, label(name)), number, back, h("div", {class: "track"}, ghost, range));
}

/// A choice among the words that the program takes; the first stands for what is usual. `only` says when it can be had.
function choice(app: App, name: string, text: string, usual: string, values: string[], only: (state: State) => boolean = () => true): HTMLElement {
  const select = h("select", {id: `choice-${name}`, onchange: () => app.set({[name]: select.value})}, h("option", {value: ""}, usual), ...values.filter(value => value !== usual).map(value => h("option", {value}, value)));
  app.add(({state}) => {
    select.value = state.flags[name] ?? "";
    select.disabled = !only(state) && !state.flags[name];
  });
  return h("div", {class: "choice"}, h("label", {for: select.id}, text), select);
}

function count(app: App, name: string): HTMLElement {
  const input = h("input", {type: "number", id: `ways-${name}`, min: 1, step: 1, onchange: () => app.set({[name]: input.value === "1" ? undefined : input.value})});
  app.add(shown => { if (document.activeElement !== input) input.value = shown.state.flags[name] ?? "1"; });
  return h("div", {class: "choice"}, h("label", {for: input.id}, label(name)), input);
}

async function text_of(file: File): Promise<string> {
  const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const packed = head[0] === 0x1f && head[1] === 0x8b;
  return packed ? new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).text() : file.text();
}

/// A name that is neither taken for a flag nor for a model of the catalogue.
const path_of = (name: string) => (/^[^-].*\.(json|toml|gz)$/.test(name) ? name : `./${name}`);

async function drop(app: App, file: File): Promise<void> {
  const text = await text_of(file);
  const name = path_of(file.name);
  app.change({model: name, file: {name, text}, flags: workload_only(app.state.flags), base: {}, kernel: ""});
}

const workload_only = (flags: Record<string, string>) => Object.fromEntries(Object.entries(flags).filter(([name]) => !(dimensions as readonly string[]).includes(name)));

function model_box(app: App): HTMLElement {
  const names = JSON.parse(app.model.ask(["models", "--json"]).out).models as {name: string; params: number}[];
  const list = h("datalist", {id: "models"}, ...names.map(each => h("option", {value: each.name}, grouped(each.params / 1e6) + " M")));
  const take = () => { if (input.value && input.value !== app.state.model) app.change({model: input.value, file: null, flags: workload_only(app.state.flags), base: {}, kernel: ""}); };
  const input = h("input", {id: "model-name", list: "models", autocomplete: "off", spellcheck: "false", onchange: take, onfocus: () => input.select()});
  const chosen = h("input", {type: "file", accept: ".json,.toml,.gz", class: "hidden-file", "aria-label": "A config.json of yours", onchange: () => { if (chosen.files?.[0]) void drop(app, chosen.files[0]); }});
  app.add(shown => { if (document.activeElement !== input) input.value = shown.state.model; });
  addEventListener("dragover", event => event.preventDefault());
  addEventListener("drop", event => { event.preventDefault(); const file = event.dataTransfer?.files[0]; if (file) void drop(app, file); });
  return h("div", {class: "choice wide"}, h("label", {for: "model-name"}, "Model"), h("div", {class: "row"}, input, h("label", {class: "button"}, "Open…", chosen)), list,
    h("p", {class: "hint"}, `${names.length} in the catalogue; or drop a config.json anywhere`));
}

/// The list is long to make, as it tells what each profile rests on: the worker does.
function gpu_box(app: App): HTMLElement {
  const select = h("select", {id: "gpu", onchange: () => app.change({gpus: [select.value, ...app.state.gpus.slice(1).filter(each => each !== select.value)]})});
  const more = h("select", {"aria-label": "Compare with another GPU", onchange: () => { if (more.value) app.change({gpus: [...new Set([...app.state.gpus, more.value])].slice(0, 6)}); more.value = ""; }}, h("option", {value: ""}, "compare…"));
  const choose = (first: string) => {
    if (![...select.options].some(option => option.value === first)) select.append(h("option", {value: first}, first));
    select.value = first;
  };
  app.send({kind: "devices", what: "ask", words: ["devices", "--json"]}, piece => {
    const list = piece.answer?.code === 0 ? (JSON.parse(piece.answer.out).devices as {name: string; profile: {evidence: string}}[]) : [];
    const options = () => list.map(({name, profile}) => h("option", {value: name}, `${name} (${profile.evidence})`));
    select.replaceChildren(...options());
    more.append(...options());
    choose(app.state.gpus[0]!);
  });
  app.add(shown => choose(shown.state.gpus[0]!));
  return h("div", {class: "choice wide"}, h("label", {for: "gpu"}, "GPU"), h("div", {class: "row"}, select, more));
}

function tools(app: App): HTMLElement {
  const done = h("span", {role: "status", class: "hint"});
  const too_long = h("p", {role: "status", class: "hint"});
  const copy = (what: string, text: () => string) => h("button", {type: "button", onclick: () => {
    navigator.clipboard.writeText(text()).then(() => { done.textContent = `${what} copied`; }, () => { done.textContent = text(); });
    setTimeout(() => { done.textContent = ""; }, 4000);
  }}, `Copy ${what}`);
  const config = h("button", {type: "button", onclick: () => {
    const {code, out, said} = app.model.config(words(app.state));
    if (code === 0) save("config.json", out, "application/json");
    done.textContent = said;
  }}, "config.json");
  const link = copy("link", () => location.href);
  app.add(({state}) => {
    const lost = state.file && !fits_address(state.file);
    too_long.textContent = lost ? `${state.file!.name} has ${grouped(state.file!.text.length)} characters, too many for a link: send the file, and with it the command ${command("predict", words(state))}` : "";
    link.toggleAttribute("disabled", !!lost);
  });
  return h("div", {class: "tools"}, link, copy("command", () => command("predict", words(app.state))), config,
    h("button", {type: "button", onclick: () => app.change({base: Object.fromEntries(turns.filter(name => app.state.flags[name] !== undefined).map(name => [name, app.state.flags[name]!]))})}, "Make this the baseline"),
    h("button", {type: "button", onclick: () => app.set(Object.fromEntries(turns.map(name => [name, app.state.base[name]])))}, "Back to it"), done, too_long);
}

function size_line(app: App): HTMLElement {
  const line = h("p", {class: "hint", id: "parameters", role: "status"});
  app.add(shown => {
    const {now, base, state} = shown;
    if (!now || !base) return;
    const change = Number(now.shape.params) / Number(base.shape.params) - 1;
    const {columns, rows} = app.model.sweep([{name: "", values: []}, {name: "sizes", values: []}], words(state), state.base);
    const loss = row_of(columns, rows);
    const words_of = change === 0 && loss("loss_change") === 0 ? "" : Number.isFinite(loss("loss_change")) ? ` Expected loss at equal tokens ${signed(loss("loss_change"))} (${signed(loss("loss_low"))} to ${signed(loss("loss_high"))}) of the baseline’s${loss("loss_reaches") ? "" : "; no such run is near"}.` : " What it does to loss is not known.";
    line.textContent = `${grouped(Number(now.shape.params) / 1e6)} M parameters, ${grouped(inside(now.shape) / 1e6)} M outside embeddings and head${Math.abs(change) > 5e-5 ? `, ${signed(change)} of the baseline` : ""}.${words_of}`;
  });
  return line;
}

function lock_box(app: App): HTMLElement {
  const select = h("select", {id: "lock", onchange: () => app.change({lock: select.value})}, h("option", {value: ""}, "off"), ...["ffn", "layers", "hidden", "vocab"].map(name => h("option", {value: name}, `by ${label(name).toLowerCase()}`)));
  app.add(shown => { select.value = shown.state.lock; });
  return h("div", {class: "choice wide"}, h("label", {for: "lock"}, "Equal size"), select);
}

export function controls(app: App): HTMLElement {
  const runtimes = app.model.ask(["runtimes", "--json"]);
  const software = (runtimes.code === 0 ? (JSON.parse(runtimes.out).runtimes as {name: string}[]) : []).map(each => each.name);
  const taken = app.model.choices("predict");
  const of = (name: string) => taken[`--${name}`]?.split("|") ?? [];
  const serving = (state: State) => !["", "train"].includes(state.flags.phase ?? "");
  return h("aside", {"aria-label": "What is asked"},
    h("h1", {}, "Tilewright ", h("small", {}, "explorer")),
    model_box(app), gpu_box(app),
    h("div", {class: "grid"},
      choice(app, "phase", "Phase", "train", of("phase")), choice(app, "runtime", "Software", "usual", software),
      choice(app, "precision", "Precision", "bf16", of("precision")), choice(app, "attention", "Attention", "auto", of("attention")),
      choice(app, "weights", "Weights", "as precision", of("weights"), serving), choice(app, "kv", "KV cache", "16 bits", of("kv"), serving)),
    h("section", {"aria-label": "Sizes"}, ...turns.map(name => slider(app, name))),
    lock_box(app), size_line(app),
    h("details", {}, h("summary", {}, "Parallelism and more"), h("div", {class: "grid"}, ...ways.map(name => count(app, name)), choice(app, "recompute", "Recompute", "none", of("recompute")), choice(app, "activations", "Activations", "usual", of("activations"), serving))),
    tools(app));
}
