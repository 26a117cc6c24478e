// Latency against throughput when one GPU, or a few, serve the model: the picture of `report`, and the numbers of `plan`.
import type {Serving} from "./answers";
import type {App} from "./app";
import {drawing} from "./element";
import {export_buttons, frame, when_resized, when_seen} from "./panel";
import {Pointing, spots_of} from "./pointing";
import {words} from "./state";

export function serving(app: App): HTMLElement {
  const {panel, body, head, note} = frame("Serving it", "serving", "Time per output token against throughput, by requests at once, for each split over the GPUs of a node. Click a point to look at it.");
  const picture = new Pointing("Latency against throughput");
  body.append(picture.host);
  let found: Serving | null = null;
  head.append(...export_buttons(() => "serving", {svg: () => body.querySelector("svg"), table: () => found && {
    columns: ["tp", "requests", "first_token_s", "output_token_s", "low_s", "high_s", "tokens_per_s_per_gpu", "bound", "memory_bytes"],
    rows: found.points.map(p => [p.tp, p.batch, p.first_token_s, p.output_token_s, p.low_s, p.high_s, p.tokens_per_s_per_gpu, p.bound, p.memory_bytes])}}));
  /// A line of the picture says "tp 2, 64 requests …".
  const take = (text: string) => {
    const [, tp, batch] = /^tp (\d+), ([\d,]+) request/.exec(text) ?? [];
    return batch ? () => app.set({phase: "decode", batch: batch.replaceAll(",", ""), tp: tp === "1" ? undefined : tp}) : undefined;
  };
  const update = () => {
    if (!seen() || !app.shown.now || app.shown.problem) return;
    const dropped = {phase: "decode", batch: undefined, tp: undefined, pp: undefined, dp: undefined, cp: undefined, ep: undefined, "micro-batches": undefined, recompute: undefined};
    const width = Math.max(280, body.clientWidth);
    const asked = words(app.state, dropped);
    app.send({kind: "serving numbers", what: "ask", words: ["plan", ...asked, "--json"]}, piece => {
      note.textContent = piece.fault ?? (piece.answer!.code === 0 ? "" : piece.answer!.said);
      found = note.textContent ? null : JSON.parse(piece.answer!.out) as Serving;
      if (found?.points.length === 0) note.textContent = "Not one request fits in the memory of a node.";
    });
    app.send({kind: "serving", what: "picture", words: ["serving", String(width), "", ...asked]}, piece => {
      const svg = piece.answer?.out ? drawing(piece.answer.out) : null;
      if (svg) picture.show(svg, width, spots_of(svg).map(spot => ({...spot, act: take(spot.text)})));
    });
  };
  const seen = when_seen(panel, update);
  when_resized(body, update);
  app.add(update, "later");
  return panel;
}
