// The answer in a strip: step, tokens, utilization, memory, who waits for whom; beside the baseline and other GPUs.
import type {Prediction} from "./answers";
import type {App, Shown} from "./app";
import {h} from "./element";
import {amount, bytes, percent, signed, time, times} from "./format";
import {words} from "./state";

function fact(name: string, value: [string, number | boolean], beside: string, extra = ""): HTMLElement {
  return h("div", {class: `fact ${extra}`}, h("dt", {}, name), h("dd", {"data-value": String(value[1])}, value[0], h("small", {}, beside)));
}

const change = (now: number, base: number | undefined) => (base && Math.abs(now / base - 1) > 5e-4 ? `${signed(now / base - 1)} of the baseline` : "as the baseline");

function facts(now: Prediction, base: Prediction | null): HTMLElement[] {
  const unit = now.workload.phase === "decode" ? "per step of one token each" : "of the whole step";
  return [
    fact("Step", [time(now.time_s), now.time_s], `${time(now.low_s)} – ${time(now.high_s)}, ${now.evidence}`),
    fact("Tokens per second", [amount(now.tokens_per_s), now.tokens_per_s], base ? change(now.tokens_per_s, base.tokens_per_s) : unit, base && now.tokens_per_s > base.tokens_per_s * 1.0005 ? "better" : base && now.tokens_per_s < base.tokens_per_s * 0.9995 ? "worse" : ""),
    fact("MFU", [percent(now.mfu), now.mfu], `of the data sheet’s ${amount(now.device.peak_flops_per_s[String(now.workload.precision)] ?? NaN)}FLOP/s`),
    fact("Memory", [bytes(now.memory.total_bytes!), now.memory.total_bytes!], `${now.fits ? "of" : "does not fit in"} ${bytes(now.memory.room_bytes!)} that may be used`, now.fits ? "" : "worse"),
    fact("Waits for", [now.host_bound ? "the host" : "the GPU", now.host_bound], `GPU busy ${time(now.gpu_busy_s)}, host ${time(now.host_time_s)}${(now.host_remedies ?? []).slice(0, 2).map(each => `; ${each.what} ${times(each.speedup)}`).join("")}`),
  ];
}

/// One line that stays in view on a phone, where the sliders are far from the answer.
export function pulse(app: App): HTMLElement {
  const line = h("p", {id: "pulse", "aria-hidden": "true"});
  app.add(({now, base, problem}) => {
    if (problem || !now) return void (line.textContent = problem.split("\n")[0]!);
    line.textContent = `${time(now.time_s)} · ${amount(now.tokens_per_s)} tokens/s${base && change(now.tokens_per_s, base.tokens_per_s) !== "as the baseline" ? ` (${signed(now.tokens_per_s / base.tokens_per_s - 1)})` : ""} · ${bytes(now.memory.total_bytes!)}${now.fits ? "" : ", too much"}`;
  });
  return line;
}

function gpu_table(shown: Shown, app: App): HTMLElement | null {
  if (shown.state.gpus.length < 2) return null;
  const rows = shown.state.gpus.map((gpu, i) => {
    const answer = app.model.ask(["predict", ...words(shown.state, {}, gpu), "--json"]);
    const drop = h("button", {type: "button", class: "back", "aria-label": `Leave out ${gpu}`, onclick: () => app.change({gpus: shown.state.gpus.filter(each => each !== gpu)})}, "×");
    if (answer.code !== 0) return h("tr", {}, h("th", {scope: "row"}, gpu), h("td", {colspan: 5, class: "words"}, answer.said), h("td", {}, drop));
    const p = JSON.parse(answer.out) as Prediction;
    return h("tr", {}, h("th", {scope: "row"}, gpu), h("td", {}, time(p.time_s)), h("td", {}, `${time(p.low_s)} – ${time(p.high_s)}`), h("td", {}, amount(p.tokens_per_s)), h("td", {}, percent(p.mfu)), h("td", {}, `${bytes(p.memory.total_bytes!)}${p.fits ? "" : ", too much"}`), h("td", {}, i > 0 && shown.now ? times(p.tokens_per_s / shown.now.tokens_per_s) : "", drop));
  });
  return h("div", {class: "scroll"}, h("table", {}, h("caption", {}, "Beside other GPUs"), h("thead", {}, h("tr", {}, ...["GPU", "step", "90% interval", "tokens/s", "MFU", "memory", "against the first"].map(name => h("th", {scope: "col"}, name)))), h("tbody", {}, ...rows)));
}

export function verdict(app: App): HTMLElement {
  const list = h("dl", {class: "facts"});
  const problem = h("pre", {class: "problem", role: "alert", id: "problem"});
  const warning = h("pre", {class: "warning", role: "status"});
  const title = h("p", {class: "asked"});
  const others = h("div", {id: "gpus"});
  app.add(shown => {
    problem.textContent = shown.problem;
    problem.hidden = !shown.problem;
    warning.textContent = shown.warning;
    warning.hidden = !shown.warning;
    list.classList.toggle("stale", shown.problem !== "");
    if (!shown.now) return;
    title.textContent = `${shown.now.shape.name} on ${shown.now.device.full_name}, ${shown.now.workload.runtime}`;
    list.replaceChildren(...facts(shown.now, shown.base));
  });
  app.add((shown, a) => others.replaceChildren(...[gpu_table(shown, a)].filter(each => each !== null)), "later");
  return h("section", {class: "verdict", "aria-label": "The answer", "aria-live": "off"}, title, problem, warning, list, others);
}
