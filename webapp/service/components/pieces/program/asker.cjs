// The line to whoever asked for the call: descriptor 3. What belongs to channels goes to `channels.cjs`, messages to
// whoever takes them. Opened before `closing.cjs` takes from the process what opens descriptors.
"use strict";

const net = require("net");
const { FrameReader, channelFrame, frame, MAX } = require("./frames.cjs");

const DESCRIPTOR = 3;
const CHANNEL_KINDS = "ODERW";

const takers = { message: () => {}, channel: () => {} };
let line = null;

/** Begin to listen. `message(json)` takes messages, `channel(kind, number, rest)` the frames of channels. */
function open(message, channel) {
  Object.assign(takers, { message, channel });
  line = new net.Socket({ fd: DESCRIPTOR, readable: true, writable: true });
  const reader = new FrameReader(take);
  line.on("data", (block) => reader.push(block));
  line.on("error", leave);
  line.on("close", leave);
}

/** Tell one message; how many bytes it took. Throws RangeError where it is larger than a frame may be. */
function tell(json) {
  let text = JSON.stringify(json);
  if (text.includes("\\ud")) text = JSON.stringify(json, wellFormed);
  const payload = Buffer.from(text);
  if (payload.length >= MAX) throw new RangeError("the message is larger than a frame may be");
  line.write(frame("J", payload));
  return payload.length;
}

/** Half of a character (a lone surrogate) is no text that others read. */
function wellFormed(name, value) {
  return typeof value === "string" ? value.toWellFormed() : value;
}

/** Send a frame of a channel. */
function send(kind, channel, rest) {
  line.write(channelFrame(kind, channel, rest));
}

function take(kind, payload) {
  if (kind === "J") takers.message(JSON.parse(payload.toString()));
  else if (CHANNEL_KINDS.includes(kind)) takers.channel(kind, payload.readUInt32BE(0), payload.subarray(4));
}

// Kept from before anything of a piece runs: what a piece does to `process` keeps nobody from leaving.
const exit = process.reallyExit.bind(process);

/** End the process: nobody is there to answer to. */
function leave() {
  exit(0);
}

module.exports = { leave, open, send, tell };
