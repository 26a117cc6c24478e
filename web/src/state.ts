// What the page is asked. All of it is in the address, and every question is the words of a command.

export const dimensions = ["hidden", "layers", "heads", "kv-heads", "head-dim", "ffn", "vocab"] as const;
export const sizes = ["batch", "seq"] as const;
export const ways = ["tp", "pp", "dp", "cp", "ep", "micro-batches"] as const;
export const choices = ["phase", "runtime", "precision", "weights", "activations", "kv", "attention", "recompute"] as const;
export type Dimension = (typeof dimensions)[number];
export type Turn = Dimension | (typeof sizes)[number];
export const turns: readonly Turn[] = [...dimensions, ...sizes];

export interface State {
  model: string;
  gpus: string[]; // the first is asked about, the others stand beside it
  flags: Record<string, string>; // without their dashes
  base: Record<string, string>; // the sizes of the baseline, likewise
  file: {name: string; text: string} | null; // a config.json that was dropped
  lock: string; // the dimension that keeps the size equal; empty: none does
  sweep: string;
  map: [string, string];
  kernel: string; // "component" or "component/kernel name/index"
}

export const start: State = {
  model: "gpt3-2.7b", gpus: ["h200"], flags: {}, base: {}, file: null, lock: "", sweep: "vocab", map: ["heads", "hidden"], kernel: "",
};

const flag_names: readonly string[] = [...turns, ...ways, ...choices];
const most_text = 20000; // of a dropped file, so that the address stays one that can be sent
export const fits_address = (file: {text: string}) => file.text.length <= most_text;

export function to_address(state: State): string {
  const query = new URLSearchParams({model: state.model, gpu: state.gpus.join(",")});
  for (const name of flag_names) if (state.flags[name] !== undefined) query.set(name, state.flags[name]!);
  for (const name of turns) if (state.base[name] !== undefined) query.set(`base-${name}`, state.base[name]!);
  if (state.lock) query.set("equal", state.lock);
  if (state.sweep !== start.sweep) query.set("sweep", state.sweep);
  if (state.map.join() !== start.map.join()) query.set("map", state.map.join());
  if (state.kernel) query.set("at", state.kernel);
  if (state.file && fits_address(state.file)) query.set("file", state.file.text);
  return "#" + query.toString();
}

export function from_address(hash: string): State {
  const query = new URLSearchParams(hash.replace(/^#/, ""));
  const state: State = {...start, gpus: [...start.gpus], flags: {}, base: {}, map: [...start.map]};
  state.model = query.get("model") || start.model;
  const gpus = (query.get("gpu") ?? "").split(",").filter(Boolean);
  if (gpus.length > 0) state.gpus = gpus.slice(0, 6);
  for (const name of flag_names) if (query.has(name)) state.flags[name] = query.get(name)!;
  for (const name of turns) if (query.has(`base-${name}`)) state.base[name] = query.get(`base-${name}`)!;
  const known = (name: string | null | undefined, otherwise: string) => (turns.includes(name as Turn) ? name! : otherwise);
  state.lock = query.has("equal") ? known(query.get("equal"), "ffn") : "";
  state.sweep = known(query.get("sweep"), start.sweep);
  const [first, second] = (query.get("map") ?? "").split(",");
  state.map = [known(first, start.map[0]), known(second, start.map[1])];
  state.kernel = query.get("at") ?? "";
  if (query.has("file")) state.file = {name: state.model, text: query.get("file")!};
  return state;
}

/// What follows the verb: the shape, the GPU and every flag.
export function words(state: State, changed: Record<string, string | undefined> = {}, gpu = state.gpus[0]!): string[] {
  const flags = {...state.flags, ...changed};
  return [state.model, "--gpu", gpu, ...flag_names.flatMap(name => (flags[name] === undefined ? [] : [`--${name}`, flags[name]!]))];
}

/// The same with the baseline's sizes.
export function base_words(state: State): string[] {
  return words(state, Object.fromEntries(turns.map(name => [name, state.base[name]])));
}

export const quoted = (word: string) => (/^[\w.,:/@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
export const command = (verb: string, typed: string[]) => ["tilewright", verb, ...typed].map(quoted).join(" ");
