// Latency against throughput when one GPU, or a few, serve the model.
import type {Serving} from "./answers";
import type {App} from "./app";
import {chart, line, mark} from "./chart";
import {h} from "./element";
import {amount, bytes, grouped, time} from "./format";
import {button, frame, save_svg, when_seen} from "./panel";
import {words} from "./state";

export function serving(app: App): HTMLElement {
  const {panel, body, head, note} = frame("Serving it", "serving", "Time per output token against throughput, by batch, for each split over the GPUs of a node.");
  head.append(button("SVG", () => { const svg = body.querySelector("svg"); if (svg) save_svg("serving.svg", svg); }));
  let found: Serving | null = null;
  const draw = () => {
    if (!found) return;
    if (found.points.length === 0) return body.replaceChildren(h("p", {class: "problem"}, "Not one request fits in the memory of a node."));
    const [tokens, times] = [found.points.map(point => point.tokens_per_s_per_gpu), found.points.map(point => point.output_token_s)];
    const picture = chart(Math.max(280, body.clientWidth), {low: Math.min(...tokens) / 1.3, high: Math.max(...tokens) * 1.3, log: true, label: "tokens per second and GPU", text: amount}, {low: Math.min(...times) / 1.3, high: Math.max(...times) * 1.3, log: true, label: "time per output token", text: time}, "Latency against throughput");
    const splits = [...new Set(found.points.map(point => point.tp))];
    splits.forEach((tp, i) => {
      const points = found!.points.filter(point => point.tp === tp);
      line(picture, points.map(point => [point.tokens_per_s_per_gpu, point.output_token_s]), `var(--c${i})`);
      for (const point of points) mark(picture, {x: point.tokens_per_s_per_gpu, y: point.output_token_s, size: 4, colour: `var(--c${i})`, act: () => app.set({phase: "decode", batch: point.batch, tp: tp === 1 ? undefined : tp}), tip: `${grouped(point.batch)} requests at once on ${tp} GPU${tp > 1 ? "s" : ""}: ${time(point.output_token_s)} per token, ${amount(point.tokens_per_s_per_gpu)} tokens/s and GPU\nfirst token after ${time(point.first_token_s)}; bound by ${point.bound}; ${bytes(point.memory_bytes)}`});
    });
    body.replaceChildren(picture.svg, h("ul", {class: "legend"}, ...splits.map((tp, i) => h("li", {}, h("i", {style: `background:var(--c${i})`}), `tp ${tp}: up to ${grouped(found!.limits.find(limit => limit.tp === tp)?.full_batch ?? 0)} requests`))));
  };
  const update = () => {
    if (!seen() || !app.shown.now || app.shown.problem) return;
    const dropped = {phase: "decode", batch: undefined, tp: undefined, pp: undefined, dp: undefined, cp: undefined, ep: undefined, "micro-batches": undefined, recompute: undefined};
    app.send({kind: "serving", what: "ask", turned: [], words: ["plan", ...words(app.state, dropped), "--json"]}, piece => {
      const said = piece.fault ?? (piece.answer!.code === 0 ? "" : piece.answer!.said);
      note.textContent = said;
      if (!said) found = JSON.parse(piece.answer!.out) as Serving;
      draw();
    });
  };
  const seen = when_seen(panel, update);
  new ResizeObserver(draw).observe(body);
  app.add(update, "later");
  return panel;
}
