// What a picture says under the pointer, and to whoever has none under the arrow keys.
import {h} from "./element";

/// A place of a picture, in the picture's own pixels.
export interface Spot { x: number; y: number; text: string; act?: (() => void) | undefined }

const tip = h("div", {id: "tip", role: "status", hidden: true});
document.body.append(tip);
export function show_tip(event: {clientX: number; clientY: number}, text: string): void {
  if (tip.textContent !== text) tip.textContent = text;
  tip.hidden = false;
  const {width, height} = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8))}px`;
  tip.style.top = `${event.clientY + 14 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 14}px`;
}
export const hide_tip = () => { tip.hidden = true; };

/// Text beside the pointer of one element, and on focus.
export function tipped<T extends Element>(element: T, text: string): T {
  element.setAttribute("aria-label", text.replaceAll("\n", "; "));
  element.addEventListener("pointermove", event => show_tip(event as PointerEvent, text));
  element.addEventListener("pointerleave", hide_tip);
  element.addEventListener("focus", () => { const box = element.getBoundingClientRect(); show_tip({clientX: box.left, clientY: box.bottom}, text); });
  element.addEventListener("blur", hide_tip);
  return element;
}

interface How {
  by?: "x"; // only the distance across counts, however long it is
  column?: () => number; // spots above each other, in order from below: a key to the left or right jumps over as many
}

/// Holds a picture that can be gone through: the nearest spot under the pointer, or one after another by keys.
export class Pointing {
  readonly host: HTMLElement;
  private readonly ring = h("i", {class: "ring", hidden: true});
  private spots: Spot[] = [];
  private at = -1;
  private inside: () => {left: number; top: number; scale: number} = () => ({left: 0, top: 0, scale: 1});

  constructor(name: string, private readonly how: How = {}) {
    this.host = h("div", {class: "picture", tabindex: 0, role: "group", "aria-roledescription": "picture", "aria-label": `${name}: arrow keys go from point to point, Enter takes one`,
      onpointermove: (event: PointerEvent) => this.under(event), onpointerleave: () => this.leave(), onblur: () => this.leave(),
      onclick: (event: MouseEvent) => { if (event.detail < 2) { this.under(event); this.spots[this.at]?.act?.(); } },
      onfocus: () => { if (this.host.matches(":focus-visible")) this.go(this.at < 0 ? 0 : this.at); }, onkeydown: (event: KeyboardEvent) => this.key(event)}, this.ring);
  }

  /// A new picture of the same thing; what was drawn by another hand is where `inside` says.
  show(picture: Element, width: number, spots: Spot[]): void {
    this.host.replaceChildren(picture, this.ring);
    this.place(spots, () => {
      const [outer, inner] = [this.host.getBoundingClientRect(), picture.getBoundingClientRect()];
      return {left: inner.left - outer.left, top: inner.top - outer.top, scale: inner.width / width};
    });
  }
  place(spots: Spot[], inside: () => {left: number; top: number; scale: number}): void {
    this.spots = this.how.column ? spots : [...spots].sort((a, b) => a.x - b.x || a.y - b.y);
    this.inside = inside;
    this.at = Math.min(this.at, spots.length - 1);
    this.ring.hidden = true;
  }

  private under(event: MouseEvent): void {
    const {left, top, scale} = this.inside();
    const outer = this.host.getBoundingClientRect();
    const [x, y] = [(event.clientX - outer.left - left) / scale, (event.clientY - outer.top - top) / scale];
    const far = (spot: Spot) => (this.how.by === "x" ? Math.abs(spot.x - x) : Math.hypot(spot.x - x, spot.y - y));
    let [best, least] = [-1, this.how.by || this.how.column ? Infinity : 24];
    this.spots.forEach((spot, i) => { if (far(spot) < least) [best, least] = [i, far(spot)]; });
    if (best < 0) return this.leave();
    this.mark(best);
    show_tip(event, this.spots[best]!.text);
  }

  private key(event: KeyboardEvent): void {
    if (event.target !== this.host) return;
    const column = this.how.column?.() ?? 1;
    const steps: Record<string, number> = {ArrowLeft: -column, ArrowRight: column, ArrowDown: -1, ArrowUp: 1, PageDown: -10 * column, PageUp: 10 * column, Home: -Infinity, End: Infinity};
    if (event.key === "Enter" || event.key === " ") this.spots[this.at]?.act?.();
    else if (event.key === "Escape") this.leave();
    else if (steps[event.key] !== undefined) this.go(this.at + steps[event.key]!);
    else return;
    event.preventDefault();
  }

  private go(to: number): void {
    const at = Math.max(0, Math.min(this.spots.length - 1, to));
    if (!this.spots[at]) return;
    this.mark(at);
    const {left, top, scale} = this.inside();
    const outer = this.host.getBoundingClientRect();
    show_tip({clientX: outer.left + left + this.spots[at]!.x * scale, clientY: outer.top + top + this.spots[at]!.y * scale}, this.spots[at]!.text);
  }

  private mark(at: number): void {
    this.at = at;
    const {left, top, scale} = this.inside();
    this.ring.hidden = false;
    this.ring.style.left = `${left + this.spots[at]!.x * scale}px`;
    this.ring.style.top = `${top + this.spots[at]!.y * scale}px`;
    this.host.classList.toggle("act", !!this.spots[at]!.act);
  }
  private leave(): void {
    this.ring.hidden = true;
    hide_tip();
  }
}

/// What a picture of `report` says, and where: its points with a title, and those of lines that list their notes.
export function spots_of(svg: SVGElement): Spot[] {
  const found: Spot[] = [];
  for (const path of svg.querySelectorAll<SVGElement>("path.dot, path[data-notes]")) {
    const places = [...path.getAttribute("d")!.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)] as const);
    const title = path.querySelector("title");
    const [notes, which] = [path.dataset.notes?.split("|") ?? [], path.dataset.which?.split(" ") ?? []];
    places.forEach(([x, y], i) => {
      const text = title?.textContent ?? notes[Number(which[i])];
      if (text && (title ? i === 0 : true)) found.push({x, y, text});
    });
  }
  svg.querySelectorAll("path > title").forEach(title => title.remove());
  return found;
}
