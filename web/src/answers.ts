// The parts of the program's JSON that the page shows (tilewright.predict/2, lint/1, search/3, serving/1).

export type Terms = Record<string, number>;
export interface Kernel {
  name: string; component: string; pass: string; part_of?: string; kind: string; count: number; flops: number; read_bytes: number; written_bytes: number;
  time_s: number; low_s: number; high_s: number; total_s: number; bound: string; evidence: string; tile_m: number; tile_n: number; waves: number; terms: Terms;
  [size: string]: unknown;
}
export interface Prediction {
  device: {name: string; full_name: string; units: number; memory_bytes: number; bandwidth_bytes_per_s: number; peak_flops_per_s: Record<string, number>};
  workload: Record<string, string | number | boolean>;
  shape: Record<string, string | number | boolean>;
  time_s: number; low_s: number; high_s: number; gpu_busy_s: number; idle_s: number; host_time_s: number; host_bound: boolean; host_remedies?: {what: string; speedup: number}[]; evidence: string;
  profile_source: string; tokens_per_s: number; mfu: number; hfu: number; fits: boolean; launches: number;
  memory: Record<string, number>;
  components: {component: string; time_s: number; share: number; terms: Terms}[];
  kernels: Kernel[];
}
export interface Fix { dimension: string; from: number; to: number; gain_s: number; step_s: number; parameter_change: number }
export interface Finding { code: string; rule: string; severity: string; quantity: string; cost_s: number; share: number; kernels: string[]; fixes: Fix[] }
export interface Candidate {
  kind: string; speedup: number; low: number; high: number; time_s: number; params: number; parameter_change: number; changed: string[]; causes: {change: string; component: string; speedup: number}[];
  shape: Record<string, number | string>; batch: number; tp: number; loss: {change: number; low: number; high: number; reaches: boolean; limit: string} | null; time_to_loss: {speedup: number} | null;
}
export interface Found { seconds: number; shapes_priced: number; exhaustive: boolean; objective: string; candidates: Candidate[]; parameter_front: Candidate[]; baseline: {time_s: number; shape: Record<string, number | string>} }
export interface Serving { points: {tp: number; batch: number; first_token_s: number; output_token_s: number; low_s: number; high_s: number; tokens_per_s_per_gpu: number; bound: string; memory_bytes: number}[]; limits: {tp: number; full_batch: number}[] }

export const inside = (shape: Prediction["shape"]) => Number(shape.params) - Number(shape.params_embedding) - Number(shape.params_head);
