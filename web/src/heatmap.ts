// Two dimensions at once: tokens per second as colour, coarse first.
import type {App} from "./app";
import {label, legal, moved, range_of, turn, value_of} from "./controls";
import {h, save} from "./element";
import {amount, grouped, percent, time} from "./format";
import {button, css, csv, frame, hide_tip, save_canvas, show_tip, when_seen} from "./panel";
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
  body.append(canvas);
  let rows = new Map<string, Float64Array>();
  let columns: string[] = [];
  let [xs, ys]: [number[], number[]] = [[], []];
  let key = "";
  const selects = [0, 1].map(i => h("select", {id: `map-${i}`, "aria-label": i === 0 ? "Across" : "Up", onchange: () => {
    const map: [string, string] = [...app.state.map];
    map[i] = selects[i]!.value;
    if (map[0] !== map[1]) app.change({map});
  }}, ...turns.map(name => h("option", {value: name}, label(name)))));
  head.append(...selects, button("PNG", () => save_canvas("map.png", canvas)), button("CSV", () => save("map.csv", csv([...app.state.map, ...columns.slice(2)], [...rows.values()].map(row => [...row])), "text/csv")));
  const of = (row: Float64Array, column: string) => row[columns.indexOf(column)] ?? NaN;
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
    context.strokeStyle = css("--accent");
    context.lineWidth = 2.5;
    if (i >= 0 && j >= 0) context.strokeRect(edge.left + i * cell_x, height - edge.bottom - (j + 1) * cell_y, cell_x, cell_y);
    context.fillStyle = css("--ink");
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "center";
    const every = (list: number[], room: number) => Math.max(1, Math.ceil(list.length / room));
    xs.forEach((x, n) => { if (n % every(xs, width / 90) === 0) context.fillText(grouped(x), edge.left + (n + 0.5) * cell_x, height - edge.bottom + 14); });
    context.fillText(label(app.state.map[0]), (edge.left + width) / 2, height - 4);
    context.textAlign = "right";
    ys.forEach((y, n) => { if (n % every(ys, 9) === 0) context.fillText(grouped(y), edge.left - 6, height - edge.bottom - (n + 0.5) * cell_y + 4); });
    if (speeds.length > 0) note.textContent = `${label(app.state.map[1])} upwards. From ${amount(low)} (dark) to ${amount(high)} tokens/s (light).`;
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

  function under(event: MouseEvent): [number, number] | null {
    const [i, j] = [Math.floor(((event.offsetX - edge.left) / (canvas.clientWidth - edge.left - edge.right)) * xs.length), Math.floor(((canvas.clientHeight - edge.bottom - event.offsetY) / (canvas.clientHeight - edge.top - edge.bottom)) * ys.length)];
    return xs[i] !== undefined && ys[j] !== undefined ? [xs[i]!, ys[j]!] : null;
  }
  canvas.addEventListener("pointermove", event => {
    const at = under(event);
    const row = at && place(...at);
    if (!at || !row) return hide_tip();
    const speed = of(row, "tokens_per_s");
    const name = `${label(app.state.map[0])} ${grouped(at[0])}, ${label(app.state.map[1]).toLowerCase()} ${grouped(at[1])}`;
    show_tip(event, Number.isFinite(speed) ? `${name}\n${amount(speed)} tokens/s, step ${time(of(row, "time_s"))} (${time(of(row, "low_s"))} – ${time(of(row, "high_s"))})\nMFU ${percent(of(row, "mfu"))}, ${amount(of(row, "params"))} parameters${of(row, "fits") ? "" : "\ndoes not fit in memory"}` : `${name}\nno such shape`);
  });
  canvas.addEventListener("pointerleave", hide_tip);
  canvas.addEventListener("click", event => {
    const at = under(event);
    if (!at) return;
    app.set(moved(app.state.map[0], at[0], app.shown));
    turn(app, app.state.map[1], at[1]);
  });
  const seen = when_seen(panel, update);
  new ResizeObserver(draw).observe(body);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  app.add(shown => selects.forEach((select, i) => { select.value = shown.state.map[i]!; }));
  app.add(update, "later");
  return panel;
}
