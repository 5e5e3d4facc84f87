// Channels: connections that the asker holds at its end of descriptor 3. Each side may send 256 KiB of a channel before
// it needs credit, which the other gives as it consumes.
"use strict";

const asker = require("./asker.cjs");
const call = require("./call.cjs");

const WINDOW = 256 * 1024;
const BLOCK = 64 * 1024;
const NOTHING = Buffer.alloc(0);

const channels = new Map();
let last = 0; // numbers go on counting over calls: a late frame of an earlier call meets no channel

/**
 * One connection. `owner` has the methods `opened()`, `received(block)` (whether it has room for more), `ended()` and
 * `failed(error)`; without an error the connection is just gone.
 */
class Channel {
  constructor(ofCall, host, owner) {
    this._call = ofCall;
    this._host = host;
    this._owner = owner;
    this._number = ++last;
    this._credit = WINDOW;
    this._owed = 0;
    this._waiting = []; // [block, done]
    this._finished = false; // this side sends no more
    this._ended = false; // the other side sends no more
    this._full = false;
    this.dead = false;
    channels.set(this._number, this);
  }

  /** Send `block`; `done()` is called when there is room for another. */
  write(block, done) {
    this._waiting.push([block, done]);
    if (this._waiting.length === 1) this._flush();
  }

  /** Nothing more comes from this side. */
  finish() {
    this._finished = true;
    if (!this.dead) asker.send("E", this._number, NOTHING);
    this._forgetIfOver();
  }

  /** The owner has room again. */
  resume() {
    this._full = false;
    this._giveCredit();
  }

  /** Let go of the connection, whatever its state. */
  reset() {
    if (this.dead) return;
    asker.send("R", this._number, NOTHING);
    this._forget();
  }

  /** Take in a frame. What a piece's own function throws in it ends the call, not the reading of frames. */
  take(kind, rest) {
    try {
      this._call.within(() => this._take(kind, rest));
    } catch (error) {
      this._call.fail(error);
    }
  }

  _take(kind, rest) {
    if (kind === "O") this._opened(JSON.parse(rest.toString()));
    else if (kind === "D") this._received(Buffer.from(rest));
    else if (kind === "E") this._end();
    else if (kind === "W") this._moreCredit(rest.readUInt32BE(0));
    else if (kind === "R") this._fail("ECONNRESET", reason(rest) || "the connection was reset");
  }

  _opened(answer) {
    if (!answer.error) return this._owner.opened();
    if (answer.refused) this._call.countRefusal(this._host, answer.error);
    this._fail(answer.code || "ECONNREFUSED", answer.error);
  }

  _received(block) {
    this._owed += block.length;
    this._full = !this._owner.received(block);
    this._giveCredit();
  }

  _giveCredit() {
    if (this._full || this._owed < WINDOW / 2 || this.dead || this._ended) return;
    const count = Buffer.allocUnsafe(4);
    count.writeUInt32BE(this._owed, 0);
    this._owed = 0;
    asker.send("W", this._number, count);
  }

  _end() {
    this._ended = true;
    this._owner.ended();
    this._forgetIfOver();
  }

  _moreCredit(count) {
    this._credit += count;
    this._flush();
  }

  _flush() {
    while (this._waiting.length && this._credit && !this.dead) {
      const [block, done] = this._waiting[0];
      const part = block.subarray(0, Math.min(this._credit, BLOCK));
      asker.send("D", this._number, part);
      this._credit -= part.length;
      if (part.length < block.length) {
        this._waiting[0][0] = block.subarray(part.length);
      } else {
        this._waiting.shift();
        done();
      }
    }
  }

  _fail(code, sentence) {
    this._forget();
    this._owner.failed(Object.assign(new Error(sentence), { code }));
  }

  _forgetIfOver() {
    if (this._finished && this._ended) this._forget();
  }

  _forget() {
    this.dead = true;
    channels.delete(this._number);
  }
}

/** Ask for a connection to `host` and `port`, for the call that is under way. Throws where there is none. */
function open(host, port, owner) {
  const ofCall = call.ofNow();
  if (!ofCall) throw Object.assign(new Error("A piece connects within a call only."), { code: "ECONNREFUSED" });
  const channel = new Channel(ofCall, host, owner);
  asker.send("O", channel._number, Buffer.from(JSON.stringify({ host, port })));
  return channel;
}

/** Take in a frame of the asker. One of a channel that is over is dropped. */
function take(kind, number, rest) {
  channels.get(number)?.take(kind, rest);
}

/** Reset every connection: the call that they belong to is over. */
function resetAll() {
  for (const channel of [...channels.values()]) {
    channel.reset();
    channel._owner.failed(null);
  }
}

function reason(rest) {
  return rest.length ? JSON.parse(rest.toString()).error : "";
}

module.exports = { open, resetAll, take };
