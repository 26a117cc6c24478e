// Throughput against one dimension in steps of one: every whole number of what is in view, at most 4,096 of them, coarse
// first and then all. Drag to zoom in, which prices what comes into view; double click to see all again.
import uPlot from "uplot";
import type {App} from "./app";
import {label, moved, range_of, turn, value_of} from "./controls";
import {h} from "./element";
import {amount, grouped, percent} from "./format";
import {button, css, export_buttons, frame, when_resized} from "./panel";
import {Pointing} from "./pointing";
import {row_of, step_words} from "./rows";
import {turns, words} from "./state";

const most_points = 4096;
const multiples = [64, 32, 16, 8, 4, 2, 1];
const multiple_of = (value: number) => multiples.find(each => value % each === 0)!;

interface Point { value: number; row: Float64Array }

/// Whole numbers of a range, evenly thinned to what fits, coarse ones first; what is known already is left out.
function wanted(low: number, high: number, known: Map<number, Point>): number[] {
  const step = Math.max(1, Math.ceil((high - low + 1) / most_points));
  const order: number[] = [];
  for (let stride = 64; stride >= 1; stride /= 2) {
    for (let i = 0, value = low; value <= high; ++i, value = low + i * step) {
      if (i % stride === 0 && (stride === 64 || i % (2 * stride) !== 0) && !known.has(value)) order.push(value);
    }
  }
  return order;
}

class Sawtooth {
  private points = new Map<number, Point>();
  private columns: string[] = [];
  private key = "";
  private view: [number, number] = [1, 2];
  private plot: uPlot | null = null;
  private sorted: Point[] = [];
  private frame = 0;

  private picture = new Pointing("What one size does", {by: "x"});

  constructor(private app: App, private body: HTMLElement, private note: HTMLElement) {
    body.append(this.picture.host);
    when_resized(body, () => { this.plot?.setSize(this.size()); this.draw(); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.plot?.destroy(); this.plot = null; this.draw(); });
  }

  private size() { return {width: Math.max(280, this.body.clientWidth), height: 300}; }

  /// The words without the dimension itself, and with what must follow it.
  private asked(): string[] {
    const {state, shown} = this.app;
    return words(state, {...moved(state.sweep, value_of(shown.now, state.sweep), shown), [state.sweep]: undefined});
  }

  update(): void {
    const {state, shown} = this.app;
    if (!shown.now || shown.problem) return;
    const key = [state.sweep, ...this.asked()].join("\0");
    if (key !== this.key) {
      const other = this.key.split("\0")[0] !== state.sweep;
      this.key = key;
      this.points.clear();
      const now = value_of(shown.now, state.sweep);
      const [low, high] = range_of(state.sweep, shown);
      if (other || now < this.view[0] || now > this.view[1]) this.view = high - low <= 1024 ? [low, Math.max(high, now)] : this.around(this.body.clientWidth < 600 ? 80 : 320);
      this.ask();
    }
    this.draw();
  }

  whole(): void { this.view = range_of(this.app.state.sweep, this.app.shown); this.ask(); this.draw(); }
  near(): void { this.view = this.around(this.body.clientWidth < 600 ? 32 : 128); this.ask(); this.draw(); }
  private around(reach: number): [number, number] { const now = value_of(this.app.shown.now, this.app.state.sweep); return [Math.max(1, now - reach), now + reach]; }

  private ask(): void {
    const {state} = this.app;
    const values = wanted(this.view[0], this.view[1], this.points);
    if (values.length === 0) return this.say();
    const key = this.key;
    this.app.send({kind: "sawtooth", what: "sweep", turned: [{name: state.sweep, values}], words: this.asked()}, piece => {
      if (key !== this.key) return;
      if (piece.fault) { this.note.textContent = piece.fault; return; }
      this.columns = piece.columns!;
      const rows = piece.rows!;
      for (let at = 0; at < rows.length; at += this.columns.length) this.points.set(rows[at]!, {value: rows[at]!, row: rows.subarray(at, at + this.columns.length)});
      if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(); });
      this.note.textContent = piece.done ? "" : `pricing ${label(state.sweep).toLowerCase()}: ${percent(piece.progress!)}`;
      if (piece.done) { this.draw(); this.say(); }
    });
  }

  private of(point: Point, column: string): number { return row_of(this.columns, point.row)(column); }

  private say(): void {
    const {state} = this.app;
    const seen = this.sorted.filter(point => point.value >= this.view[0] && point.value <= this.view[1] && Number.isFinite(this.of(point, "tokens_per_s")));
    if (seen.length < 2) return;
    const here = this.points.get(value_of(this.app.shown.now, state.sweep));
    const best = seen.reduce((a, b) => (this.of(b, "tokens_per_s") > this.of(a, "tokens_per_s") ? b : a));
    this.note.textContent = `${grouped(seen.length)} predictions. Fastest in view: ${grouped(best.value)} with ${amount(this.of(best, "tokens_per_s"))} tokens/s${here ? `; now ${grouped(here.value)} with ${amount(this.of(here, "tokens_per_s"))}` : ""}.`;
  }

  private draw(): void {
    this.sorted = [...this.points.values()].sort((a, b) => a.value - b.value);
    const x = this.sorted.map(point => point.value);
    const y = this.sorted.map(point => { const value = this.of(point, "tokens_per_s"); return Number.isFinite(value) ? value : null; });
    const data = [x, y, ...multiples.map(each => y.map((value, i) => (value !== null && multiple_of(x[i]!) === each ? value : null)))] as uPlot.AlignedData;
    if (!this.plot) this.plot = this.make(data);
    else this.plot.setData(data, false);
    this.plot.batch(() => {
      this.plot!.setScale("x", {min: this.view[0], max: this.view[1]});
      const seen = y.filter((value, i): value is number => value !== null && x[i]! >= this.view[0] && x[i]! <= this.view[1]);
      let [low, high] = [Math.min(...seen), Math.max(...seen)];
      const base = this.app.shown.base?.tokens_per_s ?? low;
      if (base > 0.7 * low && base < 1.4 * high) [low, high] = [Math.min(low, base), Math.max(high, base)];
      if (seen.length > 0) this.plot!.setScale("y", {min: low * 0.98, max: high * 1.02});
    });
    const shown = this.sorted.filter(point => point.value >= this.view[0] && point.value <= this.view[1] && Number.isFinite(this.of(point, "tokens_per_s")));
    const [plot, words_of] = [this.plot, (point: Point) => this.words_of(point)];
    this.picture.place(shown.map(point => ({
      x: plot.valToPos(point.value, "x"), y: plot.valToPos(this.of(point, "tokens_per_s"), "y"),
      get text() { return words_of(point); }, act: () => turn(this.app, this.app.state.sweep, point.value)})),
    () => ({left: plot.over.offsetLeft, top: plot.over.offsetTop, scale: 1}));
  }

  private make(data: uPlot.AlignedData): uPlot {
    const axis = {stroke: css("--ink"), grid: {stroke: css("--line"), width: 1}, ticks: {stroke: css("--line")}, font: "12px system-ui, sans-serif"};
    const plot = new uPlot({
      ...this.size(),
      legend: {show: false},
      scales: {x: {time: false, auto: false}, y: {auto: false}},
      axes: [{...axis, values: (_, ticks) => ticks.map(grouped)}, {...axis, size: 70, label: "tokens per second", labelSize: 18, labelFont: "12px system-ui, sans-serif", values: (_, ticks) => ticks.map(amount)}],
      cursor: {drag: {x: true, y: false, setScale: false}, points: {show: false}},
      series: [{}, {stroke: css("--faint"), width: 1, points: {show: false}, spanGaps: true},
        ...multiples.map((each, i) => ({stroke: "transparent", paths: () => null, points: {show: true, size: each >= 8 ? 6 : 4, width: 0, fill: css(`--m${i}`), stroke: css(`--m${i}`)}}))],
      hooks: {
        draw: [plot => this.mark(plot)],
        setSelect: [plot => {
          if (plot.select.width < 4) return;
          const [from, to] = [plot.posToVal(plot.select.left, "x"), plot.posToVal(plot.select.left + plot.select.width, "x")];
          plot.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
          this.view = [Math.max(1, Math.floor(from)), Math.max(Math.floor(from) + 2, Math.ceil(to))];
          this.ask();
          this.draw();
        }],
      },
    }, data, this.picture.host);
    plot.over.addEventListener("dblclick", () => this.whole());
    return plot;
  }

  private words_of(point: Point): string {
    const row = row_of(this.columns, point.row);
    const tokens = row("tokens_per_s") * row("time_s");
    return `${label(this.app.state.sweep)} ${grouped(point.value)}, a multiple of ${multiple_of(point.value)}${multiple_of(point.value) === 64 ? " or more" : ""}\n${amount(row("tokens_per_s"))} tokens/s (${amount(tokens / row("high_s"))} – ${amount(tokens / row("low_s"))})\n${step_words(row, this.columns)}\nclick to take it`;
  }

  /// The present value and the baseline, over the plot.
  private mark(plot: uPlot): void {
    const {context, ratio} = {context: plot.ctx, ratio: devicePixelRatio};
    const {left, top, width, height} = plot.bbox;
    const line = (value: number, colour: string, dash: number[], across = false) => {
      const at = plot.valToPos(value, across ? "y" : "x", true);
      if (across ? at < top || at > top + height : at < left || at > left + width) return;
      context.save();
      context.strokeStyle = colour;
      context.lineWidth = 1.5 * ratio;
      context.setLineDash(dash.map(each => each * ratio));
      context.beginPath();
      context.moveTo(across ? left : at, across ? at : top);
      context.lineTo(across ? left + width : at, across ? at : top + height);
      context.stroke();
      context.restore();
    };
    const {now, base, state} = this.app.shown;
    if (base) line(value_of(base, state.sweep), css("--faint"), [4, 4]);
    if (base) line(base.tokens_per_s, css("--faint"), [2, 4], true);
    if (now) line(value_of(now, state.sweep), css("--accent"), []);
  }

  table() { return {columns: this.columns.filter(name => name !== "second").map(name => (name === "first" ? this.app.state.sweep : name)), rows: this.sorted.map(point => [...point.row].filter((_, i) => this.columns[i] !== "second"))}; }
}

export function sawtooth(app: App): HTMLElement {
  const {panel, body, head, note} = frame("What one size does", "sawtooth", "Every whole number is priced. Colour says which power of two divides it. Drag to zoom, double-click to see all, click to take a value. Solid line: now; dashed: the baseline.");
  panel.classList.add("wide");
  const select = h("select", {id: "sweep", "aria-label": "The size along the axis", onchange: () => app.change({sweep: select.value})}, ...turns.map(name => h("option", {value: name}, label(name))));
  const plot = new Sawtooth(app, body, note);
  head.append(select, button("Near", () => plot.near()), button("All", () => plot.whole()), ...export_buttons(() => app.state.sweep, {canvas: () => body.querySelector("canvas"), table: () => plot.table()}));
  panel.insertBefore(h("ul", {class: "legend", "aria-label": "Colours"}, ...multiples.map((each, i) => h("li", {}, h("i", {style: `background:var(--m${i})`}), each === 1 ? "odd" : each === 64 ? "×64" : `×${each}`))), note);
  app.add(shown => { select.value = shown.state.sweep; });
  app.add(() => plot.update(), "later");
  return panel;
}
