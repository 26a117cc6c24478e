// Predictions by the thousand and searches, beside the page, so that it keeps moving. A newer question ends an older one
// of the same kind; answers come in pieces, so that a picture fills up.
import {Model} from "./module.js";

export interface Job {
  id: number;
  kind: string; // of the picture; a job of the same kind replaces an older one
  what: "sweep" | "ask" | "picture" | "walk" | "finish" | "stop";
  turned?: {name: string; values: number[]}[];
  words: string[];
  baseline?: Record<string, string>;
  share?: {first: number; of: number}; // the slices of a search that are this worker's: every `of`-th
  kept?: Uint8Array[]; // of the other workers
  all?: boolean; // every slice was walked
  seconds?: number;
}
export interface Piece {
  id: number;
  kind: string;
  columns?: string[];
  rows?: Float64Array;
  answer?: {code: number; out: string; said: string};
  progress?: number;
  priced?: number;
  kept?: Uint8Array;
  done: boolean;
  fault?: string;
}

let model: Model | null = null;
const newest = new Map<string, number>();
const stopped = new Set<number>();
const slice_ms = 40;
const say = (piece: Piece) => postMessage(piece, {transfer: piece.rows ? [piece.rows.buffer as ArrayBuffer] : []});
const pause = () => new Promise(resolve => setTimeout(resolve));
const current = (job: Job) => newest.get(job.kind) === job.id;

async function sweep(job: Job, model: Model): Promise<void> {
  const [first, ...rest] = job.turned!;
  const values = first!.values;
  const per_value = Math.max(1, rest[0]?.values.length ?? 1);
  let step = Math.max(1, Math.floor(16 / per_value));
  for (let at = 0; at < values.length && current(job);) {
    const began = performance.now();
    const part = values.slice(at, at + step);
    const {columns, rows, problem} = model.sweep([{...first!, values: part}, ...rest], job.words, job.baseline);
    at += part.length;
    if (problem) return say({id: job.id, kind: job.kind, done: true, fault: problem});
    say({id: job.id, kind: job.kind, columns, rows, done: at >= values.length, progress: at / values.length});
    const took = performance.now() - began;
    step = Math.max(1, Math.min(512, Math.round((step * slice_ms) / Math.max(took, 1))));
    await pause();
  }
}

/// Walks this worker's share of a search; what it kept is the answer, also of a walk that was stopped.
async function walk(job: Job, model: Model): Promise<void> {
  const ready = model.begin(job.words);
  if (ready.code !== 0) return say({id: job.id, kind: job.kind, done: true, answer: ready});
  const {first, of} = job.share!;
  const slices = model.slices();
  let slice = first;
  const share = () => (slice >= slices ? 1 : slice / slices);
  while (slice < slices && current(job) && !stopped.has(job.id)) {
    for (const began = performance.now(); slice < slices && performance.now() - began < slice_ms; slice += of) model.walk(slice);
    say({id: job.id, kind: job.kind, done: false, progress: share(), priced: model.priced()});
    await pause();
  }
  if (current(job)) say({id: job.id, kind: job.kind, done: true, answer: ready, kept: model.kept(), progress: share(), priced: model.priced()});
}

async function run(job: Job): Promise<void> {
  if (!model) return;
  if (job.what === "stop") return void stopped.add(job.id);
  newest.set(job.kind, job.id);
  await pause();
  if (!current(job)) return;
  try {
    if (job.what === "sweep") await sweep(job, model);
    else if (job.what === "walk") await walk(job, model);
    else if (job.what === "finish") {
      for (const kept of job.kept!) model.merge(kept);
      say({id: job.id, kind: job.kind, done: true, answer: {code: 0, out: model.finish(job.seconds!, job.all!), said: ""}});
    } else say({id: job.id, kind: job.kind, done: true, answer: job.what === "picture" ? model.call("picture", job.words) : model.ask(job.words)});
  } catch (fault) {
    say({id: job.id, kind: job.kind, done: true, fault: String(fault instanceof Error ? fault.message : fault)});
  }
}

onmessage = ({data}: MessageEvent<Job | {module: WebAssembly.Module} | {file: {name: string; text: string}}>) => {
  if ("module" in data) model = new Model(data.module);
  else if ("file" in data) model?.put(data.file.name, data.file.text);
  else void run(data);
};
