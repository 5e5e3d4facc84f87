// What a call leaves behind in the process is put away when it is over: its timers, and its listeners of `process`.
"use strict";

const timers = require("timers");
const calls = require("./call.cjs");

const kinds = { setTimeout: "clearTimeout", setInterval: "clearInterval", setImmediate: "clearImmediate" };
const clearing = Object.fromEntries(Object.values(kinds).map((name) => [name, timers[name]]));
let lasting = new Map(); // the listeners of `process` that were there before any call

/** Let timers belong to the call in which they are set. */
function install() {
  for (const [name, clear] of Object.entries(kinds)) {
    const original = timers[name];
    const ofCall = (work, ...rest) => {
      const call = calls.ofNow();
      if (!call || typeof work !== "function") return original(work, ...rest);
      const timer = original(run, ...rest);
      call.timers.set(timer, clearing[clear]);
      return timer;

      function run(...args) {
        if (name !== "setInterval") call.timers.delete(timer);
        return work.apply(this, args);
      }
    };
    Object.defineProperties(ofCall, Object.getOwnPropertyDescriptors(original));
    timers[name] = globalThis[name] = ofCall;
  }
}

/** What listens to `process` now stays. */
function settle() {
  lasting = listeners();
}

/** Put away what `call` left. */
function putAway(call) {
  for (const [timer, clear] of call.timers) clear(timer);
  call.timers.clear();
  const now = listeners();
  for (const event of new Set([...now.keys(), ...lasting.keys()])) {
    const before = lasting.get(event) ?? [];
    const after = now.get(event) ?? [];
    for (const each of after) if (!before.includes(each)) process.removeListener(event, each);
    for (const each of before) if (!after.includes(each)) process.on(event, each);
  }
}

function listeners() {
  return new Map(process.eventNames().map((event) => [event, process.rawListeners(event)]));
}

module.exports = { install, putAway, settle };
