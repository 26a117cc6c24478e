// A search on all cores: each worker walks every n-th slice, and the first one puts together what all have kept.
import type {Model} from "./module.js";
import type {State} from "./state";
import type {Job, Piece} from "./worker";
import SearchWorker from "./worker?worker&inline";

export interface Progress { share: number; priced: number; workers: number }
const most_workers = 8;

export class Pool {
  private workers: Worker[] = [];
  private next = 1;
  private running = 0;
  constructor(private readonly model: Model) {}

  /// The program's answer, or a fault. `show` hears how far it is.
  async search(words: string[], file: State["file"], show: (progress: Progress) => void): Promise<NonNullable<Piece["answer"]>> {
    while (this.workers.length < Math.max(1, Math.min(most_workers, navigator.hardwareConcurrency || 1))) {
      const worker = new SearchWorker();
      worker.postMessage({module: this.model.module});
      this.workers.push(worker);
    }
    if (file) for (const worker of this.workers) worker.postMessage({file});
    const began = performance.now();
    const id = (this.running = this.next++);
    const of = this.workers.length;
    const at = this.workers.map(() => ({progress: 0, priced: 0}));
    const ends = await Promise.all(this.workers.map((worker, first) => this.ask(worker, {id, kind: "search", what: "walk", words, share: {first, of}}, piece => {
      at[first] = {progress: piece.progress ?? 0, priced: piece.priced ?? 0};
      show({share: at.reduce((sum, each) => sum + each.progress, 0) / of, priced: at.reduce((sum, each) => sum + each.priced, 0), workers: of});
    })));
    this.running = 0;
    const bad = ends.find(each => each.answer!.code !== 0);
    if (bad) return bad.answer!;
    const seconds = (performance.now() - began) / 1000;
    const end = await this.ask(this.workers[0]!, {id: this.next++, kind: "search", what: "finish", words: [], kept: ends.slice(1).map(each => each.kept!), all: ends.every(each => each.progress === 1), seconds});
    return {...end.answer!, said: ends[0]!.answer!.said};
  }

  /// What was found so far becomes the answer.
  stop(): void { for (const worker of this.workers) worker.postMessage({id: this.running, kind: "search", what: "stop", words: []}); }

  private ask(worker: Worker, job: Job, show: (piece: Piece) => void = () => {}): Promise<Piece> {
    return new Promise((resolve, reject) => {
      worker.onmessage = ({data}: MessageEvent<Piece>) => {
        if (data.id !== job.id) return;
        if (data.fault) return reject(new Error(data.fault));
        show(data);
        if (data.done) resolve(data);
      };
      worker.postMessage(job);
    });
  }
}
