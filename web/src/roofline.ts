// Every kernel under the roof of the data sheet.
import type {App} from "./app";
import {chart, line, mark} from "./chart";
import {amount, percent, time} from "./format";
import {button, colour_of, frame, save_svg} from "./panel";

export function roofline(app: App): HTMLElement {
  const {panel, body, head} = frame("Under the roof", "roofline", "Work against bytes of memory, each kernel a dot as large as its share of the step. What only moves data counts one operation per byte written.");
  head.append(button("SVG", () => { const svg = body.querySelector("svg"); if (svg) save_svg("roofline.svg", svg); }));
  const draw = () => {
    const now = app.shown.now;
    if (!now) return;
    const peak = now.device.peak_flops_per_s[String(now.workload.precision)] ?? Math.max(...Object.values(now.device.peak_flops_per_s));
    const bandwidth = now.device.bandwidth_bytes_per_s;
    const all = now.kernels.filter(kernel => kernel.read_bytes + kernel.written_bytes > 0).map((kernel, i) => {
      const work = kernel.flops || kernel.written_bytes;
      return {kernel, i, intensity: work / (kernel.read_bytes + kernel.written_bytes), rate: work / kernel.time_s};
    });
    const [low, high] = [0.1, Math.max(5000, ...all.map(each => each.intensity * 1.5))];
    const least = Math.min(peak / 1e4, ...all.map(each => each.rate / 2));
    const picture = chart(Math.max(280, body.clientWidth), {low, high, log: true, label: "FLOP per byte", text: amount}, {low: least, high: peak * 1.6, log: true, label: "FLOP/s", text: amount}, "Roofline");
    const knee = peak / bandwidth;
    line(picture, [[Math.max(low, least / bandwidth), Math.max(least, low * bandwidth)], [knee, peak], [high, peak]], "var(--faint)");
    for (const {kernel, intensity, rate} of all) {
      const share = kernel.total_s / now.gpu_busy_s;
      mark(picture, {x: intensity, y: rate, size: 3 + 14 * Math.sqrt(Math.min(1, share)), colour: colour_of(kernel.component), act: () => app.change({kernel: `${kernel.component}/${now.kernels.indexOf(kernel)}`}),
        tip: `${kernel.name} (${kernel.component}): ${time(kernel.time_s)} each, ${percent(share)} of the step\n${amount(rate)}FLOP/s at ${intensity.toFixed(1)} FLOP per byte, bound by ${kernel.bound}\n${time(kernel.low_s)} – ${time(kernel.high_s)}, ${kernel.evidence}`});
    }
    body.replaceChildren(picture.svg);
  };
  new ResizeObserver(draw).observe(body);
  app.add(draw);
  return panel;
}
