// The state, the model and whoever shows an answer. A change is answered at once on this thread; what takes longer goes to
// the worker, and its pieces come back to the panel that asked.
import type {Prediction} from "./answers";
import {Model} from "./module.js";
import {Pool} from "./pool";
import * as state_of from "./state";
import type {State} from "./state";
import type {Job, Piece} from "./worker";
import SweepWorker from "./worker?worker&inline";

export interface Shown {
  state: State;
  now: Prediction | null; // the last that could be answered
  base: Prediction | null;
  problem: string; // the program's own words; empty when `now` is the answer to `state`
  warning: string;
}
export type Panel = (shown: Shown, app: App) => void;

export class App {
  state: State;
  shown: Shown;
  private panels: Panel[] = [];
  private later: Panel[] = [];
  readonly pool: Pool;
  private worker = new SweepWorker();
  private next_job = 1;
  private waiting = new Map<number, (piece: Piece) => void>();
  private timer = 0;
  private base_asked = "";
  private frame = 0;
  private writes: "pushState" | "replaceState" | null = "replaceState"; // how the address follows; by what was chosen, "back" returns
  private painted = new MessageChannel();

  constructor(readonly model: Model) {
    this.pool = new Pool(model);
    this.painted.port1.onmessage = ({data}) => performance.measure("input to picture", {start: data as number});
    this.worker.onmessage = ({data}: MessageEvent<Piece>) => {
      this.waiting.get(data.id)?.(data);
      if (data.done) this.waiting.delete(data.id);
    };
    this.worker.postMessage({module: model.module});
    this.state = state_of.from_address(location.hash);
    this.shown = {state: this.state, now: null, base: null, problem: "", warning: ""};
    this.keep_file();
    addEventListener("hashchange", () => {
      if (location.hash === state_of.to_address(this.state)) return;
      this.writes = null;
      const {file, model} = this.state;
      this.state = state_of.from_address(location.hash);
      if (this.state.model === model) this.state.file ??= file; // too long for an address
      this.keep_file();
      this.answer();
    });
  }

  /// `at_once` panels follow every movement; the others wait until it pauses.
  add(panel: Panel, when: "at once" | "later" = "at once"): void { (when === "later" ? this.later : this.panels).push(panel); }

  change(changed: Partial<State>, chosen = true): void {
    if (chosen || !this.writes) this.writes = chosen ? "pushState" : "replaceState";
    this.state = {...this.state, ...changed};
    if (changed.file) this.keep_file();
    if (!this.frame) {
      const moved = performance.now();
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.answer();
        this.painted.port2.postMessage(moved); // comes back after the paint
      });
    }
  }

  /// Sets sizes and choices; undefined leaves one to the model. A slider's movement is not `chosen`: "back" skips it.
  set(flags: Record<string, string | number | undefined>, chosen = true): void {
    const kept = {...this.state.flags};
    for (const [name, value] of Object.entries(flags)) {
      if (value === undefined || value === "") delete kept[name];
      else kept[name] = String(value);
    }
    this.change({flags: kept}, chosen);
  }

  answer(): void {
    const began = performance.now();
    this.shown = {...this.shown, state: this.state, problem: "", warning: ""};
    try {
      const now = this.model.ask(["predict", ...state_of.words(this.state), "--json"]);
      performance.measure("model", {start: began});
      if (now.code !== 0) this.shown.problem = now.said;
      else {
        this.shown.warning = now.said;
        this.shown.now = JSON.parse(now.out) as Prediction;
        const asked = state_of.base_words(this.state);
        if (asked.join("\0") !== this.base_asked) {
          this.base_asked = asked.join("\0");
          const base = this.model.ask(["predict", ...asked, "--json"]);
          this.shown.base = base.code === 0 ? (JSON.parse(base.out) as Prediction) : null;
        }
      }
    } catch (fault) {
      this.shown.problem = `error: the model stopped: ${fault instanceof Error ? fault.message : fault}\n  fix: please report this command; your settings are kept\n`;
    }
    const told = performance.now();
    performance.measure("read", {start: began, end: told});
    for (const panel of this.panels) panel(this.shown, this);
    performance.measure("panels", {start: told});
    performance.measure("answer", {start: began});
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      const address = state_of.to_address(this.state);
      if (this.writes && address !== location.hash) history[this.writes](null, "", address);
      this.writes = null;
      for (const panel of this.later) panel(this.shown, this);
    }, 180);
  }

  /// Gives the worker a job; `take` gets its pieces.
  send(job: Omit<Job, "id">, take: (piece: Piece) => void): void {
    const id = this.next_job++;
    this.waiting.set(id, take);
    this.worker.postMessage({...job, id});
  }

  private keep_file(): void {
    if (!this.state.file) return;
    this.base_asked = "";
    this.model.put(this.state.file.name, this.state.file.text);
    this.worker.postMessage({file: this.state.file});
  }
}
