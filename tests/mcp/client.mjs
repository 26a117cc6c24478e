// A client from npm asks the program's server: what it lists, what it answers beside the command line, how it fails, how
// it is bounded, and that no bytes take it down.
import assert from "node:assert";
import {execFileSync, spawn} from "node:child_process";
import {mkdtempSync, readdirSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {Client} from "@modelcontextprotocol/sdk/client/index.js";
import {StdioClientTransport} from "@modelcontextprotocol/sdk/client/stdio.js";
import Ajv from "ajv";

const program = process.env.TILEWRIGHT;
const folder = mkdtempSync(join(tmpdir(), "tilewright_mcp."));
const environment = {PATH: process.env.PATH, HOME: "/nonexistent", LC_ALL: "C.UTF-8", COLUMNS: "100"};
const connections = [];

async function connect(...flags) {
    const client = new Client({name: "a test", version: "1"});
    await client.connect(new StdioClientTransport({command: program, args: ["mcp", ...flags], env: environment, cwd: folder}));
    connections.push(client);
    return client;
}
const printed = (...words) => execFileSync(program, words, {encoding: "utf8", env: environment, cwd: folder, stdio: ["ignore", "pipe", "ignore"]});
const ask = (name, args) => client.callTool({name, arguments: args});
const text = result => result.content[0].text;

let client;
before(async () => { client = await connect(); });
after(async () => {
    await Promise.all(connections.map(one => one.close()));
    rmSync(folder, {recursive: true});
});

test("it says what it is, and lists its tools with schemas of their flags", async () => {
    assert.equal(`tilewright ${client.getServerVersion().version}\n`, printed("--version"));
    assert.match(client.getInstructions(), /advise/);
    const {tools} = await client.listTools();
    assert.deepEqual(tools.map(tool => tool.name),
        ["advise", "predict", "lint", "search", "compare", "plan", "explain_rule", "models", "devices", "runtimes"]);
    for (const tool of tools) {
        new Ajv({strict: true}).compile(tool.inputSchema);
        assert(tool.annotations.readOnlyHint);
        const page = tool.name === "explain_rule" ? "--rule" : printed("help", tool.name);
        for (const name of Object.keys(tool.inputSchema.properties).filter(name => !["shape", "shapes", "names"].includes(name))) {
            assert(page.includes(`--${name.replaceAll("_", "-")}`), `${tool.name}: ${name}`);
        }
        for (const writes of ["output", "write", "report", "write_baseline", "svg", "from"]) assert(!(writes in tool.inputSchema.properties));
    }
});

test("answers are the program's own", async () => {
    for (const [name, args, ...words] of [
        ["predict", {shape: "gpt3-2.7b", gpu: "h200", batch: 2, kv_heads: 8}, "predict", "gpt3-2.7b", "--gpu", "h200", "--batch", "2", "--kv-heads", "8"],
        ["advise", {shape: "gpt2", gpu: "h200"}, "advise", "gpt2", "--gpu", "h200"],
        ["compare", {shapes: ["gpt2", "pythia-160m"], gpu: "a100"}, "compare", "gpt2", "pythia-160m", "--gpu", "a100"],
        ["plan", {shape: "llama-3-8b", cluster: "dgx-h100", gpus: 8, global_batch: "64"}, "plan", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "8", "--global-batch", "64"],
        ["lint", {shapes: ["gpt2"], gpu: "h200", sequence_parallel: false}, "lint", "gpt2", "--gpu", "h200"],
        ["explain_rule", {rule: "tw001"}, "lint", "--explain", "tw001"],
        ["devices", {names: ["h100"]}, "devices", "h100"],
        ["models", {}, "models"]]) {
        const result = await ask(name, args);
        assert.equal(text(result), printed(...words), name);
        assert(!result.isError);
        if (name === "explain_rule") continue;
        const document = JSON.parse(printed(...words, "--json"));
        const exact = await ask(name, {...args, json: true});
        assert.deepEqual(JSON.parse(text(exact)), document, name);
        assert.deepEqual(exact.structuredContent, document, name);
    }
    const found = (await ask("search", {shape: "gpt2", gpu: "h200", only: ["heads", "vocab"], json: true})).structuredContent;
    const same = JSON.parse(printed("search", "gpt2", "--gpu", "h200", "--only", "heads,vocab", "--json"));
    assert.deepEqual({...found, seconds: 0}, {...same, seconds: 0});
});

test("a shape is a name, a path or the text of a config.json", async () => {
    const config = JSON.stringify({model_type: "gpt2", n_embd: 640, n_head: 10, n_layer: 6});
    writeFileSync(join(folder, "config.json"), config);
    const answers = await Promise.all([config, join(folder, "config.json")].map(shape => ask("predict", {shape, gpu: "h200", json: true})));
    assert.equal(answers[0].structuredContent.time_s, answers[1].structuredContent.time_s);
    const bare = await ask("predict", {shape: '{"model_type": "gpt2", "n_layer": 6}', gpu: "h200"});
    assert.match(bare.content[1].text, /warning: the given text: vocab_size is absent/);
    const twice = await ask("compare", {shapes: [config, config], gpu: "h200"});
    assert(twice.isError);
});

test("errors say where, what and how to mend it", async () => {
    for (const [name, args, what, fix] of [
        ["predict", {shape: "gpt2", gpu: "h201"}, /h201: is no known device/, /fix: did you mean h20/],
        ["predict", {shape: "gpt2", gpu: "h200", batches: 3}, /"batches": is no argument of predict/, /fix: did you mean batch/],
        ["predict", {gpu: "h200"}, /shape: is missing/, /fix: give a name/],
        ["predict", {shape: "-", gpu: "h200"}, /shape: /, /fix: /],
        ["predict", {shape: "gpt2", gpu: {}}, /gpu: is neither a value/, /fix: give string/],
        ["predict", {shape: "gpt2", gpu: "h200", json: "yes"}, /json: is neither true nor false/, /fix: /],
        ["predict", {shape: "gpt2 --output=x", gpu: "h200"}, /is no known model/, /fix: /],
        ["search", {shape: "gpt2", gpu: "h200", write: "there"}, /"write": is no argument of search/, /fix: /],
        ["predict", {shape: ["gpt2", "opt-125m"], gpu: "h200"}, /shape: is several/, /fix: give one/],
        ["explain_rule", {rule: ["TW001", "TW002"]}, /rule: is several/, /fix: give one/],
        ["predict", {shape: '{"model_type": "gpt2", "n_layer": "many"}', gpu: "h200"}, /error: the given text:1: /, /fix: /],
        ["explain_rule", {rule: "TW999"}, /'TW999' is no rule/, /fix: /]]) {
        const result = await ask(name, args);
        assert(result.isError, name);
        assert.match(text(result), what);
        assert.match(text(result), fix);
    }
    await assert.rejects(ask("fit", {}), /-32602/);
    await assert.rejects(client.listResources(), /resources/);
    assert.deepEqual(readdirSync(folder), ["config.json"], "a call wrote a file");
});

// Half a minute of a core: no machine is done with it before it is stopped.
const endless = {shape: "gpt3-2.7b", gpu: "h200", step: "ffn=1,hidden=16", tolerance: 0.3, kv_bytes: 0, max_flops: 2};

test("a long search stops in time with the best so far, can be cancelled, and holds nobody up", async () => {
    let result, seconds;
    for (seconds of [2, 8, 30]) { // a busy machine may not have begun after two
        const hasty = await connect("--seconds", String(seconds));
        const began = Date.now();
        const asked = hasty.callTool({name: "search", arguments: endless});
        await hasty.ping();
        result = await asked;
        assert(Date.now() - began < 1000 * (seconds + 30));
        if (!result.isError) break;
        assert.match(text(result), /no answer within/);
    }
    assert.match(text(result), /Recommendation: /);
    assert.match(result.content.at(-1).text, new RegExp(`stopped after ${seconds} s`));

    const stop = new AbortController();
    const cancelled = client.callTool({name: "search", arguments: endless}, undefined, {signal: stop.signal});
    await client.ping();
    stop.abort();
    await assert.rejects(cancelled);
    assert(!(await ask("predict", {shape: "gpt2", gpu: "h200"})).isError);
});

/// Everything that the server says to these bytes, and its exit code.
function say(bytes) {
    return new Promise((resolve, reject) => {
        const server = spawn(program, ["mcp"], {env: environment, cwd: folder, stdio: ["pipe", "pipe", "inherit"]});
        const said = [];
        server.stdout.on("data", data => said.push(data));
        server.stdin.on("error", () => {});
        server.on("error", reject);
        server.on("close", (code, signal) => resolve({lines: Buffer.concat(said).toString().split("\n").slice(0, -1).map(line => JSON.parse(line)), code: code ?? signal}));
        server.stdin.end(bytes);
    });
}

test("messages that are none are refused by the protocol's codes", async () => {
    const {lines, code} = await say([
        "no json", "[]", "1", "{}", '{"jsonrpc":"1.0","id":1,"method":"ping"}', '{"jsonrpc":"2.0","id":null,"method":"ping"}',
        '{"jsonrpc":"2.0","id":2,"method":"nothing"}', '{"jsonrpc":"2.0","id":3,"method":"ping","params":[]}', '{"jsonrpc":"2.0","id":4,"method":"tools/call"}',
        '{"jsonrpc":"2.0","method":"nothing"}', '{"jsonrpc":"2.0","id":5,"result":{}}', "", "  ", '{"jsonrpc":"2.0","id":6.5,"method":"ping"}',
        `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_": "${"x".repeat(2 ** 21)}"}}`, '{"jsonrpc":"2.0","id":"last","method":"ping"}'].join("\n"));
    assert.equal(code, 0);
    assert.deepEqual(lines.map(line => [line.id, line.error?.code ?? "fine"]), [
        [null, -32700], [null, -32600], [null, -32600], [null, -32600], [1, -32600], [null, -32600],
        [2, -32601], [3, -32602], [4, -32602], [6.5, "fine"], [null, -32600], ["last", "fine"]]);
    const {lines: versions} = await say(["2099-01-01", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "1999-01-01", 7].map((asked, id) =>
        JSON.stringify({jsonrpc: "2.0", id, method: "initialize", params: {protocolVersion: asked}})).join("\n"));
    assert.deepEqual(versions.map(line => line.result.protocolVersion),
        ["2025-11-25", "2025-11-25", "2025-06-18", "2024-11-05", "2024-11-05", "2025-11-25", "2025-11-25"]);
});

test("any bytes give an error or a result", async () => {
    let seed = 1;
    const random = below => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
    const good = [
        '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}', '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"predict","arguments":{"shape":"gpt2","gpu":"h200","batch":4,"precision":"bf16"}}}',
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'];
    const messages = [];
    for (let i = 0; i < 400; i++) {
        const bytes = Buffer.from(good[random(good.length)].replace('"id":1', `"id":${i}`));
        for (let changes = 1 + random(4); changes > 0; changes--) bytes[random(bytes.length)] = random(256);
        messages.push(bytes, Buffer.from("\n"));
    }
    messages.push(Buffer.from(Array.from({length: 5000}, () => random(256))), Buffer.from('\n{"jsonrpc":"2.0","id":"last","method":"ping"}'));
    const {lines, code} = await say(Buffer.concat(messages));
    assert.equal(code, 0);
    assert(lines.some(line => line.id === "last" && line.result));
    assert(lines.length > 300);
    for (const line of lines) {
        assert.equal(line.jsonrpc, "2.0");
        assert((line.result === undefined) !== (line.error === undefined));
        assert(!JSON.stringify(line).includes("internal"), JSON.stringify(line));
    }
});
