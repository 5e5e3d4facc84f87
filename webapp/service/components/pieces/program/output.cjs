// What a piece prints (console, stdout, stderr) is the log of its call.
"use strict";

const { Writable, Readable } = require("stream");
const { Console } = require("console");
const calls = require("./call.cjs");

let printing = []; // the streams of lines that the call under way prints to

/** One message of the log of the call that is under way. */
function log(text) {
  calls.ofNow()?.tell({ log: text, ts: Date.now() });
}

/** A console writes whole messages, of which each is one entry of the log. */
function messages() {
  return new Writable({
    decodeStrings: false,
    write(text, encoding, done) {
      log(String(text).replace(/\n$/, ""));
      done();
    },
  });
}

/** A stream of which each line is one entry of the log. */
class Lines extends Writable {
  constructor() {
    super({ decodeStrings: false });
    this._rest = "";
  }

  _write(text, encoding, done) {
    const whole = (this._rest + text).split("\n");
    this._rest = whole.pop();
    for (const line of whole) log(line);
    done();
  }

  /** Log the line that was begun, too. */
  finishLine() {
    if (this._rest) log(this._rest);
    this._rest = "";
  }
}

/** Send what is printed from now on to the log. */
function install() {
  const stream = messages();
  globalThis.console = new Console({ stdout: stream, stderr: stream, colorMode: false, ignoreErrors: false });
  printing = [new Lines(), new Lines()];
  const [stdout, stderr] = printing;
  for (const [name, value] of Object.entries({ stdin: Readable.from([]), stdout, stderr })) {
    Object.defineProperty(process, name, { value, configurable: true, enumerable: true });
  }
}

/** Log what was printed without the end of a line. */
function flush() {
  for (const stream of printing) stream.finishLine();
}

module.exports = { flush, install, log };
