// Every kernel under the roof of the data sheet: the picture of `report`, drawn for the present state.
import type {Kernel} from "./answers";
import type {App} from "./app";
import {drawing} from "./element";
import {colour_of, export_buttons, frame, when_resized, when_seen} from "./panel";
import {Pointing, spots_of} from "./pointing";
import {words} from "./state";

/// The kernel of each dot, -1 where unknown. The dots of a component stand together in one colour, its kernels in their own
/// order; a name is not enough, for several components quantize.
function kernels_of(dots: SVGElement[], kernels: Kernel[]): number[] {
  const hue = (dot: SVGElement) => [...dot.classList].find(name => /^f\d$/.test(name));
  const found: number[] = [];
  for (let from = 0; from < dots.length; from = found.length) {
    const end = dots.findIndex((dot, i) => i > from && hue(dot) !== hue(dots[from]!));
    const titles = dots.slice(from, end < 0 ? undefined : end).map(dot => dot.textContent!);
    const components = new Set(kernels.map(kernel => kernel.component));
    const of = [...components].map(component => {
      const left = kernels.flatMap((kernel, i) => (kernel.component === component ? [i] : []));
      return titles.map(title => left.splice(0, left.findIndex(i => title.startsWith(`${kernels[i]!.name}: `)) + 1).at(-1) ?? -1);
    });
    found.push(...(of.find(places => !places.includes(-1)) ?? titles.map(() => -1)));
  }
  return found;
}

/// The page's own colours of components in place of the report's; the legend names them in the order of the dots.
function colour(svg: SVGElement, dots: SVGElement[], components: (string | undefined)[]): void {
  const paint = (dot: SVGElement, component: string) => { dot.style.cssText = `fill:${colour_of(component)};stroke:${colour_of(component)}`; };
  dots.forEach((dot, i) => { if (components[i]) paint(dot, components[i]); });
  const named = [...new Set(components)];
  svg.querySelectorAll<SVGElement>("path.dot:not(:has(title))").forEach((dot, i) => { if (named[i]) paint(dot, named[i]); });
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
      const dots = [...svg.querySelectorAll<SVGElement>("path.dot:has(title)")];
      const places = kernels_of(dots, now.kernels);
      colour(svg, dots, places.map(at => now.kernels[at]?.component));
      picture.show(svg, width, spots_of(svg).map((spot, i) => {
        const at = places[i]!;
        return {...spot, act: at < 0 ? undefined : () => app.change({kernel: `${now.kernels[at]!.component}/${at}`})};
      }));
    });
  };
  const seen = when_seen(panel, update);
  when_resized(body, update);
  app.add(update, "later");
  return panel;
}
