// One HTML file: script and style inline, the model as compressed text beside them, a worker from the script itself.
import {readFileSync} from "node:fs";
import {gzipSync} from "node:zlib";
import {defineConfig} from "vite";
import {viteSingleFile} from "vite-plugin-singlefile";

const model = {
  name: "model",
  transformIndexHtml: {
    order: "post" as const,
    handler: (html: string) => html.replace("<!--model-->",
      () => gzipSync(readFileSync("../build/wasm/tilewright.wasm"), {level: 9}).toString("base64")),
  },
};

export default defineConfig({
  plugins: [viteSingleFile({removeViteModuleLoader: true}), model],
  build: {target: "es2021", outDir: "../build/explorer", emptyOutDir: false, assetsInlineLimit: 1e8},
  worker: {format: "iife"},
});
