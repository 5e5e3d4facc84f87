// The call that is under way: what was asked, and whether it is over. What a piece leaves running after its call (a
// timer, a promise) still belongs to that call and can do nothing more.
"use strict";

const { AsyncLocalStorage } = require("async_hooks");
const { randomUUID } = require("crypto");
const asker = require("./asker.cjs");

const MAX_OUTPUT = 6 * 1024 * 1024;
const MAX_REFUSALS = 3;

const running = new AsyncLocalStorage();
let current = null;

class Call {
  constructor(fields) {
    this.fields = fields;
    this.runId = randomUUID();
    this.over = false;
    this.timers = new Map(); // those that are set, with what clears them
    this.refusals = new Map(); // how often the asker refused each host
    this.room = MAX_OUTPUT;
    this.failure = new Promise((_, reject) => (this.fail = reject));
    this.failure.catch(() => {});
  }

  /** Tell the asker something of this call, unless it is over. Throws where that is more than a call may say. */
  tell(message) {
    if (this.over) return;
    if (this.room > 0) this.room -= asker.tell(message);
    if (this.room > 0) return;
    const error = tooMuch("The piece gave more than 6 MiB of results and logs, so it was stopped. Ask for less.");
    this.fail(error);
    throw error;
  }

  /** A host may be refused as an address that does not answer; a piece that goes on asking for it is stopped. */
  countRefusal(host, sentence) {
    const count = (this.refusals.get(host) ?? 0) + 1;
    this.refusals.set(host, count);
    if (count >= MAX_REFUSALS) this.fail(Object.assign(new Error(sentence), { name: "HostRefused" }));
  }

  /** Run `work` as a part of this call. */
  within(work) {
    return running.run(this, work);
  }

  /** Nothing more comes of this call: `message` is its last word. */
  end(message) {
    asker.tell(message);
    this.over = true;
    if (current === this) current = null;
  }
}

/** The error of a call that gives more than it may. */
function tooMuch(sentence) {
  return Object.assign(new Error(sentence), { kind: "output", name: "TooMuchOutput" });
}

/** Begin a call. */
function begin(fields) {
  current = new Call(fields);
  return current;
}

/** The call that the running code belongs to; null between calls and for what a call left behind. */
function ofNow() {
  const call = running.getStore() ?? current;
  return call && !call.over ? call : null;
}

module.exports = { begin, MAX_OUTPUT, ofNow, tooMuch };
