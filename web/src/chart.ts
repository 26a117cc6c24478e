// A small SVG chart with axes in decades or evenly, for pictures that `report` has not.
import {s} from "./element";
import type {Spot} from "./pointing";

export interface Axis { low: number; high: number; log: boolean; label: string; text: (value: number) => string }
export interface Chart { svg: SVGElement; x: (value: number) => number; y: (value: number) => number; spots: Spot[] }

const edge = {left: 80, right: 12, top: 10, bottom: 40};
export const height = 300;

function ticks(axis: Axis): number[] {
  const found: number[] = [];
  if (axis.log) {
    const decades = Math.log10(axis.high / axis.low);
    for (let power = Math.floor(Math.log10(axis.low)); power <= Math.ceil(Math.log10(axis.high)); ++power)
      for (const lead of decades > 3 ? [1] : [1, 2, 5]) if (lead * 10 ** power >= axis.low && lead * 10 ** power <= axis.high) found.push(lead * 10 ** power);
    return found;
  }
  const rough = (axis.high - axis.low) / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(each => each * unit).find(each => each >= rough)!;
  for (let value = Math.ceil(axis.low / step) * step; value <= axis.high + step * 1e-9; value += step) found.push(value);
  return found;
}

export function chart(width: number, across: Axis, up: Axis, title: string): Chart {
  const place = (axis: Axis, from: number, to: number) => (value: number) => {
    const share = axis.log ? Math.log(value / axis.low) / Math.log(axis.high / axis.low) : (value - axis.low) / (axis.high - axis.low);
    return from + (to - from) * share;
  };
  const x = place(across, edge.left, width - edge.right);
  const y = place(up, height - edge.bottom, edge.top);
  const svg = s("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title, class: "chart"});
  const room = Math.max(1, Math.ceil((ticks(across).length * 58) / (width - edge.left)));
  ticks(across).forEach((value, i) => {
    svg.append(s("path", {class: "grid", d: `M${x(value)} ${edge.top}V${height - edge.bottom}`}));
    if (i % room === 0) svg.append(s("text", {x: x(value), y: height - edge.bottom + 15, "text-anchor": "middle"}, across.text(value)));
  });
  for (const value of ticks(up)) svg.append(s("path", {class: "grid", d: `M${edge.left} ${y(value)}H${width - edge.right}`}), s("text", {x: edge.left - 6, y: y(value) + 4, "text-anchor": "end"}, up.text(value)));
  svg.append(s("text", {x: (edge.left + width) / 2, y: height - 6, "text-anchor": "middle"}, across.label), s("text", {x: 12, y: (height - edge.bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(height - edge.bottom) / 2})`}, up.label));
  return {svg, x, y, spots: []};
}

export interface Mark { x: number; y: number; size: number; colour: string; tip: string; act?: () => void; ring?: boolean }

export function mark(chart: Chart, {x, y, size, colour, tip, act, ring}: Mark): void {
  const [cx, cy] = [chart.x(x), chart.y(y)];
  chart.svg.append(s("circle", {cx, cy, r: size, style: ring ? `fill:none;stroke:${colour};stroke-width:2` : `fill:${colour}`, class: act ? "dot act" : "dot"}));
  chart.spots.push({x: cx, y: cy, text: tip, act});
}

export function line(chart: Chart, points: [number, number][], colour: string, attributes: Record<string, unknown> = {}): void {
  chart.svg.append(s("path", {d: points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${chart.x(x).toFixed(1)} ${chart.y(y).toFixed(1)}`).join(""), style: `fill:none;stroke:${colour};stroke-width:1.8`, ...attributes}));
}
