// Faster shapes of equal size, found in the worker; each can be looked at.
import type {Candidate, Found} from "./answers";
import type {App} from "./app";
import {chart, line, mark} from "./chart";
import {label} from "./controls";
import {h, save} from "./element";
import {amount, grouped, percent, signed, time, times} from "./format";
import {button, csv, frame} from "./panel";
import {command, dimensions, words} from "./state";

function flags_of(found: Candidate): Record<string, string | undefined> {
  const flags: Record<string, string | undefined> = {batch: String(found.batch), tp: found.tp > 1 ? String(found.tp) : undefined};
  for (const name of dimensions) flags[name] = String(found.shape[name.replaceAll("-", "_")]);
  return flags;
}
const load = (app: App, found: Candidate) => app.set(flags_of(found));

/// The expected loss of each against the catalogue's shape, where the law reaches.
function add_losses(app: App, list: Candidate[]): void {
  for (const each of list) {
    const {columns, rows} = app.model.sweep([{name: "", values: []}, {name: "sizes", values: []}], words(app.state, flags_of(each)));
    const [change, low, high] = ["loss_change", "loss_low", "loss_high"].map(name => rows[columns.indexOf(name)] ?? NaN) as [number, number, number];
    if (Number.isFinite(change)) each.loss = {change, low, high};
  }
}
const loss_of = (each: Candidate) => each.loss?.change;
const loss_words = (each: Candidate) => (each.loss ? `${signed(each.loss.change)} (${signed(each.loss.low)} to ${signed(each.loss.high)})` : "not known");

function front(app: App, found: Found, width: number, against: "size" | "loss"): SVGElement | null {
  const all = [...found.candidates, ...found.parameter_front].filter(each => against === "size" || loss_of(each) !== undefined);
  if (all.length === 0 || (against === "loss" && new Set(all.map(loss_of)).size < 3)) return null;
  const across = (each: Candidate) => (against === "size" ? each.parameter_change : loss_of(each)!) * 100;
  const values = [0, ...all.map(across)];
  const spread = Math.max(0.1, Math.max(...values) - Math.min(...values));
  const speeds = [1, ...all.flatMap(each => [each.low, each.high])];
  const picture = chart(width, {low: Math.min(...values) - 0.1 * spread, high: Math.max(...values) + 0.1 * spread, log: false, label: against === "size" ? "change of parameters, %" : "expected loss against the catalogue’s shape, %", text: value => value.toFixed(1)}, {low: Math.min(...speeds) * 0.97, high: Math.max(...speeds) * 1.03, log: false, label: "speed-up", text: times}, against === "size" ? "Speed against size" : "Speed against expected loss");
  line(picture, [[Math.min(...values) - 0.1 * spread, 1], [Math.max(...values) + 0.1 * spread, 1]], "var(--faint)", {"stroke-dasharray": "4 4"});
  for (const each of all) {
    line(picture, [[across(each), each.low], [across(each), each.high]], "var(--faint)");
    mark(picture, {x: across(each), y: each.speedup, size: 5, colour: found.parameter_front.includes(each) ? "var(--c0)" : "var(--c3)", act: () => load(app, each), tip: `${times(each.speedup)} (${times(each.low)} – ${times(each.high)})\n${each.changed.join("\n")}\n${amount(each.params)} parameters, ${signed(each.parameter_change)}\nexpected loss ${loss_words(each)}\nclick to load it`});
  }
  mark(picture, {x: 0, y: 1, size: 6, colour: "var(--accent)", ring: true, tip: "the shape as it is"});
  return picture.svg;
}

function table(app: App, found: Found): HTMLElement {
  return h("div", {class: "scroll"}, h("table", {}, h("thead", {}, h("tr", {}, ...["", "speed", "90% interval", "step", "parameters", "expected loss (90%)", "changed"].map(name => h("th", {scope: "col"}, name)))),
    h("tbody", {}, ...found.candidates.slice(0, 12).map(each => h("tr", {}, h("td", {}, button("Load", () => load(app, each))), h("td", {}, times(each.speedup)), h("td", {}, `${times(each.low)} – ${times(each.high)}`), h("td", {}, time(each.time_s)), h("td", {}, signed(each.parameter_change)), h("td", {}, loss_words(each)), h("td", {class: "words"}, each.changed.join(", ")))))));
}

export function search(app: App): HTMLElement {
  const {panel, body, head, note} = frame("Faster shapes of equal size", "search", "Every shape within one percent of the size, priced on this GPU beside the page. Click a point to load it.");
  panel.classList.add("wide");
  let [job, found]: [number, Found | null] = [0, null];
  const fixed = h("select", {id: "search-fix", "aria-label": "What stays"}, h("option", {value: ""}, "all may change"), ...dimensions.map(name => h("option", {value: name}, `${label(name).toLowerCase()} stays`)));
  const bar = h("progress", {max: 1, value: 0, hidden: true, "aria-label": "Search"});
  const draw = () => {
    if (!found) return;
    const width = Math.max(280, body.clientWidth > 900 ? body.clientWidth / 2 - 8 : body.clientWidth);
    const pictures = [front(app, found, width, "size"), front(app, found, width, "loss")].filter(each => each !== null);
    body.replaceChildren(h("div", {class: "pair"}, ...pictures), table(app, found));
  };
  const end = (words: string) => { job = 0; bar.hidden = true; go.textContent = "Search"; note.textContent = words; };
  const start = () => {
    if (job) return app.stop(job);
    const name = fixed.value.replaceAll("-", "_");
    const asked = [...words(app.state), ...(name ? ["--fix", name] : []), "--limit", "20000000"];
    bar.hidden = false;
    bar.value = 0;
    go.textContent = "Stop";
    job = app.send({kind: "search", what: "search", turned: [], words: asked}, piece => {
      if (piece.progress !== undefined) { bar.value = piece.progress; note.textContent = `${percent(piece.progress)}, ${grouped(piece.priced ?? 0)} shapes priced`; }
      if (!piece.done) return;
      const said = piece.fault ?? (piece.answer!.code === 0 ? "" : piece.answer!.said);
      if (said) return end(said);
      found = JSON.parse(piece.answer!.out) as Found;
      add_losses(app, [...found.candidates, ...found.parameter_front]);
      draw();
      end(`${grouped(found.shapes_priced)} shapes priced in ${found.seconds.toFixed(1)} s${found.exhaustive ? "" : "; stopped early"}. ${command("search", asked)}`);
    });
  };
  const go = button("Search", start, {class: "main"});
  head.append(fixed, go, bar, button("CSV", () => { if (found) save("shapes.csv", csv(["speedup", "low", "high", "params", "changed"], found.candidates.map(each => [each.speedup, each.low, each.high, each.params, each.changed.join("; ")])), "text/csv"); }));
  new ResizeObserver(draw).observe(body);
  return panel;
}
