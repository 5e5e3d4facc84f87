// A program for a process of pieces that lets a test do what it likes: it runs the code of each call, without any fence
// of its own, so that what is refused is refused by the kernel.
"use strict";
const fs = require("fs");
const net = require("net");

const frames = new net.Socket({ fd: 3, readable: true, writable: true });
const waiting = new Map();
let inbox = Buffer.alloc(0);
let count = 0;

function send(kind, payload) {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(payload.length + 1);
  head.write(kind, 4);
  frames.write(Buffer.concat([head, payload]));
}

const tell = (message) => send("J", Buffer.from(JSON.stringify(message)));

function channel(kind, number, payload = Buffer.alloc(0)) {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(number);
  send(kind, Buffer.concat([head, payload]));
}

// Asks `host` something over a connection of its own; what it answered until it hung up, or why there is none.
function exchange(host, port, text) {
  return new Promise((resolve) => {
    const number = ++count;
    waiting.set(number, { resolve, text, answer: [] });
    channel("O", number, Buffer.from(JSON.stringify({ host, port })));
  });
}

function onChannel(kind, number, payload) {
  const open = waiting.get(number);
  if (!open) return;
  if (kind === "O") {
    const answer = JSON.parse(payload);
    if (answer.error) return open.resolve(answer.error);
    channel("D", number, Buffer.from(open.text));
    channel("E", number);
  } else if (kind === "D") {
    open.answer.push(payload);
    const credit = Buffer.alloc(4);
    credit.writeUInt32BE(payload.length);
    channel("W", number, credit);
  } else if (kind === "E") open.resolve(Buffer.concat(open.answer).toString());
  else if (kind === "R") open.resolve(JSON.parse(payload).error);
}

async function answer(call) {
  try {
    const work = new Function("tell", "send", "exchange", "require", `return (async () => { ${call.code} })()`);
    tell({ value: (await work(tell, send, exchange, require)) ?? null });
  } catch (error) {
    tell({ error: { kind: "exception", name: error.name, message: error.code ?? error.message, stack: "" } });
  }
}

frames.on("data", (block) => {
  inbox = Buffer.concat([inbox, block]);
  while (inbox.length >= 5 && inbox.length >= 4 + inbox.readUInt32BE(0)) {
    const end = 4 + inbox.readUInt32BE(0);
    const kind = inbox.toString("latin1", 4, 5);
    const payload = inbox.subarray(5, end);
    inbox = inbox.subarray(end);
    if (kind === "J") answer(JSON.parse(payload).call);
    else onChannel(kind, payload.readUInt32BE(0), payload.subarray(4));
  }
});
frames.on("close", () => process.exit(0));
if (fs.statSync(`${process.argv[2]}/broken`, { throwIfNoEntry: false })) process.exit(3);
tell({ ready: true });
