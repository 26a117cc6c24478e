// A panel with a heading, and what all pictures share: colours, a text beside the pointer, export.
import {h, save} from "./element";

/// Colours that people with any colour vision tell apart (after Okabe and Ito), as the style sheet has them.
const parts = ["mlp", "attention", "qkv", "projection", "head", "norm", "activation", "optimizer", "embedding", "loss", "residual", "communication", "position", "router"];
export const colour_of = (component: string) => `var(--c${Math.max(0, parts.indexOf(component)) % 8})`;
export const css = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export interface Frame { panel: HTMLElement; body: HTMLElement; head: HTMLElement; note: HTMLElement }

export function frame(title: string, id: string, explain: string): Frame {
  const body = h("div", {class: "body"});
  const head = h("div", {class: "tools"});
  const note = h("p", {class: "hint note", role: "status"});
  const panel = h("section", {class: "panel", id, "aria-labelledby": `${id}-title`}, h("header", {}, h("h2", {id: `${id}-title`}, title), head), h("p", {class: "hint"}, explain), body, note);
  return {panel, body, head, note};
}

const tip = h("div", {id: "tip", role: "tooltip", hidden: true});
document.body.append(tip);
export function show_tip(event: {clientX: number; clientY: number}, text: string): void {
  tip.textContent = text;
  tip.hidden = false;
  const {width, height} = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8))}px`;
  tip.style.top = `${event.clientY + 14 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 14}px`;
}
export const hide_tip = () => { tip.hidden = true; };

/// Text beside the pointer, and for whoever has none.
export function tipped<T extends Element>(element: T, text: string): T {
  element.setAttribute("aria-label", text.replaceAll("\n", "; "));
  element.addEventListener("pointermove", event => show_tip(event as PointerEvent, text));
  element.addEventListener("pointerleave", hide_tip);
  element.addEventListener("focus", () => { const box = element.getBoundingClientRect(); show_tip({clientX: box.left, clientY: box.bottom}, text); });
  element.addEventListener("blur", hide_tip);
  return element;
}

export const button = (text: string, act: () => void, attributes: Record<string, unknown> = {}) => h("button", {type: "button", ...attributes, onclick: act}, text);

export function save_canvas(name: string, canvas: HTMLCanvasElement): void {
  const copy = h("canvas", {width: canvas.width, height: canvas.height});
  const context = copy.getContext("2d")!;
  context.fillStyle = css("--paper");
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(canvas, 0, 0);
  copy.toBlob(blob => { if (blob) save(name, blob); });
}

/// An SVG of the page as a file of its own: the colours that the page gives it are written into it.
export function save_svg(name: string, svg: SVGElement): void {
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

export const csv = (columns: string[], rows: (string | number)[][]) => [columns, ...rows].map(row => row.map(cell => (typeof cell === "string" && /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")).join("\n") + "\n";

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
