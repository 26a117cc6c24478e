// What the numbers feel like: a text that streams at the predicted speed after the predicted wait, or the days and the
// price of a training run.
import type {Prediction} from "./answers";
import type {App} from "./app";
import {h} from "./element";
import {amount, grouped, time} from "./format";
import {button, frame} from "./panel";
import {words} from "./state";

const tokens = "A tile is a block of the output that one group of threads computes. A matrix whose sides are not whole tiles leaves part of the last ones empty, and a number of tiles that does not fill every unit of the chip leaves a last wave half idle. That is why a vocabulary of 50,304 is faster than one of 50,257, although it is larger.".match(/\s*\S{1,5}/g)!;

function serving_part(app: App, now: Prediction): HTMLElement {
  const text = h("p", {class: "stream", "aria-live": "off"});
  const clock = h("p", {class: "hint", role: "status"});
  let running = 0;
  const first = () => {
    const answer = app.model.ask(["predict", ...words(app.state, {phase: "prefill", batch: "1"}), "--json"]);
    return answer.code === 0 ? (JSON.parse(answer.out) as Prediction).time_s : NaN;
  };
  const play = () => {
    const [wait, each] = [first(), now.time_s];
    const began = performance.now();
    const mine = ++running;
    const tick = () => {
      if (mine !== running || !text.isConnected) return;
      const elapsed = (performance.now() - began) / 1000;
      const shown = Math.max(0, Math.min(tokens.length, Math.floor((elapsed - wait) / each) + 1));
      text.textContent = elapsed < wait ? "…" : tokens.slice(0, shown).join("");
      clock.textContent = `first token after ${time(wait)}, then ${time(each)} each, ${grouped(1 / each)} tokens/s for each of ${grouped(Number(now.workload.batch))} readers`;
      if (shown < tokens.length) requestAnimationFrame(tick);
    };
    tick();
  };
  return h("div", {}, button("Stream a text at this speed", play), text, clock);
}

function training_part(now: Prediction): HTMLElement {
  const line = h("p", {class: "big", role: "status"});
  const input = (id: string, text: string, value: number) => h("label", {class: "choice", for: id}, text, h("input", {id, type: "number", min: 0, step: "any", value, oninput: () => say()}));
  const suggested = Math.max(1, Math.round((20 * Number(now.shape.params_active)) / 1e9));
  const fields = [input("run-tokens", "Tokens, billions", kept.tokens ?? suggested), input("run-gpus", "GPUs", kept.gpus ?? 64), input("run-price", "Price of a GPU-hour, $", kept.price ?? 2.5)];
  const say = () => {
    const [billions, gpus, price] = fields.map(each => Number(each.querySelector("input")!.value)) as [number, number, number];
    Object.assign(kept, {tokens: billions, gpus, price});
    const one = Number(now.workload.tp) * Number(now.workload.pp) * Number(now.workload.dp) * Number(now.workload.cp);
    const hours = (billions * 1e9) / (now.tokens_per_s / one) / 3600;
    line.textContent = `${(hours / gpus / 24).toLocaleString("en-US", {maximumFractionDigits: 1})} days, ${amount(hours)} GPU-hours, $ ${grouped(hours * price)}`;
  };
  const note = "GPUs beyond those of the parallelism chosen are taken as replicas whose exchange is hidden; tilewright plan prices it.";
  say();
  return h("div", {}, h("div", {class: "grid"}, ...fields), line, h("p", {class: "hint"}, note));
}
const kept: {tokens?: number; gpus?: number; price?: number} = {};

export function feel(app: App): HTMLElement {
  const {panel, body} = frame("Feel it", "feel", "What the prediction means for whoever waits, or pays.");
  let key = "";
  app.add(({now, problem}) => {
    if (!now || problem) return;
    const next = `${now.workload.phase} ${now.shape.name} ${now.device.name} ${now.time_s}`;
    if (next === key || body.contains(document.activeElement)) return;
    key = next;
    body.replaceChildren(now.workload.phase === "train" ? training_part(now) : now.workload.phase === "decode" ? serving_part(app, now) : h("p", {}, `The first token comes after ${time(now.time_s)} (${time(now.low_s)} – ${time(now.high_s)}). Choose decoding to see the rest stream.`));
  });
  return panel;
}
