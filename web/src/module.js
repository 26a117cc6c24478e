// The model: the program compiled to WebAssembly. Words go in, what the program prints comes out. Plain JavaScript, so
// that the page, its workers and the tests under Node load the same file.

/** @typedef {{code: number, out: string, said: string}} Answer */
/** @typedef {{columns: string[], rows: Float64Array, problem: string}} Table */

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What the C library asks of a machine: a clock, and two streams that are read by nobody but a failed assertion.
 *  @param {() => DataView} view @param {(text: string) => void} said */
const machine = (view, said) => {
  const no_such = 8;
  return {
    environ_get: () => 0,
    environ_sizes_get: (/** @type {number} */ count, /** @type {number} */ size) => {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return 0;
    },
    clock_time_get: (/** @type {number} */ _clock, /** @type {bigint} */ _precision, /** @type {number} */ at) => {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    fd_close: () => no_such,
    fd_seek: () => no_such,
    fd_write: (/** @type {number} */ _file, /** @type {number} */ pieces, /** @type {number} */ count, /** @type {number} */ written) => {
      let total = 0;
      for (let i = 0; i < count; ++i) {
        const at = view().getUint32(pieces + 8 * i, true);
        const size = view().getUint32(pieces + 8 * i + 4, true);
        said(decoder.decode(new Uint8Array(view().buffer, at, size)));
        total += size;
      }
      view().setUint32(written, total, true);
      return 0;
    },
    proc_exit: (/** @type {number} */ code) => {
      throw new WebAssembly.RuntimeError(`the model ended with ${code}`);
    },
  };
};

/** One instance of the module. After a trap it takes a fresh one, and says what it was asked. */
export class Model {
  /** @param {WebAssembly.Module} module */
  constructor(module) {
    this.module = module;
    this.last_words = "";
    /** @type {any} */
    this.exports = null;
    /** @type {Map<string, string>} */
    this.files = new Map();
    this.start();
  }

  start() {
    this.last_words = "";
    const view = () => new DataView(this.exports.memory.buffer);
    const instance = new WebAssembly.Instance(this.module,
      {wasi_snapshot_preview1: machine(view, text => { this.last_words += text; })});
    this.exports = instance.exports;
    this.exports._initialize();
    for (const [name, text] of this.files) this.put(name, text);
  }

  /** A file that the program can read by that name.
   *  @param {string} name @param {string} text */
  put(name, text) {
    this.files.set(name, text);
    const named = encoder.encode(name);
    this.write([named, encoder.encode(text)]);
    this.exports.put(named.length);
  }

  /** What the program prints when that is typed after its name.
   *  @param {string[]} words @returns {Answer} */
  ask(words) { return this.call("ask", words); }

  /** A picture of `report` as SVG: "roofline", "serving", or the "tiles" of one kernel; empty when there is none.
   *  @param {string} name @param {number} width @param {string[]} words @param {string} kernel @returns {Answer} */
  picture(name, width, words, kernel = "") { return this.call("picture", [name, String(width), kernel, ...words]); }

  /** The words that each choice of a verb takes, by its flag.
   *  @param {string} verb @returns {Record<string, string>} */
  choices(verb) { return JSON.parse(this.call("choices", [verb]).out); }

  /** @param {string[]} words @returns {Answer} */
  config(words) { return this.call("config", words); }

  /** Predictions for each value of one dimension or of two; their loss is that against the baseline's sizes.
   *  @param {{name: string, values: number[]}[]} turned @param {string[]} words @param {Record<string, string>} baseline @returns {Table} */
  sweep(turned, words, baseline = {}) {
    const [first, second] = [0, 1].map(i => turned[i] ?? {name: "", values: []});
    const {code, out, said} = this.call("sweep", [first.name, first.values.join(","), second.name, second.values.join(","), Object.entries(baseline).map(each => each.join("=")).join(), ...words]);
    if (code !== 0) return {columns: [], rows: new Float64Array(), problem: said};
    const at = this.exports.rows();
    return {columns: JSON.parse(out), rows: new Float64Array(this.exports.memory.buffer, at, this.exports.rows_size()).slice(), problem: ""};
  }

  /** Makes a search ready; then its slices can be walked in any order, by several models that each begin it, and one of
   *  them merges what the others have kept and finishes.
   *  @param {string[]} words @returns {Answer} */
  begin(words) { return this.call("search_begin", words); }
  /** @returns {number} */
  slices() { return this.guard(() => this.exports.search_slices()); }
  /** @param {number} slice */
  walk(slice) { this.guard(() => this.exports.search_walk(slice)); }
  /** @returns {number} shapes */
  priced() { return this.exports.search_priced(); }
  /** @returns {Uint8Array} */
  kept() {
    return this.guard(() => {
      this.exports.search_kept();
      return this.bytes("out").slice();
    });
  }
  /** @param {Uint8Array} kept */
  merge(kept) {
    this.write([kept]);
    this.guard(() => this.exports.search_merge());
  }
  /** @param {number} seconds @param {boolean} all whether every slice was walked @returns {string} */
  finish(seconds, all) {
    return this.guard(() => {
      this.exports.search_end(seconds, all ? 1 : 0);
      return this.text("out");
    });
  }

  /** @param {string} name @param {string[]} words @returns {Answer} */
  call(name, words) {
    return this.guard(() => {
      this.write(words.map(word => encoder.encode(word.replaceAll("\0", "") + "\0")));
      const code = this.exports[name]();
      return {code, out: this.text("out"), said: this.text("said")};
    });
  }

  /** @param {Uint8Array[]} pieces */
  write(pieces) {
    const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
    let at = this.exports.room(size);
    for (const piece of pieces) {
      new Uint8Array(this.exports.memory.buffer, at, piece.length).set(piece);
      at += piece.length;
    }
  }

  /** @param {string} name */
  bytes(name) { return new Uint8Array(this.exports.memory.buffer, this.exports[name](), this.exports[`${name}_size`]()); }
  /** @param {string} name */
  text(name) { return decoder.decode(this.bytes(name)); }

  /** @template T @param {() => T} work @returns {T} */
  guard(work) {
    try {
      return work();
    } catch (fault) {
      const words = this.last_words.trim() || String(fault);
      this.start();
      throw new Error(words);
    }
  }
}
