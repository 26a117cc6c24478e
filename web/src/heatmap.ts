// Two dimensions at once: tokens per second as colour, coarse first.
import type {App} from "./app";
import {label, legal, moved, range_of, turn, value_of} from "./controls";
import {h} from "./element";
import {amount, grouped} from "./format";
import {css, export_buttons, frame, when_resized, when_seen} from "./panel";
import {Pointing} from "./pointing";
import {row_of, step_words} from "./rows";
import {turns, words} from "./state";

const cells = 40;
const edge = {left: 64, bottom: 34, top: 8, right: 8};

/// Dark violet to yellow, rising in lightness, so that it also works in grey (after viridis).
const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function shade(share: number): string {
  const at = Math.max(0, Math.min(0.9999, share)) * (stops.length - 1);
  const [from, to, rest] = [stops[Math.floor(at)]!, stops[Math.floor(at) + 1]!, at % 1];
  return `rgb(${from.map((value, i) => Math.round(value + (to[i]! - value) * rest)).join(",")})`;
}

/// Values along an axis: all legal ones where few are, else evenly spaced multiples that include the present one.
function values_of(name: string, app: App): number[] {
  const list = legal(name, app.shown);
  if (list) return list;
  const [low, high] = range_of(name, app.shown);
  const now = value_of(app.shown.now, name);
  const spacing = Math.max(1, (high - low) / cells);
  const step = spacing <= 1 ? 1 : 2 ** Math.ceil(Math.log2(spacing));
  const all = new Set<number>([now]);
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) if (value > 0) all.add(value);
  return [...all].sort((a, b) => a - b);
}

export function heat_map(app: App): HTMLElement {
  const {panel, body, head, note} = frame("Two sizes at once", "map", "Tokens per second; lighter is faster. Hatched: no such shape, or it does not fit. Click to take a place.");
  const canvas = h("canvas", {role: "img", "aria-label": "Tokens per second against two sizes"});
  const picture = new Pointing("Two sizes at once", {column: () => ys.length});
  picture.host.prepend(canvas);
  body.append(picture.host);
  let rows = new Map<string, Float64Array>();
  let columns: string[] = [];
  let [xs, ys]: [number[], number[]] = [[], []];
  let key = "";
  const selects = [0, 1].map(i => h("select", {id: `map-${i}`, "aria-label": i === 0 ? "Across" : "Up", onchange: () => {
    const map: [string, string] = [...app.state.map];
    map[i] = selects[i]!.value;
    if (map[0] !== map[1]) app.change({map});
  }}, ...turns.map(name => h("option", {value: name}, label(name)))));
  head.append(...selects, ...export_buttons(() => app.state.map.join("-"), {canvas: () => canvas, table: () => ({columns: [...app.state.map, ...columns.slice(2)], rows: [...rows.values()].map(row => [...row])})}));
  const of = (row: Float64Array, column: string) => row_of(columns, row)(column);
  const place = (x: number, y: number) => rows.get(`${x},${y}`);

  function draw(): void {
    const ratio = devicePixelRatio;
    const [width, height] = [Math.max(280, body.clientWidth), 320];
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d")!;
    context.scale(ratio, ratio);
    const [cell_x, cell_y] = [(width - edge.left - edge.right) / Math.max(1, xs.length), (height - edge.top - edge.bottom) / Math.max(1, ys.length)];
    const speeds = [...rows.values()].filter(row => of(row, "fits")).map(row => of(row, "tokens_per_s")).filter(Number.isFinite);
    const [low, high] = [Math.min(...speeds), Math.max(...speeds)];
    xs.forEach((x, i) => ys.forEach((y, j) => {
      const row = place(x, y);
      const [left, top] = [edge.left + i * cell_x, height - edge.bottom - (j + 1) * cell_y];
      const fits = row && of(row, "fits") === 1;
      context.fillStyle = fits ? shade((of(row, "tokens_per_s") - low) / Math.max(1e-9, high - low)) : css("--line");
      context.fillRect(left, top, cell_x + 0.5, cell_y + 0.5);
      if (row && !fits) { context.strokeStyle = css("--faint"); context.beginPath(); context.moveTo(left, top + cell_y); context.lineTo(left + cell_x, top); context.stroke(); }
    }));
    const at = (list: number[], name: string) => list.indexOf(value_of(app.shown.now, name));
    const [i, j] = [at(xs, app.state.map[0]), at(ys, app.state.map[1])];
    if (i >= 0 && j >= 0) for (const [colour, thick] of [[css("--paper"), 5], [css("--accent"), 2.5]] as const) {
      context.strokeStyle = colour;
      context.lineWidth = thick;
      context.strokeRect(edge.left + i * cell_x, height - edge.bottom - (j + 1) * cell_y, cell_x, cell_y);
    }
    context.fillStyle = css("--ink");
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "center";
    const every = (list: number[], room: number) => Math.max(1, Math.ceil(list.length / room));
    xs.forEach((x, n) => { if (n % every(xs, width / 90) === 0) context.fillText(grouped(x), edge.left + (n + 0.5) * cell_x, height - edge.bottom + 14); });
    context.fillText(label(app.state.map[0]), (edge.left + width) / 2, height - 4);
    context.textAlign = "right";
    ys.forEach((y, n) => { if (n % every(ys, 9) === 0) context.fillText(grouped(y), edge.left - 6, height - edge.bottom - (n + 0.5) * cell_y + 4); });
    if (speeds.length > 0) note.textContent = `${label(app.state.map[1])} upwards. From ${amount(low)} (dark) to ${amount(high)} tokens/s (light).`;
    picture.place(xs.flatMap((x, n) => ys.map((y, m) => ({x: edge.left + (n + 0.5) * cell_x, y: height - edge.bottom - (m + 0.5) * cell_y, text: words_of(x, y), act: () => take(x, y)}))), () => ({left: 0, top: 0, scale: 1}));
  }

  function words_of(x: number, y: number): string {
    const row = place(x, y);
    const name = `${label(app.state.map[0])} ${grouped(x)}, ${label(app.state.map[1]).toLowerCase()} ${grouped(y)}`;
    if (!row) return `${name}\nnot priced yet`;
    return Number.isFinite(of(row, "time_s")) ? `${name}\n${amount(of(row, "tokens_per_s"))} tokens/s, ${amount(of(row, "params"))} parameters\n${step_words(row_of(columns, row), columns)}` : `${name}\nno such shape`;
  }
  function take(x: number, y: number): void {
    app.set(moved(app.state.map[0], x, app.shown));
    turn(app, app.state.map[1], y);
  }

  function update(): void {
    const {state, shown} = app;
    if (!seen() || !shown.now || shown.problem) return;
    const [x, y] = state.map;
    const free = Object.fromEntries(state.map.flatMap(name => Object.entries({...moved(name, value_of(shown.now, name), shown), [name]: undefined})));
    for (const name of state.map) free[name] = undefined;
    const asked = words(state, free);
    const next = [x, y, ...asked].join("\0");
    if (next === key) return draw();
    key = next;
    rows = new Map();
    [xs, ys] = [values_of(x, app), values_of(y, app)];
    const order = [8, 4, 2, 1].flatMap((stride, n) => xs.filter((_, i) => i % stride === 0 && (n === 0 || i % (2 * stride) !== 0)));
    app.send({kind: "map", what: "sweep", turned: [{name: x, values: order}, {name: y, values: ys}], words: asked}, piece => {
      if (next !== key) return;
      if (piece.fault) { note.textContent = piece.fault; return; }
      columns = piece.columns!;
      for (let at = 0; at < piece.rows!.length; at += columns.length) rows.set(`${piece.rows![at]},${piece.rows![at + 1]}`, piece.rows!.subarray(at, at + columns.length));
      draw();
    });
    draw();
  }

  const seen = when_seen(panel, update);
  when_resized(body, draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  app.add(shown => selects.forEach((select, i) => { select.value = shown.state.map[i]!; }));
  app.add(update, "later");
  return panel;
}
