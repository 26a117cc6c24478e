// A panel with a heading, and what all pictures share: colours and export.
import {h, save} from "./element";

/// Each has a colour of its own in the style sheet, and people with any colour vision tell them apart.
const parts: readonly string[] = ["mlp", "attention", "qkv", "projection", "head", "norm", "activation", "optimizer", "embedding", "loss", "residual", "communication", "position", "router"];
export const colour_of = (component: string) => `var(--c${Math.max(0, parts.indexOf(component))})`;
export const css = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export interface Frame { panel: HTMLElement; body: HTMLElement; head: HTMLElement; note: HTMLElement }

export function frame(title: string, id: string, explain: string): Frame {
  const body = h("div", {class: "body"});
  const head = h("div", {class: "tools"});
  const note = h("p", {class: "hint note", role: "status"});
  const panel = h("section", {class: "panel", id, "aria-labelledby": `${id}-title`}, h("header", {}, h("h2", {id: `${id}-title`}, title), head), h("p", {class: "hint"}, explain), body, note);
  return {panel, body, head, note};
}

export const button = (text: string, act: () => void, attributes: Record<string, unknown> = {}) => h("button", {type: "button", ...attributes, onclick: act}, text);

function save_canvas(name: string, canvas: HTMLCanvasElement): void {
  const copy = h("canvas", {width: canvas.width, height: canvas.height});
  const context = copy.getContext("2d")!;
  context.fillStyle = css("--paper");
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(canvas, 0, 0);
  copy.toBlob(blob => { if (blob) save(name, blob); });
}

/// An SVG of the page as a file of its own: the colours that the page gives it are written into it.
function save_svg(name: string, svg: SVGElement): void {
  const copy = svg.cloneNode(true) as SVGElement;
  const drawn = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
    const style = getComputedStyle(drawn[i]!);
    for (const key of ["fill", "stroke", "font-size", "font-family", "text-anchor", "opacity"]) element.setAttribute(key, style.getPropertyValue(key));
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("style", `background:${css("--paper")}`);
  save(name, new XMLSerializer().serializeToString(copy), "image/svg+xml");
}

const csv = (columns: string[], rows: (string | number)[][]) => [columns, ...rows].map(row => row.map(cell => (typeof cell === "string" && /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")).join("\n") + "\n";

/// Buttons that offer a picture and its numbers as files; what is not there yet is not offered.
export function export_buttons(name: () => string, kinds: {svg?: () => SVGElement | null; canvas?: () => HTMLCanvasElement | null; table?: () => {columns: string[]; rows: (string | number)[][]} | null}): HTMLElement[] {
  const list: [string, (() => void) | false | undefined][] = [
    ["SVG", kinds.svg && (() => { const svg = kinds.svg!(); if (svg) save_svg(`${name()}.svg`, svg); })],
    ["PNG", kinds.canvas && (() => { const canvas = kinds.canvas!(); if (canvas) save_canvas(`${name()}.png`, canvas); })],
    ["CSV", kinds.table && (() => { const table = kinds.table!(); if (table) save(`${name()}.csv`, csv(table.columns, table.rows), "text/csv"); })]];
  return list.filter(([, act]) => act).map(([text, act]) => button(text, act as () => void, {title: `${name()} as ${text}`}));
}

/// Calls when an element has become wider or narrower.
export function when_resized(element: Element, act: () => void): void {
  let width = element.clientWidth;
  new ResizeObserver(() => { if (element.clientWidth !== width) { width = element.clientWidth; act(); } }).observe(element);
}

/// Calls when the element first comes into view, and says whether it has been.
export function when_seen(element: Element, act: () => void): () => boolean {
  let seen = false;
  new IntersectionObserver((entries, observer) => {
    if (!entries.some(entry => entry.isIntersecting)) return;
    seen = true;
    observer.disconnect();
    act();
  }, {rootMargin: "200px"}).observe(element);
  return () => seen;
}
