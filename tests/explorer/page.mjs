// What a person does in the explorer, in a real browser, the page opened from disk. A word on the console is a failure.
import assert from "node:assert/strict";
import {execFileSync, spawnSync} from "node:child_process";
import {mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {chromium} from "../page/node_modules/playwright-core/index.mjs";

const folder = mkdtempSync(join(tmpdir(), "tilewright-explorer-"));
const address = "file://" + process.env.TILEWRIGHT_PAGE;
const program = words => JSON.parse(execFileSync(process.env.TILEWRIGHT, words, {encoding: "utf8", maxBuffer: 1 << 28, cwd: folder}));
const config = JSON.stringify({model_type: "llama", hidden_size: 2048, num_attention_heads: 16, num_hidden_layers: 24, intermediate_size: 5632, vocab_size: 32000, num_key_value_heads: 4});
let browser;

before(async () => {
  browser = await chromium.launch({executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]});
});
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true});
});

async function open(hash = "", {init, ...options} = {}) {
  const context = await browser.newContext({viewport: {width: 1280, height: 1000}, acceptDownloads: true, ...options});
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  page.setDefaultTimeout(20000);
  const complaints = [];
  const requests = [];
  page.on("console", message => complaints.push(message.text()));
  page.on("pageerror", error => complaints.push(error.message));
  page.on("request", request => { if (!/^(data|blob):/.test(request.url())) requests.push(request.url()); });
  if (init) await page.addInitScript(init);
  await page.goto(address + hash);
  await page.locator(".fact:visible, .problem:visible").first().waitFor();
  return {page, complaints, requests};
}
const close = async ({page, complaints}) => { assert.deepEqual(complaints, []); await page.context().close(); };
const fact = (page, name) => page.locator(".fact", {has: page.locator("dt", {hasText: name})}).locator("dd").getAttribute("data-value").then(Number);
/// Waits until the step is that of what the program is asked.
async function agrees(page, words) {
  const {time_s} = program(["predict", ...words, "--json"]);
  await page.waitForFunction(wanted => Math.abs(Number(document.querySelector(".fact dd")?.dataset.value) / wanted - 1) < 1e-9, time_s);
}

test("opens from disk, fetches nothing, is small", async () => {
  const opened = await open();
  await agrees(opened.page, ["gpt3-2.7b", "--gpu", "h200"]);
  assert.deepEqual(opened.requests, [address]);
  assert.ok(statSync(process.env.TILEWRIGHT_PAGE).size < 4e6);
  await close(opened);
});

test("typing a model and choosing a GPU, phase and size", async () => {
  const opened = await open();
  const {page} = opened;
  await page.getByLabel("Model", {exact: true}).fill("llama-3-8b");
  await page.keyboard.press("Enter");
  await page.locator("#gpu").selectOption("a100-80-sxm");
  await page.locator("#choice-phase").selectOption("decode");
  await page.locator("#size-batch").fill("32");
  await page.keyboard.press("Enter");
  await agrees(page, ["llama-3-8b", "--gpu", "a100-80-sxm", "--phase", "decode", "--batch", "32"]);
  await close(opened);
});

test("dragging a slider, and what each movement takes", async () => {
  const opened = await open("#model=gpt3-2.7b&gpu=h200");
  const {page} = opened;
  const slider = page.locator(".track input[aria-label=Vocabulary]");
  const box = await slider.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  for (let i = 1; i <= 20; ++i) await page.mouse.move(box.x + box.width / 2 + 2 * i, box.y + box.height / 2);
  await page.mouse.up();
  const vocabulary = await page.locator("#size-vocab").inputValue();
  assert.notEqual(vocabulary, "50257");
  await agrees(page, ["gpt3-2.7b", "--gpu", "h200", "--vocab", vocabulary]);
  assert.equal(await page.locator(".track:has(input[aria-label=Vocabulary]) .ghost").count(), 1);
  await close(opened);
});

/// The largest models of each kind, or with TILEWRIGHT_ALL_MODELS all of them. The machine may be busy: the least of many
/// movements is what the page takes.
test("a picture follows its slider within 150 ms on a busy machine, and says what it took", async () => {
  const opened = await open("#model=gpt2&gpu=h200");
  const {page} = opened;
  const models = program(["models", "--json"]).models.map(each => each.name);
  const taken = {};
  for (const name of process.env.TILEWRIGHT_ALL_MODELS ? models : ["gpt3-2.7b", "llama-3.1-405b", "deepseek-v3", "gpt-oss-120b"]) {
    taken[name] = await page.evaluate(async model => {
      location.hash = `model=${model}&gpu=h200`;
      await new Promise(resolve => setTimeout(resolve, 50));
      const slider = document.querySelector(".track input[aria-label=Vocabulary]");
      performance.clearMeasures();
      const seen = () => performance.getEntriesByName("input to picture").length;
      for (let i = 0; i < 30; ++i) {
        slider.value = Number(slider.value) + (i % 2 ? 7 : -7);
        slider.dispatchEvent(new Event("input", {bubbles: true}));
        while (seen() <= i) await new Promise(resolve => setTimeout(resolve, 5));
      }
      return Object.fromEntries(["model", "read", "panels", "input to picture"].map(part => [part, Math.min(...performance.getEntriesByName(part).map(entry => entry.duration))]));
    }, name);
  }
  const slowest = Object.entries(taken).sort((a, b) => b[1]["input to picture"] - a[1]["input to picture"]);
  for (const [name, parts] of slowest.slice(0, 6)) console.log(`# ${name}: ${Object.entries(parts).map(([part, ms]) => `${part} ${ms.toFixed(1)} ms`).join(", ")}`);
  assert.ok(slowest[0][1]["input to picture"] < 150, "five times what a quiet machine may take");
  await close(opened);
});

test("keys move a slider; the lock keeps the size", async () => {
  const opened = await open("#model=gpt3-2.7b&gpu=h200&equal=ffn");
  const {page} = opened;
  await page.locator(".track input[aria-label=Layers]").focus();
  for (let i = 0; i < 4; ++i) await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.querySelector("#size-layers").value === "36");
  const ffn = Number(await page.locator("#size-ffn").inputValue());
  assert.ok(ffn < 10240, `ffn is ${ffn}`);
  const params = shape => program(["predict", "gpt3-2.7b", "--gpu", "h200", "--json", ...shape]).shape.params;
  const [was, is] = [params([]), params(["--layers", "36", "--ffn", String(ffn)])];
  assert.ok(Math.abs(is / was - 1) < 1e-3, `${is} and ${was} parameters`);
  await close(opened);
});

test("a dropped config.json; a bad one gives the program's own words", async () => {
  const opened = await open();
  const {page} = opened;
  writeFileSync(join(folder, "mine.json"), config);
  writeFileSync(join(folder, "bad.json"), config.slice(0, 90));
  await page.locator(".hidden-file").setInputFiles(join(folder, "mine.json"));
  await agrees(page, ["mine.json", "--gpu", "h200"]);
  await page.locator(".hidden-file").setInputFiles(join(folder, "bad.json"));
  await page.locator("#problem:visible").waitFor();
  const {stderr} = spawnSync(process.env.TILEWRIGHT, ["predict", "bad.json", "--gpu", "h200"], {encoding: "utf8", cwd: folder, env: {LANG: "C.UTF-8"}});
  assert.equal(await page.locator("#problem").textContent(), stderr);
  await close(opened);
});

test("a dropped file is read whatever its name", async () => {
  const opened = await open();
  const {page} = opened;
  for (const name of ["--gpu.json", "gpt2"]) {
    writeFileSync(join(folder, name), config);
    await page.locator(".hidden-file").setInputFiles(join(folder, name));
    await agrees(page, ["./" + name, "--gpu", "h200"]);
    assert.equal(await page.locator("#problem").isHidden(), true);
  }
  await close(opened);
});

test("back returns to what was chosen before; an emptied size is the model's own again", async () => {
  const opened = await open("#model=gpt2&gpu=h200");
  const {page} = opened;
  const settled = part => page.waitForFunction(wanted => location.hash.includes(wanted), part);
  await page.locator("#gpu").selectOption("a100-80-sxm");
  await settled("gpu=a100-80-sxm");
  await page.locator("#size-batch").fill("8");
  await page.keyboard.press("Enter");
  await settled("batch=8");
  await page.goBack();
  await agrees(page, ["gpt2", "--gpu", "a100-80-sxm"]);
  await page.goBack();
  await agrees(page, ["gpt2", "--gpu", "h200"]);
  await page.locator("#size-batch").fill("");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#problem").isHidden(), true);
  await close(opened);
});

test("markup in names stays text", async () => {
  const name = "<img src=x onerror=alert(1)><b>.json";
  const opened = await open("#" + new URLSearchParams({model: name, file: config.replace('"llama"', '"<b>bold</b>"')}));
  assert.equal(await opened.page.locator("img, b").count(), 0);
  await close(opened);
  const shown = await open("#" + new URLSearchParams({model: name, file: config, gpu: "<i>h200</i>"}));
  assert.match(await shown.page.locator("#problem").textContent(), /<i>h200<\/i>/);
  assert.equal(await shown.page.locator("img, b").count(), 0);
  await close(shown);
});

test("a link opens the same state; a command prints the same answer", async () => {
  const opened = await open("#model=gpt2&gpu=h100-sxm");
  const {page} = opened;
  await page.locator("#size-heads").fill("16");
  await page.keyboard.press("Enter");
  await page.locator("#size-batch").fill("8");
  await page.keyboard.press("Enter");
  await agrees(page, ["gpt2", "--gpu", "h100-sxm", "--heads", "16", "--batch", "8"]);
  await page.waitForTimeout(300);
  await page.getByRole("button", {name: "Copy link"}).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  await page.getByRole("button", {name: "Copy command"}).click();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  const step = await fact(page, "Step");
  assert.equal(program([...command.split(" ").slice(1), "--json"]).time_s, step);
  const again = await open(link.slice(link.indexOf("#")));
  assert.equal(await fact(again.page, "Step"), step);
  await close(again);
  await close(opened);
});

test("a finding's fix is applied", async () => {
  const opened = await open();
  const {page} = opened;
  const before_fix = await fact(page, "Step");
  await page.locator(".findings button", {hasText: /^vocab/}).first().click();
  await page.waitForFunction(() => document.querySelector("#size-vocab").value !== "50257");
  assert.ok((await fact(page, "Step")) < before_fix);
  await close(opened);
});

test("a search shows progress, finds, can be stopped, and a point loads", async () => {
  const opened = await open("#model=gpt2&gpu=h200");
  const {page} = opened;
  await page.locator("#search button.main").click();
  await page.locator("#search table").waitFor();
  const mine = await page.locator("#search .note").textContent();
  const rows = await page.locator("#search tbody .words").allTextContents();
  assert.equal(new Set(rows).size, rows.length, "each shape once");
  assert.match(mine, /shapes priced in .* s\. tilewright search gpt2/);
  const step = await fact(page, "Step");
  const spot = page.locator("#search .picture").first();
  const dots = spot.locator("circle.act");
  assert.ok(await dots.count() > 3);
  const position = await dots.last().evaluate(dot => ({x: dot.cx.baseVal.value, y: dot.cy.baseVal.value}));
  await spot.hover({position});
  assert.match(await page.locator("#tip").textContent(), /×.*\n[^]*expected loss[^]*click to load it/);
  await spot.click({position});  // anew, for panels above may have grown
  await page.waitForFunction(was => Number(document.querySelector(".fact dd").dataset.value) !== was, step);
  const old = page.locator("#search .warning");
  assert.equal(await old.isHidden(), true, "the shape was taken from what was found");
  await page.locator("#choice-phase").selectOption("prefill");
  await old.waitFor();
  await close(opened);
  const long = await open("#model=llama-3.1-405b&gpu=h200&phase=decode&tp=8&batch=1");
  await long.page.evaluate(() => new Promise((stopped, failed) => {
    const [note, go] = [document.querySelector("#search .note"), document.querySelector("#search button.main")];
    new MutationObserver(() => {
      if (/shapes priced by/.test(note.textContent) && go.textContent === "Stop") go.click();
      if (/stopped early/.test(note.textContent)) stopped();
    }).observe(note, {childList: true, characterData: true, subtree: true});
    setTimeout(() => failed(new Error(note.textContent)), 20000);
    go.click();
  }));
  await close(long);
});

test("a component opens to its kernels, a kernel to its terms and tiles", async () => {
  const opened = await open();
  const {page} = opened;
  await page.locator("#kernels button.bar", {hasText: "mlp"}).click();
  await page.locator("#kernels table button", {hasText: "mlp up"}).first().click();
  await page.locator("#kernels .waterfall").waitFor();
  await page.locator("#kernels .tiles svg").waitFor();
  const sum = await page.locator("#kernels .bar.sum .number").textContent();
  assert.match(sum, /[\d.]+ (µs|ms)/);
  await close(opened);
});

test("the saw-tooth fills up and says what lies under the pointer", async () => {
  const opened = await open("#model=gpt2&gpu=h200&sweep=ffn");
  const {page} = opened;
  await page.locator("#sawtooth .note", {hasText: "predictions. Fastest"}).waitFor();
  await page.locator("#sawtooth .u-over").hover();
  assert.match(await page.locator("#tip").textContent(), /MLP width [\d,]+, a multiple of \d+.*\n.*tokens\/s \(.*–.*\)\nstep .* \(.*–.*\)[^]*bound by/);
  await close(opened);
});

// Chromium lets a page offer ten files and no more, so that two pages share the pictures.
for (const panels of [[["sawtooth", ["CSV", "PNG"], ".note:has-text('predictions. Fastest')"], ["memory", ["SVG", "CSV"], "svg"], ["kernels", ["CSV"]], ["map", ["CSV", "PNG"], ".note:has-text('tokens/s')"]],
                      [["parts", ["SVG", "CSV"], "svg"], ["roofline", ["SVG", "CSV"], "svg"], ["serving", ["SVG", "CSV"], "svg"]]]) {
  test(`pictures can be taken along: ${panels.map(([panel]) => panel).join(", ")}`, async () => {
    const opened = await open("#model=gpt2&gpu=h200&sweep=ffn");
    const {page} = opened;
    for (const [panel, kinds, ready] of panels) {
      await page.locator(`#${panel}`).scrollIntoViewIfNeeded();
      if (ready) await page.locator(`#${panel} ${ready}`).first().waitFor();
      for (const kind of kinds) {
        const [download] = await Promise.all([page.waitForEvent("download"), page.locator(`#${panel}`).getByRole("button", {name: kind, exact: true}).click()]);
        const bytes = readFileSync(await download.path());
        assert.ok(bytes.length > 200, `${panel} ${kind}: ${bytes.length} bytes`);
        if (panel === "sawtooth" && kind === "CSV") assert.match(bytes.toString(), /^ffn,time_s,low_s/);
        if (kind === "SVG") assert.match(bytes.toString(), /^<svg[^]*<\/svg>/);
      }
    }
    await close(opened);
  });
}

test("arrow keys go through every picture, which says the number, its interval and why", async () => {
  const opened = await open("#model=gpt2&gpu=h200&sweep=ffn");
  const {page} = opened;
  await page.locator("#sawtooth .note", {hasText: "predictions. Fastest"}).waitFor();
  for (const [panel, ready, says] of [["sawtooth", "canvas", /tokens\/s \(.*–[^]*bound by/], ["memory", "svg", /weights: .* GiB[^]*parameters/], ["map", ".note:has-text('tokens/s')", /step .* \(.*–[^]*bound by|no such shape/], ["parts", "svg", /step .* \(.*–[^]*bound by/], ["roofline", "svg", /FLOP\/s[^]*\(.*–.*\), bound by/], ["serving", "svg", /per output token \(.*–[^]*bound by/]]) {
    await page.locator(`#${panel}`).scrollIntoViewIfNeeded();
    await page.locator(`#${panel} ${ready}`).first().waitFor();
    const picture = page.locator(`#${panel} .picture`).first();
    await picture.focus();
    const said = new Set();
    for (const key of ["Home", "ArrowRight", "ArrowRight"]) {
      await page.keyboard.press(key);
      said.add(await page.locator("#tip").textContent());
    }
    assert.equal(said.size, 3, `${panel}: ${[...said].join(" | ")}`);
    assert.match([...said].join("\n\n"), says, panel);
  }
  await page.locator("#sawtooth .picture").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("#size-ffn").value !== "3072");
  await close(opened);
});

test("a file too long for a link is said, with the command to use", async () => {
  const opened = await open();
  const {page} = opened;
  writeFileSync(join(folder, "long.json"), config.replace("{", `{"note": "${"x".repeat(30000)}", `));
  await page.locator(".hidden-file").setInputFiles(join(folder, "long.json"));
  await page.locator(".tools", {hasText: "too many for a link: send the file, and with it the command tilewright predict long.json --gpu h200"}).waitFor();
  assert.ok(await page.getByRole("button", {name: "Copy link"}).isDisabled());
  await close(opened);
});

test("formats of serving; the size and the expected loss beside the baseline", async () => {
  const opened = await open("#model=llama-3-8b&gpu=h200&phase=decode&batch=8");
  const {page} = opened;
  await page.locator("#choice-weights").selectOption("fp8");
  await page.locator("#choice-kv").selectOption("fp8");
  await agrees(page, ["llama-3-8b", "--gpu", "h200", "--phase", "decode", "--batch", "8", "--weights", "fp8", "--kv", "fp8"]);
  await close(opened);
  const trained = await open("#model=gpt3-2.7b&gpu=h200&base-ffn=8192&ffn=10240");
  assert.match(await trained.page.locator("#parameters").textContent(), /M parameters, .* M outside embeddings and head, \+.*% of the baseline\. Expected loss at equal tokens [+−].* \(.* to .*\) of the baseline’s/);
  await close(trained);
});

test("serving streams a text; several GPUs stand side by side", async () => {
  const opened = await open("#model=llama-3-8b&gpu=h200,a100-80-sxm&phase=decode&batch=8");
  const {page} = opened;
  await page.locator("#gpus tbody tr").nth(1).waitFor();
  await page.getByRole("button", {name: "Stream a text"}).click();
  await page.locator(".stream", {hasText: "A tile is a block"}).waitFor();
  await close(opened);
});

test("every width and both schemes", async () => {
  for (const width of [390, 768, 1280, 2560]) {
    const opened = await open("", {viewport: {width, height: 900}, colorScheme: width === 768 ? "dark" : "light"});
    const {page} = opened;
    await page.locator("#sawtooth .note", {hasText: "predictions"}).waitFor();
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(over <= 0, `${over} pixels over the edge at ${width}`);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), width === 768 ? "rgb(20, 23, 28)" : "rgb(255, 255, 255)");
    await close(opened);
  }
});

test("under the roof a component has its own colour, whatever its kernels are called", async () => {
  const opened = await open("#model=llama-3-8b&gpu=h200&phase=decode&batch=8&weights=fp8");
  const {page} = opened;
  await page.locator("#roofline").scrollIntoViewIfNeeded();
  await page.locator("#roofline path.dot").first().waitFor();
  const legend = await page.evaluate(() => {
    const [dots, labels] = [[...document.querySelectorAll("#roofline path.dot")], [...document.querySelectorAll("#roofline text.label")].map(each => each.textContent)];
    const names = labels.filter(each => !/FLOP|kernels/.test(each));
    return Object.fromEntries(dots.slice(-names.length).map((dot, i) => [names[i], dot.style.fill]));
  });
  for (const [name, colour] of Object.entries({mlp: "var(--c0)", attention: "var(--c1)", qkv: "var(--c2)", projection: "var(--c3)", head: "var(--c4)", embedding: "var(--c8)"})) assert.equal(legend[name], colour, name);
  await close(opened);
});

test("on a phone the answer stays in view beside the sliders", async () => {
  const opened = await open("#model=gpt3-2.7b&gpu=h200", {viewport: {width: 390, height: 800}});
  const {page} = opened;
  await page.locator("#size-heads").fill("20");
  await page.keyboard.press("Enter");
  await page.locator("#pulse", {hasText: /ms · .* tokens\/s \(\+\d.*%\) · .* GiB/}).waitFor();
  const box = await page.locator("#pulse").boundingBox();
  assert.ok(box.y > 700 && box.y + box.height <= 800, "at the lower edge");
  await close(opened);
});

test("the baseline is marked where the slider stands", async () => {
  const opened = await open("#model=gpt3-2.7b&gpu=h200");
  const middle = async selector => { const box = await opened.page.locator(selector).boundingBox(); return [box.x, box.width]; };
  const [left, width] = await middle(".track input[aria-label='KV heads']");
  const [mark] = await middle(".track:has(input[aria-label='KV heads']) .ghost");
  assert.ok(Math.abs(mark - (left + width - 9)) < 1.5, "under the middle of a thumb at the end");
  await close(opened);
});

test("every field has a name", async () => {
  const opened = await open();
  const nameless = await opened.page.evaluate(() => [...document.querySelectorAll("input, select, button")].filter(each => !(each.labels?.length || each.getAttribute("aria-label") || each.textContent.trim())).map(each => each.outerHTML));
  assert.deepEqual(nameless, []);
  await close(opened);
});

test("without WebAssembly, and after a trap, the page says so and keeps its state", async () => {
  const without = await open("#model=gpt2&gpu=h200", {init: "delete globalThis.WebAssembly"});
  assert.match(await without.page.locator(".problem").textContent(), /no WebAssembly/);
  assert.match(without.page.url(), /model=gpt2/);
  await close(without);
  const trapped = await open("#model=gpt2&gpu=h200", {init: `{
    const Instance = WebAssembly.Instance;
    WebAssembly.Instance = function (module, imports) {
      const {exports} = new Instance(module, imports);
      return {exports: {...exports, ask: () => { if (globalThis.broken) { globalThis.broken = false; throw new WebAssembly.RuntimeError("unreachable"); } return exports.ask(); }}};
    };
  }`});
  const {page} = trapped;
  await page.evaluate(() => { globalThis.broken = true; });
  await page.locator("#size-batch").fill("16");
  await page.keyboard.press("Enter");
  await page.locator("#problem", {hasText: "the model stopped"}).waitFor();
  await page.locator("#size-batch").fill("32");
  await page.keyboard.press("Enter");
  await agrees(page, ["gpt2", "--gpu", "h200", "--batch", "32"]);
  await close(trapped);
});
