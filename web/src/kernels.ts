// Where the time goes: components with the baseline behind them, a component's kernels, one kernel's terms and tiles.
import type {Kernel, Prediction, Terms} from "./answers";
import type {App, Shown} from "./app";
import {drawing, h} from "./element";
import {amount, grouped, percent, time} from "./format";
import {button, colour_of, export_buttons, frame} from "./panel";
import {tipped} from "./pointing";
import {words} from "./state";

const meanings: Record<string, string> = {
  roofline: "at the measured peak", alignment: "operands that are not aligned", tile: "tiles that reach over the edge", wave: "the last, half-empty wave", memory: "waiting for memory", occupancy: "units that are not full", power: "the clock under the power cap", launch: "launching it", correction: "learnt from samples",
};

const size_words = (kernel: Kernel) => {
  const of = (key: string) => kernel[key] as number;
  if (kernel.kind.includes("gemm")) return `${of("batch") > 1 ? `${of("batch")} × ` : ""}${of("m")}×${of("n")}×${of("k")} ${kernel.layout}`;
  if (kernel.kind === "attention") return `${of("batch")}×${of("heads")} heads, ${of("q_len")}×${of("kv_len")}, size ${of("head_dim")}`;
  if (kernel.rows !== undefined) return `${of("rows")}×${of("width")}`;
  return kernel.bytes !== undefined ? `${amount(of("bytes"))}B over ${of("ranks")} ranks` : "";
};

interface Bar { name: string; now: number; base: number; colour: string; tip: string; act?: () => void; current?: boolean }

/// Lying bars on one scale; what the baseline takes is outlined behind each.
function bars(list: Bar[], scale: number): HTMLElement {
  return h("div", {class: "bars"}, ...list.map(bar => {
    const width = (value: number) => `${Math.max(0, (100 * value) / scale)}%`;
    const row = h(bar.act ? "button" : "div", {type: bar.act ? "button" : undefined, class: "bar", "aria-expanded": bar.act ? String(!!bar.current) : undefined, tabindex: bar.act ? undefined : 0, onclick: bar.act},
      h("span", {class: "name"}, bar.name),
      h("span", {class: "room"}, h("i", {class: "was", style: `width:${width(bar.base)}`}), h("i", {class: "is", style: `width:${width(bar.now)};background:${bar.colour}`})),
      h("span", {class: "number"}, time(bar.now)));
    return tipped(row, bar.tip);
  }));
}

/// The sum of a component's kernels at the ends of their intervals, and what bounds most of it.
function why(now: Prediction, component: string): string {
  const own = now.kernels.filter(kernel => kernel.component === component);
  const sum = (of: (kernel: Kernel) => number) => own.reduce((all, kernel) => all + of(kernel) * kernel.count, 0);
  const bounds = [...new Set(own.map(kernel => kernel.bound))].map(bound => [bound, sum(kernel => (kernel.bound === bound ? kernel.time_s : 0))] as const).sort((a, b) => b[1] - a[1]);
  return `${time(sum(kernel => kernel.low_s))} – ${time(sum(kernel => kernel.high_s))}${bounds[0] ? `; ${percent(bounds[0][1] / sum(kernel => kernel.time_s))} bound by ${bounds[0][0]}` : ""}`;
}

const terms_words = (terms: Terms) => Object.entries(terms).filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]).slice(0, 4).map(([name, value]) => `${name.replace("_s", "")} ${time(value)}`).join(", ");

function components(shown: Shown, app: App, open: string): HTMLElement {
  const now = shown.now!;
  const base = new Map(shown.base?.components.map(each => [each.component, each.time_s]) ?? []);
  const names = [...now.components];
  const list = names.map(part => ({
    name: part.component, now: part.time_s, base: base.get(part.component) ?? 0, colour: colour_of(part.component), current: part.component === open,
    tip: `${part.component}: ${time(part.time_s)}, ${percent(part.share)} of the kernels’ time\n${why(now, part.component)}\nbaseline ${time(base.get(part.component) ?? 0)}\n${terms_words(part.terms)}`,
    act: () => app.change({kernel: part.component === open ? "" : part.component}),
  }));
  return bars(list, Math.max(...list.map(each => Math.max(each.now, each.base))));
}

function kernel_rows(now: Prediction, app: App, component: string, at: number): HTMLElement {
  const rows = now.kernels.map((kernel, i) => ({kernel, i})).filter(({kernel}) => kernel.component === component).sort((a, b) => b.kernel.total_s - a.kernel.total_s);
  return h("div", {class: "scroll"}, h("table", {}, h("caption", {}, `Kernels of ${component}`),
    h("thead", {}, h("tr", {}, ...["kernel", "size", "launches", "each", "90% interval", "all", "bound", "evidence"].map(name => h("th", {scope: "col"}, name)))),
    h("tbody", {}, ...rows.map(({kernel, i}) => h("tr", {class: i === at ? "current" : ""},
      h("th", {scope: "row"}, button(kernel.name, () => app.change({kernel: i === at ? component : `${component}/${i}`}), {class: "link", "aria-expanded": String(i === at)})),
      h("td", {}, size_words(kernel)), h("td", {}, grouped(kernel.count)), h("td", {}, time(kernel.time_s)), h("td", {}, `${time(kernel.low_s)} – ${time(kernel.high_s)}`), h("td", {}, time(kernel.total_s)), h("td", {}, kernel.bound), h("td", {}, kernel.evidence))))));
}

/// From the roofline to the price, term by term.
function waterfall(kernel: Kernel): HTMLElement {
  let sum = 0;
  const steps = Object.entries(kernel.terms).filter(([, value]) => Math.abs(value) > 1e-9).map(([key, value]) => {
    const from = sum;
    sum += value;
    return {name: key.replace("_s", ""), value, from};
  });
  const share = (value: number) => `${(100 * value) / sum}%`;
  return h("div", {class: "bars waterfall", role: "list", "aria-label": `Terms of ${kernel.name}`}, ...steps.map(step => tipped(h("div", {class: "bar", role: "listitem", tabindex: 0},
    h("span", {class: "name"}, step.name), h("span", {class: "room"}, h("i", {class: "is", style: `left:${share(Math.min(step.from, step.from + step.value))};width:${share(Math.abs(step.value))};background:${step.name === "roofline" ? "var(--c0)" : "var(--c3)"}`})), h("span", {class: "number"}, time(step.value))),
    `${step.name}: ${time(step.value)}, ${percent(step.value / sum)}\n${meanings[step.name] ?? ""}\nthe launch: ${time(kernel.low_s)} – ${time(kernel.high_s)}, bound by ${kernel.bound}, ${kernel.evidence}`)),
    h("div", {class: "bar sum"}, h("span", {class: "name"}, "one launch"), h("span", {class: "room"}), h("span", {class: "number"}, time(sum))));
}

function one_kernel(shown: Shown, app: App, at: number, width: number): HTMLElement[] {
  const kernel = shown.now!.kernels[at];
  if (!kernel) return [];
  const lines = [h("h3", {}, `${kernel.name}: ${size_words(kernel)}`), waterfall(kernel)];
  if (kernel.kind === "gemm") {
    const tiles = app.model.picture("tiles", Math.min(760, Math.max(320, width)), words(shown.state), kernel.name);
    const svg = tiles.out ? drawing(tiles.out) : null;
    if (svg) lines.push(h("figure", {class: "tiles"}, svg));
  }
  return lines;
}

export function kernels(app: App): HTMLElement {
  const {panel, body, head, note} = frame("Where the time goes", "kernels", "One micro-batch on one GPU. Outlined: the baseline. Open a component for its kernels, a kernel for its terms and its tiles on the chip.");
  panel.classList.add("wide");
  head.append(...export_buttons(() => "kernels", {table: () => app.shown.now && {
    columns: ["kernel", "component", "pass", "size", "launches", "time_s", "low_s", "high_s", "bound", "evidence"],
    rows: app.shown.now.kernels.map(k => [k.name, k.component, k.pass, size_words(k), k.count, k.time_s, k.low_s, k.high_s, k.bound, k.evidence])}}));
  app.add(shown => {
    if (!shown.now) return;
    const [component = "", index] = shown.state.kernel.split("/");
    const focused = document.activeElement instanceof HTMLElement && body.contains(document.activeElement) ? document.activeElement.textContent : null;
    const at = index === undefined ? -1 : Number(index);
    const has = shown.now.components.some(each => each.component === component);
    body.replaceChildren(components(shown, app, component), ...(has ? [kernel_rows(shown.now, app, component, at)] : []), ...(has && at >= 0 ? one_kernel(shown, app, at, body.clientWidth) : []));
    if (focused) [...body.querySelectorAll("button")].find(each => each.textContent === focused)?.focus();
    note.textContent = `${grouped(shown.now.launches)} launches; ${shown.now.profile_source}`;
  });
  return panel;
}
