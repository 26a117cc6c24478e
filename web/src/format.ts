// Numbers with their units, three digits.

const digits = (value: number) => (Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2));

export function time(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  for (const [unit, factor] of [["µs", 1e6], ["ms", 1e3]] as const) if (Math.abs(seconds) * factor < 1000) return `${digits(seconds * factor)} ${unit}`;
  return `${digits(seconds)} s`;
}

export function amount(value: number): string {
  if (!Number.isFinite(value)) return "–";
  for (const [unit, factor] of [["T", 1e12], ["B", 1e9], ["M", 1e6], ["k", 1e3]] as const) if (Math.abs(value) >= factor) return `${digits(value / factor)} ${unit}`;
  return Number.isInteger(value) ? String(value) : digits(value);
}

export const bytes = (value: number) => `${digits(value / 2 ** 30)} GiB`;
export const percent = (value: number) => `${(100 * value).toFixed(1)}%`;
export const grouped = (value: number) => Math.round(value).toLocaleString("en-US");
/// A change of some hundredths of a percent keeps them and its sign; what rounds to zero has none but "+".
export function signed(value: number): string {
  const size = 100 * Math.abs(value);
  const text = size.toFixed(size < 0.05 && size >= 0.005 ? 2 : 1);
  return `${value < 0 && Number(text) > 0 ? "−" : "+"}${text}%`;
}
export const times = (value: number) => `${value.toFixed(2)}×`;
