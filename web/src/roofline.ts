// Every kernel under the roof of the data sheet: the picture of `report`, drawn for the present state.
import type {App} from "./app";
import {drawing} from "./element";
import {colour_of, export_buttons, frame, when_resized, when_seen} from "./panel";
import {Pointing, spots_of} from "./pointing";
import {words} from "./state";

/// The page's own colours of components in place of the report's.
function colour(svg: SVGElement, component_of: (text: string) => string | undefined): void {
  const hues = new Map<string, string>();
  for (const dot of svg.querySelectorAll("path.dot:has(title)")) {
    const [hue, component] = [[...dot.classList].find(name => /^f\d$/.test(name)), component_of(dot.textContent!)];
    if (hue && component && !hues.has(hue)) hues.set(hue, colour_of(component));
  }
  for (const [hue, value] of hues) for (const part of svg.querySelectorAll<SVGElement>(`path.dot.${hue}`)) part.style.cssText = `fill:${value};stroke:${value}`;
}

export function roofline(app: App): HTMLElement {
  const {panel, body, head, note} = frame("Under the roof", "roofline", "Each kernel’s rate against its work per byte. On the roof it is as fast as the chip can be. What only moves data counts one operation per element.");
  const picture = new Pointing("Roofline");
  body.append(picture.host);
  head.append(...export_buttons(() => "roofline", {svg: () => body.querySelector("svg"), table: () => app.shown.now && {
    columns: ["kernel", "component", "pass", "launches", "flops", "bytes", "time_s", "low_s", "high_s", "bound", "evidence"],
    rows: app.shown.now.kernels.map(k => [k.name, k.component, k.pass, k.count, k.flops, k.read_bytes + k.written_bytes, k.time_s, k.low_s, k.high_s, k.bound, k.evidence])}}));
  const update = () => {
    const {now, problem} = app.shown;
    if (!seen() || !now || problem) return;
    const width = Math.max(280, body.clientWidth);
    app.send({kind: "roofline", what: "picture", words: ["roofline", String(width), "", ...words(app.state)]}, piece => {
      note.textContent = piece.fault ?? piece.answer!.said;
      const svg = piece.answer?.out ? drawing(piece.answer.out) : null;
      if (!svg) return;
      const index_of = (text: string) => now.kernels.findIndex(kernel => text.startsWith(`${kernel.name}: `));
      colour(svg, text => now.kernels[index_of(text)]?.component);
      picture.show(svg, width, spots_of(svg).map(spot => {
        const at = index_of(spot.text);
        return {...spot, act: at < 0 ? undefined : () => app.change({kernel: `${now.kernels[at]!.component}/${at}`})};
      }));
    });
  };
  const seen = when_seen(panel, update);
  when_resized(body, update);
  app.add(update, "later");
  return panel;
}
