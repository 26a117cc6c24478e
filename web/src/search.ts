// Faster shapes of equal size, found on all cores; each can be looked at.
import type {Candidate, Found} from "./answers";
import type {App} from "./app";
import {chart, line, mark} from "./chart";
import {label} from "./controls";
import {h} from "./element";
import {amount, grouped, percent, signed, time, times} from "./format";
import {button, export_buttons, frame, when_resized} from "./panel";
import {Pointing} from "./pointing";
import {command, dimensions, words} from "./state";

function flags_of(found: Candidate): Record<string, string | undefined> {
  const flags: Record<string, string | undefined> = {batch: String(found.batch), tp: found.tp > 1 ? String(found.tp) : undefined};
  for (const name of dimensions) flags[name] = String(found.shape[name.replaceAll("-", "_")]);
  return flags;
}

const loss_words = ({loss}: Candidate) => (loss ? `${signed(loss.change)} (${signed(loss.low)} to ${signed(loss.high)})${loss.reaches ? "" : "; beyond the runs"}` : "not known");

/// Each shape once, with all its kinds: the best of one knob may be the best of all.
function unlike(list: Candidate[]): Candidate[] {
  const seen = new Map<string, Candidate>();
  for (const each of list) {
    const key = JSON.stringify(each.shape) + each.batch + each.tp;
    const kinds = new Set([...(seen.get(key)?.kind.split(", ") ?? []), each.kind]);
    seen.set(key, {...each, kind: [...kinds].join(", ")});
  }
  return [...seen.values()];
}

/// Speed against size or expected loss; a point on the front is one that no other beats in both.
function front(found: Found, width: number, against: "size" | "loss", load: (found: Candidate) => void): Pointing | null {
  const all = unlike([...found.candidates, ...found.parameter_front]).filter(each => against === "size" || each.loss?.reaches);
  if (all.length === 0) return null;
  const across = (each: Candidate) => (against === "size" ? each.parameter_change : each.loss!.change) * 100;
  const cost = (each: Candidate) => (against === "size" ? Math.abs(across(each)) : across(each));
  const best = (each: Candidate) => !all.some(other => (cost(other) < cost(each) && other.speedup >= each.speedup) || (cost(other) <= cost(each) && other.speedup > each.speedup));
  const values = [0, ...all.map(across)];
  const spread = Math.max(0.1, Math.max(...values) - Math.min(...values));
  const speeds = [1, ...all.flatMap(each => [each.low, each.high])];
  const picture = chart(width, {low: Math.min(...values) - 0.1 * spread, high: Math.max(...values) + 0.1 * spread, log: false, label: against === "size" ? "change of parameters, %" : "expected loss against this shape, %", text: value => value.toFixed(spread < 1 ? 2 : 1)}, {low: Math.min(...speeds) * 0.97, high: Math.max(...speeds) * 1.03, log: false, label: "speed-up", text: times}, against === "size" ? "Speed against size" : "Speed against expected loss");
  line(picture, [[Math.min(...values) - 0.1 * spread, 1], [Math.max(...values) + 0.1 * spread, 1]], "var(--faint)", {"stroke-dasharray": "4 4"});
  for (const each of all) {
    line(picture, [[across(each), each.low], [across(each), each.high]], "var(--faint)");
    mark(picture, {x: across(each), y: each.speedup, size: 5, colour: best(each) ? "var(--c3)" : "var(--c0)", act: () => load(each), tip: `${times(each.speedup)} (${times(each.low)} – ${times(each.high)})\n${each.changed.join("\n")}\n${amount(each.params)} parameters, ${signed(each.parameter_change)}\nexpected loss ${loss_words(each)}${each.causes[0] ? `\nmostly ${each.causes[0].change}: ${each.causes[0].component} ${times(each.causes[0].speedup)}` : ""}\nclick to load it`});
  }
  mark(picture, {x: 0, y: 1, size: 6, colour: "var(--accent)", ring: true, tip: "the shape as it is"});
  const pointing = new Pointing(against === "size" ? "Speed against size" : "Speed against expected loss");
  pointing.show(picture.svg, width, picture.spots);
  return pointing;
}

function table(found: Found, load: (found: Candidate) => void): HTMLElement {
  const by_loss = found.objective === "loss";
  const cells = (each: Candidate) => [h("td", {class: "kind"}, each.kind), h("td", {}, times(each.speedup), h("small", {}, `${times(each.low)} – ${times(each.high)}`)),
    ...(by_loss ? [h("td", {}, each.time_to_loss ? times(each.time_to_loss.speedup) : "–")] : []), h("td", {}, time(each.time_s)), h("td", {}, signed(each.parameter_change)), h("td", {class: "loss"}, loss_words(each))];
  return h("div", {class: "scroll"}, h("table", {}, h("thead", {}, h("tr", {}, ...["", "turning", "speed (90%)", ...(by_loss ? ["to loss"] : []), "step", "parameters", "expected loss (90%)"].map(name => h("th", {scope: "col", class: name === "turning" ? "words" : ""}, name)), h("th", {scope: "col", class: "words"}, "changed"))),
    h("tbody", {}, ...unlike(found.candidates).slice(0, 12).map(each => h("tr", {}, h("td", {}, button("Load", () => load(each))), ...cells(each), h("td", {class: "words"}, each.changed.join(", ").replaceAll(" -> ", "\u00a0→ ")))))));
}

export function search(app: App): HTMLElement {
  const {panel, body, head, note} = frame("Faster shapes of equal size", "search", "Every shape within one percent of the size, priced on this GPU on every core of this machine. Click a point to load it.");
  panel.classList.add("wide");
  let [running, found]: [boolean, Found | null] = [false, null];
  const fixed = h("select", {id: "search-fix", "aria-label": "What stays"}, h("option", {value: ""}, "all may change"), ...dimensions.map(name => h("option", {value: name}, `${label(name).toLowerCase()} stays`)));
  const bar = h("progress", {max: 1, value: 0, class: "idle", "aria-label": "Search"});
  /// The questions that what was found answers: the one that was asked, and each shape taken from it.
  const answered = new Set<string>();
  const question = () => [...words(app.state), app.state.file?.text].join("\0");
  const old = h("p", {class: "warning", role: "status", hidden: true}, "These are of another question: something was changed since. Search again.");
  const load = (chosen: Candidate) => {
    app.set(flags_of(chosen));
    answered.add(question());
  };
  const tell_age = () => {
    old.hidden = !found || running || answered.has(question());
    body.classList.toggle("stale", !old.hidden);
  };
  app.add(tell_age);
  body.before(old);
  const draw = () => {
    if (!found) return;
    const width = Math.max(280, body.clientWidth > 760 ? body.clientWidth / 2 - 8 : body.clientWidth);
    const pictures = [front(found, width, "size", load), front(found, width, "loss", load)].filter(each => each !== null);
    body.replaceChildren(h("div", {class: "pair"}, ...pictures.map(each => each.host)), h("p", {class: "hint"}, `Orange: nothing found is faster and changes less. Blue: the best of other kinds.${found.objective === "loss" ? " To loss: how many times as soon the baseline’s loss is reached, by which shapes are ranked." : ""}`), table(found, load));
  };
  const walk = async (asked: string[], asked_of: string): Promise<string> => {
    const answer = await app.pool.search(asked, app.state.file, ({share, priced, workers}) => {
      bar.value = share;
      note.textContent = `${percent(share)}, ${grouped(priced)} shapes priced by ${workers} worker${workers > 1 ? "s" : ""}`;
    });
    if (answer.code !== 0) return answer.said;
    found = JSON.parse(answer.out) as Found;
    answered.clear();
    answered.add(asked_of);
    draw();
    return `${grouped(found.shapes_priced)} shapes priced in ${found.seconds.toFixed(1)} s${found.exhaustive ? "" : "; stopped early"}. ${command("search", asked)}`;
  };
  const start = async () => {
    if (running) return app.pool.stop();
    const name = fixed.value.replaceAll("-", "_");
    running = true;
    bar.value = 0;
    bar.className = "";
    go.textContent = "Stop";
    note.textContent = await walk([...words(app.state), ...(name ? ["--fix", name] : []), "--limit", "20000000"], question()).catch((fault: unknown) => `The search stopped: ${fault instanceof Error ? fault.message : fault}`);
    running = false;
    tell_age();
    bar.className = "idle";
    go.textContent = "Search";
  };
  const go = button("Search", () => void start(), {class: "main"});
  head.append(fixed, go, bar, ...export_buttons(() => "shapes", {svg: () => body.querySelector("svg"), table: () => found && {
    columns: ["kind", "speedup", "low", "high", "time_to_loss_speedup", "time_s", "params", "parameter_change", "loss_change", "loss_low", "loss_high", "changed"],
    rows: found.candidates.map(each => [each.kind, each.speedup, each.low, each.high, each.time_to_loss?.speedup ?? "", each.time_s, each.params, each.parameter_change, each.loss?.change ?? "", each.loss?.low ?? "", each.loss?.high ?? "", each.changed.join("; ")])}}));
  when_resized(body, draw);
  return panel;
}
