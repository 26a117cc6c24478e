// What a row of predictions says: its numbers by name, and why they are what they are, in words.
import {percent, time} from "./format";

export type Row = (column: string) => number;
export const row_of = (columns: string[], row: Float64Array): Row => column => row[columns.indexOf(column)] ?? NaN;
/// The columns that say the time of one component.
export const components_of = (columns: string[]) => columns.slice(columns.indexOf("loss_high") + 1);

/// "step 412 ms (398 – 430), MFU 51.2%", and what bounds it.
export function step_words(row: Row, columns: string[]): string {
  const largest = (names: string[]) => names.reduce((best, name) => (row(name) > row(best) ? name : best));
  const bounds = ["compute", "memory", "latency", "network"].map(name => `bound_${name}`);
  const [bound, slowest] = [largest(bounds), largest(components_of(columns))];
  const busy = bounds.reduce((sum, name) => sum + row(name), 0);
  return `step ${time(row("time_s"))} (${time(row("low_s"))} – ${time(row("high_s"))}), MFU ${percent(row("mfu"))}\n${row("host_bound") ? "the GPU waits for the host; " : ""}${percent(row(bound) / busy)} of the kernels’ time is bound by ${bound.slice(6)}; most is ${slowest}, ${time(row(slowest))}${row("fits") ? "" : "\ndoes not fit in memory"}`;
}
