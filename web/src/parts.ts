// Time by component against batch or sequence, stacked; per token, so that what does not grow with the work falls.
import type {App} from "./app";
import {chart} from "./chart";
import {label, value_of} from "./controls";
import {h, s} from "./element";
import {grouped, time} from "./format";
import {colour_of, export_buttons, frame, when_resized, when_seen} from "./panel";
import {Pointing} from "./pointing";
import {components_of, row_of, step_words} from "./rows";
import {words} from "./state";

export function by_size(app: App): HTMLElement {
  const {panel, body, head, note} = frame("By batch or sequence", "parts", "Where the time of one token goes, by component.");
  const select = h("select", {id: "parts-by", "aria-label": "Against", onchange: () => update()}, h("option", {value: "batch"}, "Batch"), h("option", {value: "seq"}, "Sequence"));
  let columns: string[] = [];
  let rows: Float64Array[] = [];
  let key = "";
  const names = () => components_of(columns);
  const of = (row: Float64Array, column: string) => row_of(columns, row)(column);
  const picture = new Pointing("Time per token by component", {by: "x"});
  const legend = h("ul", {class: "legend"});
  body.append(picture.host, legend);
  head.append(select, ...export_buttons(() => "components", {svg: () => body.querySelector("svg"), table: () => ({columns: [select.value, ...columns.slice(2)], rows: rows.map(row => [row[0]!, ...row.slice(2)])})}));

  function draw(): void {
    const known = rows.filter(row => Number.isFinite(of(row, "time_s"))).sort((a, b) => a[0]! - b[0]!);
    if (known.length < 2) return;
    const each = (row: Float64Array, value: number) => value / (of(row, "tokens_per_s") * of(row, "time_s"));
    const most = Math.max(...known.map(row => each(row, names().reduce((sum, name) => sum + of(row, name), 0))));
    const width = Math.max(280, body.clientWidth);
    const plot = chart(width, {low: known[0]![0]!, high: known.at(-1)![0]!, log: true, label: label(select.value), text: grouped}, {low: 0, high: most * 1.05, log: false, label: "time per token", text: time}, "Time per token by component");
    const below = known.map(() => 0);
    for (const name of names()) {
      const from = [...below];
      known.forEach((row, i) => { below[i]! += each(row, of(row, name)); });
      if (below.every((value, i) => value === from[i])) continue;
      const top = known.map((row, i) => `${plot.x(row[0]!)},${plot.y(below[i]!)}`);
      const bottom = known.map((row, i) => `${plot.x(row[0]!)},${plot.y(from[i]!)}`).reverse();
      plot.svg.append(s("polygon", {points: [...top, ...bottom].join(" "), style: `fill:${colour_of(name)};stroke:var(--paper);stroke-width:.5`}));
    }
    const now = value_of(app.shown.now, select.value);
    if (now >= known[0]![0]! && now <= known.at(-1)![0]!) plot.svg.append(s("path", {d: `M${plot.x(now)} 10V260`, style: "stroke:var(--accent);stroke-width:1.5"}));
    picture.show(plot.svg, width, known.map(row => {
      const slowest = names().filter(name => of(row, name) > 0).sort((a, b) => of(row, b) - of(row, a)).slice(0, 6);
      return {x: plot.x(row[0]!), y: plot.y(each(row, names().reduce((sum, name) => sum + of(row, name), 0))), text: `${label(select.value)} ${grouped(row[0]!)}: ${step_words(row_of(columns, row), columns)}\n${slowest.map(name => `${name} ${time(of(row, name))}`).join("\n")}`, act: () => app.set({[select.value]: row[0]!})};
    }));
    legend.replaceChildren(...names().filter(name => known.some(row => of(row, name) > 0)).map(name => h("li", {}, h("i", {style: `background:${colour_of(name)}`}), name)));
  }

  function update(): void {
    if (!seen() || !app.shown.now || app.shown.problem) return;
    const asked = words(app.state, {[select.value]: undefined});
    const next = [select.value, ...asked].join("\0");
    if (next === key) return draw();
    key = next;
    rows = [];
    const values = [...new Set(Array.from({length: 64}, (_, i) => Math.round((select.value === "batch" ? 1 : 64) * (select.value === "batch" ? 256 : 512) ** (i / 63))))];
    app.send({kind: "parts", what: "sweep", turned: [{name: select.value, values}], words: asked}, piece => {
      if (next !== key) return;
      if (piece.fault) { note.textContent = piece.fault; return; }
      columns = piece.columns!;
      for (let at = 0; at < piece.rows!.length; at += columns.length) rows.push(piece.rows!.subarray(at, at + columns.length));
      draw();
    });
  }
  const seen = when_seen(panel, update);
  when_resized(body, draw);
  app.add(update, "later");
  return panel;
}
