// The pages in a real browser, opened from disk: nothing is fetched, nothing complains, nothing runs over the edge,
// hovering tells, and everything is there without the script.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdtempSync, rmSync, statSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {chromium} from "playwright-core";

const folder = mkdtempSync(join(tmpdir(), "tilewright-page-"));
const file = name => join(folder, name);
const tilewright = (...typed) => execFileSync(process.env.TILEWRIGHT, typed, {stdio: ["ignore", "ignore", "inherit"]});
let browser;

before(async () => {
  tilewright("report", "gpt3-2.7b", "--gpu", "h200", "-o", file("report.html"));
  tilewright("report", "gpt2", "llama-3-8b", "pythia-410m", "mixtral-8x7b", "--gpu", "a100", "-o", file("several.html"));
  tilewright("report", "llama-3-8b", "--gpu", "h100", "--phase", "decode", "-o", file("decode.html"));
  tilewright("compare", "gpt2", "gpt2-medium", "--gpu", "l4", "--report", file("compare.html"));
  tilewright("report", "gpt3-2.7b", "--gpu", "h200", "--svg", "ffn", "-o", file("ffn.svg"));
  browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync"],
  });
});

after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true});
});

/// Opens a file and returns its page with everything it complained about or asked for.
async function open(name, options = {}) {
  const context = await browser.newContext({viewport: {width: 1280, height: 900}, ...options});
  const page = await context.newPage();
  page.setDefaultTimeout(5000);
  const complaints = [];
  const requests = [];
  page.on("console", message => complaints.push(message.text()));
  page.on("pageerror", error => complaints.push(error.message));
  page.on("request", request => requests.push(request.url()));
  await page.goto("file://" + file(name));
  return {page, complaints, requests: () => requests.filter(url => !url.startsWith("data:"))};
}

const overflow = page => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/// Text beside the pointer at a place within an element, in the element's own coordinates.
async function hover(page, path, place) {
  const at = await path.evaluate((element, [x, y]) => {
    element.ownerSVGElement.scrollIntoView({block: "center"});
    const point = new DOMPoint(x, y).matrixTransform(element.getScreenCTM());
    return [point.x, point.y];
  }, place);
  await page.mouse.move(...at);
  return page.locator("#tip:visible").textContent();
}

for (const name of ["report.html", "several.html", "decode.html", "compare.html", "ffn.svg"]) {
  test(`${name} opens from disk without a complaint or a request`, async () => {
    const {page, complaints, requests} = await open(name);
    await page.waitForLoadState("load");
    assert.deepEqual(complaints, []);
    assert.deepEqual(requests(), ["file://" + file(name)]);
    assert.ok(statSync(file(name)).size < 1e6, `${name} has ${statSync(file(name)).size} bytes`);
    await page.context().close();
  });
}

for (const name of ["report.html", "several.html", "decode.html", "compare.html"]) {
  test(`${name} fits a telephone, a screen and paper`, async () => {
    const {page} = await open(name);
    for (const width of [390, 768, 1280]) {
      await page.setViewportSize({width, height: 900});
      assert.equal(await overflow(page), 0, `at ${width}`);
      const shown = await page.locator("figure svg:visible").evaluateAll(all => all.filter(svg => svg.classList.contains("chart") || svg.querySelector("text")).length);
      assert.equal(shown, await page.locator("figure").count(), `one picture of each figure at ${width}`);
    }
    await page.emulateMedia({media: "print"});
    await page.setViewportSize({width: 680, height: 900});
    assert.equal(await overflow(page), 0, "in print");
    const pdf = await page.pdf({format: "A4"});
    assert.ok(pdf.length > 10000);
    await page.context().close();
  });
}

test("no text of a chart leaves its picture or meets another", async () => {
  for (const width of [390, 1280]) {
    const {page} = await open("report.html", {viewport: {width, height: 900}});
    const faults = await page.evaluate(() => {
      const found = [];
      for (const svg of document.querySelectorAll("figure svg")) {
        if (svg.ownerSVGElement || !svg.getBoundingClientRect().width) continue;
        const frame = svg.getBoundingClientRect();
        const boxes = [];
        for (const text of svg.querySelectorAll("text")) {
          const box = text.getBoundingClientRect();
          if (box.left < frame.left - 1 || box.right > frame.right + 1) found.push("outside: " + text.textContent);
          for (const [other, words] of boxes) {
            const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
            const down = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
            if (across > 1 && down > 3) found.push(`${words} meets ${text.textContent}`);
          }
          boxes.push([box, text.textContent]);
        }
      }
      return found;
    });
    assert.deepEqual(faults, [], `at ${width}`);
    await page.context().close();
  }
});

test("hovering over a saw-tooth tells value, kernel, tile and waves", async () => {
  const {page} = await open("report.html");
  const dots = page.locator(".wide path.dots[data-which]").first();
  const first = await dots.evaluate(path => path.getAttribute("d").match(/M([\d.]+) ([\d.]+)/).slice(1).map(Number));
  const words = await hover(page, dots, first);
  assert.match(words, /hidden \d+ \(.*\)\n.*TFLOP\/s.*: [\d.]+\n.*tile \d+×\d+, [\d.]+ waves/s);
  await page.context().close();
});

test("hovering over a bar and a kernel under the roof tells what they are", async () => {
  const {page} = await open("report.html");
  const bar = page.locator(".wide rect.bar").first();
  const middle = await bar.evaluate(b => [b.x.baseVal.value + b.width.baseVal.value / 2, b.y.baseVal.value + 5]);
  assert.match(await hover(page, bar, middle), /mlp: .* ms\n[\d.]+% of/);
  const dot = page.locator(".wide svg svg path.dot").last();
  const place = await dot.evaluate(d => d.getAttribute("d").match(/M([\d.]+) ([\d.]+)/).slice(1).map(Number));
  assert.match(await hover(page, dot, place), /FLOP per byte, [\d.]+% of the step/);
  await page.context().close();
});

test("hovering over the serving curve tells batch, latency and memory", async () => {
  const {page} = await open("decode.html");
  const figure = page.locator("figure", {hasText: "Latency against throughput"}).locator(".wide");
  const line = figure.locator("path.line").first();
  const first = await line.evaluate(path => path.getAttribute("d").match(/M([\d.]+) ([\d.]+)/).slice(1).map(Number));
  assert.match(await hover(page, line, first), /time per output token \(ms\): [\d.]+\ntp 1, 1 request of 2,048 tokens\n.* to the first\n.*per GPU\n.*memory/);
  const full = figure.locator("path.dot").first();
  const place = await full.evaluate(d => d.getAttribute("d").match(/M([\d.]+) ([\d.]+)/).slice(1).map(Number));
  assert.match(await hover(page, full, place), /[\d,]+ requests of 2,048 tokens/);
  await page.context().close();
});

test("the page is complete without its script", async () => {
  const {page} = await open("report.html", {javaScriptEnabled: false});
  const html = await page.content();
  assert.ok((html.match(/<svg/g) ?? []).length >= 20);
  assert.ok((html.match(/<title>/g) ?? []).length >= 100);
  for (const words of ["Where the time goes", "What in the shape wastes the chip", "Faster shapes of equal size",
                       "Serving it", "What each dimension does", "How one product fills the chip", "How near the roof",
                       "What the numbers rest on",
                       "Errors on kernels that were held out of the fit", "Every kernel"]) {
    assert.ok(html.includes(words), words);
  }
  await page.context().close();
});

test("dark is dark, light is light, paper is light", async () => {
  const paper = page => page.evaluate(() => {
    const svg = document.querySelector("figure svg");
    return [getComputedStyle(document.body).backgroundColor, getComputedStyle(svg.querySelector(".paper")).fill];
  });
  const light = await open("report.html", {colorScheme: "light"});
  const dark = await open("report.html", {colorScheme: "dark"});
  assert.deepEqual(await paper(light.page), ["rgb(255, 255, 255)", "rgb(255, 255, 255)"]);
  assert.deepEqual(await paper(dark.page), ["rgb(20, 23, 28)", "rgb(20, 23, 28)"]);
  await dark.page.emulateMedia({media: "print"});
  assert.deepEqual(await paper(dark.page), ["rgb(255, 255, 255)", "rgb(255, 255, 255)"]);
  await light.page.context().close();
  await dark.page.context().close();
});
