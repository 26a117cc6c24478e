// Memory by part, against what the GPU has; the baseline's as a second, thinner bar.
import type {Prediction} from "./answers";
import type {App} from "./app";
import {h, s} from "./element";
import {bytes, percent} from "./format";
import {export_buttons, frame, when_resized} from "./panel";
import {Pointing} from "./pointing";
import type {Spot} from "./pointing";

const colours = ["var(--c0)", "var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)", "var(--c7)", "var(--soft)", "var(--faint)"];
const reasons: Record<string, string> = {
  weights: "the parameters in the format of the weights", gradients: "one for each parameter", optimizer: "the moments of each parameter, and a master copy where there is one", activations: "kept for the backward pass; grows with batch and sequence", logits: "batch × sequence × vocabulary",
  kv_cache: "keys and values of every token; grows with batch and sequence", workspace: "scratch of the libraries", context: "the driver’s and the libraries’ own", communication: "buffers of the collectives", slack: "what the allocator loses to rounding and fragments",
};
const parts = Object.keys(reasons).map((name, i) => ({key: `${name}_bytes`, name: name.replace("kv_cache", "KV cache"), why: reasons[name]!, colour: colours[i]!}));
/// What may be used: the device's memory less what is never free.
const room = (p: Prediction) => p.memory.room_bytes ?? p.memory.device_bytes!;
const used = (p: Prediction) => parts.filter(({key}) => (p.memory[key] ?? 0) > 0);

export function memory(app: App): HTMLElement {
  const {panel, body, head} = frame("Memory", "memory", "Of the GPU that needs most. The line is what may be used; the thin bar is the baseline.");
  const picture = new Pointing("Memory by part");
  const [legend, words] = [h("ul", {class: "legend"}), h("p", {})];
  body.append(picture.host, legend, words);
  const draw = () => {
    const {now, base} = app.shown;
    if (!now) return;
    const [width, height] = [Math.max(260, body.clientWidth), 50];
    const scale = width / (1.04 * Math.max(room(now), now.memory.total_bytes!, base?.memory.total_bytes ?? 0));
    const svg = s("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Memory by part", class: "chart"});
    const spots: Spot[] = [];
    const stack = (p: Prediction, y: number, thick: number, who: string) => used(p).reduce((x, {key, name, why, colour}) => {
      const wide = p.memory[key]! * scale;
      svg.append(s("rect", {x, y, width: Math.max(0.5, wide), height: thick, style: `fill:${colour};stroke:var(--panel);stroke-width:1`}));
      spots.push({x: x + wide / 2, y: y + thick / 2, text: `${who}${name}: ${bytes(p.memory[key]!)}, ${percent(p.memory[key]! / p.memory.total_bytes!)} of ${bytes(p.memory.total_bytes!)}\n${why}\ncounted from the shape: no interval`});
      return x + wide;
    }, 0);
    stack(now, 3, 28, "");
    if (base) stack(base, 36, 8, "baseline’s ");
    svg.append(s("path", {d: `M${room(now) * scale} 0V${height}`, style: "stroke:var(--ink);stroke-width:2"}));
    picture.show(svg, width, spots);
    legend.replaceChildren(...used(now).map(({key, name, colour}) => h("li", {}, h("i", {style: `background:${colour}`}), `${name} ${bytes(now.memory[key]!)}`)));
    words.className = now.fits ? "" : "problem";
    words.textContent = now.fits ? `${bytes(now.memory.total_bytes!)} of ${bytes(room(now))} that may be used (${percent(now.memory.total_bytes! / room(now))})` : `${bytes(now.memory.total_bytes!)} do not fit in ${bytes(room(now))}: a smaller batch, recomputation or more GPUs (Parallelism) help`;
  };
  head.append(...export_buttons(() => "memory", {svg: () => body.querySelector("svg"), table: () => app.shown.now && {columns: ["part", "bytes", "baseline_bytes"], rows: used(app.shown.now).map(({key, name}) => [name, app.shown.now!.memory[key]!, app.shown.base?.memory[key] ?? ""])}}));
  when_resized(body, draw);
  app.add(draw);
  return panel;
}
