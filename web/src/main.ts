// Loads the model out of the page itself and puts the panels together.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import {App} from "./app";
import {controls} from "./controls";
import {h} from "./element";
import {feel} from "./feel";
import {findings} from "./findings";
import {heat_map} from "./heatmap";
import {kernels} from "./kernels";
import {memory} from "./memory";
import {Model} from "./module.js";
import {by_size} from "./parts";
import {roofline} from "./roofline";
import {sawtooth} from "./sawtooth";
import {search} from "./search";
import {serving} from "./serving";
import {pulse, verdict} from "./verdict";

const page = document.getElementById("page")!;

async function load(): Promise<WebAssembly.Module> {
  if (typeof WebAssembly !== "object") throw new Error("this browser has no WebAssembly, or has it switched off");
  if (typeof DecompressionStream !== "function") throw new Error("this browser cannot unpack the model (DecompressionStream); one of 2023 or later can");
  const packed = Uint8Array.from(atob(document.getElementById("model")!.textContent!.trim()), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

function build(app: App): void {
  page.replaceChildren(
    h("a", {href: "#result", class: "skip", onclick: (e: Event) => { e.preventDefault(); document.getElementById("result")!.focus(); }}, "Skip to the answer"),
    controls(app),
    h("main", {id: "result", tabindex: -1},
      verdict(app),
      h("div", {class: "panels"}, sawtooth(app), kernels(app), memory(app), findings(app), search(app), heat_map(app), by_size(app), roofline(app), serving(app), feel(app)),
      h("footer", {}, "Everything on this page is computed by the program itself, compiled to WebAssembly; nothing is sent or fetched. Intervals hold nine in ten measured values. “Fitted” rests on samples of that GPU, “transferred” on a sibling’s, “assumed” on its data sheet.")),
    pulse(app));
  app.answer();
}

load().then(module => build(new App(new Model(module)))).catch((fault: unknown) => {
  page.replaceChildren(h("p", {class: "problem", role: "alert"}, `The model cannot be loaded: ${fault instanceof Error ? fault.message : fault}. The address keeps your settings.`));
});
