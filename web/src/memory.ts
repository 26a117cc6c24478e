// Memory by part, against what the GPU has; the baseline's as a second, thinner bar.
import type {Prediction} from "./answers";
import type {App} from "./app";
import {h} from "./element";
import {bytes, percent} from "./format";
import {frame, tipped} from "./panel";

const colours = ["var(--c0)", "var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)", "var(--c7)", "var(--soft)", "var(--faint)"];
const names = ["weights", "gradients", "optimizer", "activations", "logits", "kv_cache", "workspace", "context", "communication", "slack"];
const parts = names.map((name, i) => [`${name}_bytes`, name.replace("kv_cache", "KV cache"), colours[i]!] as const);
/// What may be used: the device's memory less what is never free.
const room = (p: Prediction) => p.memory.room_bytes ?? p.memory.device_bytes!;

function stack(p: Prediction, scale: number, extra: string): HTMLElement {
  return h("div", {class: `stack ${extra}`}, ...parts.filter(([key]) => (p.memory[key] ?? 0) > 0).map(([key, name, colour]) =>
    tipped(h("i", {style: `width:${(100 * p.memory[key]!) / scale}%;background:${colour}`, tabindex: 0}), `${name}: ${bytes(p.memory[key]!)}, ${percent(p.memory[key]! / p.memory.total_bytes!)} of ${bytes(p.memory.total_bytes!)}`)));
}

export function memory(app: App): HTMLElement {
  const {panel, body} = frame("Memory", "memory", "Of the GPU that needs most. The line is what may be used.");
  app.add(({now, base}) => {
    if (!now) return;
    const scale = 1.04 * Math.max(room(now), now.memory.total_bytes!, base?.memory.total_bytes ?? 0);
    const line = h("i", {class: "limit", style: `left:${(100 * room(now)) / scale}%`});
    body.replaceChildren(h("div", {class: "memory"}, stack(now, scale, ""), base ? stack(base, scale, "was") : "", line),
      h("ul", {class: "legend"}, ...parts.filter(([key]) => (now.memory[key] ?? 0) > 0).map(([key, name, colour]) => h("li", {}, h("i", {style: `background:${colour}`}), `${name} ${bytes(now.memory[key]!)}`))),
      h("p", {class: now.fits ? "" : "problem"}, now.fits ? `${bytes(now.memory.total_bytes!)} of ${bytes(room(now))} that may be used (${percent(now.memory.total_bytes! / room(now))})` : `${bytes(now.memory.total_bytes!)} do not fit in ${bytes(room(now))}: a smaller batch, recomputation or more GPUs (Parallelism) help`));
  });
  return panel;
}
