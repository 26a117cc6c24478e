// Memory by part, against what the GPU has; the baseline's as a second, thinner bar.
import type {Prediction} from "./answers";
import type {App} from "./app";
import {h} from "./element";
import {bytes, percent} from "./format";
import {frame, tipped} from "./panel";

const parts: [string, string, string][] = [
  ["parameters_bytes", "parameters", "var(--c0)"], ["gradients_bytes", "gradients", "var(--c1)"], ["optimizer_bytes", "optimizer", "var(--c2)"], ["activations_bytes", "activations", "var(--c3)"],
  ["kv_cache_bytes", "KV cache", "var(--c4)"], ["workspace_bytes", "workspace", "var(--c5)"], ["context_bytes", "context", "var(--c6)"], ["fragmentation_bytes", "fragmentation", "var(--c7)"],
];

function stack(p: Prediction, scale: number, extra: string): HTMLElement {
  return h("div", {class: `stack ${extra}`}, ...parts.filter(([key]) => (p.memory[key] ?? 0) > 0).map(([key, name, colour]) =>
    tipped(h("i", {style: `width:${(100 * p.memory[key]!) / scale}%;background:${colour}`, tabindex: 0}), `${name}: ${bytes(p.memory[key]!)}, ${percent(p.memory[key]! / p.memory.total_bytes!)} of ${bytes(p.memory.total_bytes!)}`)));
}

export function memory(app: App): HTMLElement {
  const {panel, body} = frame("Memory", "memory", "Of the GPU that needs most. The line is what the GPU has.");
  app.add(({now, base}) => {
    if (!now) return;
    const scale = 1.04 * Math.max(now.memory.device_bytes!, now.memory.total_bytes!, base?.memory.total_bytes ?? 0);
    const line = h("i", {class: "limit", style: `left:${(100 * now.memory.device_bytes!) / scale}%`});
    body.replaceChildren(h("div", {class: "memory"}, stack(now, scale, ""), base ? stack(base, scale, "was") : "", line),
      h("ul", {class: "legend"}, ...parts.filter(([key]) => (now.memory[key] ?? 0) > 0).map(([key, name, colour]) => h("li", {}, h("i", {style: `background:${colour}`}), `${name} ${bytes(now.memory[key]!)}`))),
      h("p", {class: now.fits ? "" : "problem"}, now.fits ? `${bytes(now.memory.total_bytes!)} of ${bytes(now.memory.device_bytes!)} (${percent(now.memory.total_bytes! / now.memory.device_bytes!)})` : `${bytes(now.memory.total_bytes!)} do not fit in ${bytes(now.memory.device_bytes!)}: a smaller batch, recomputation or more GPUs (Parallelism) help`));
  });
  return panel;
}
