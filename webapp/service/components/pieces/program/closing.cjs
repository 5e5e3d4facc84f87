// Takes from the process every way out of Node that is no channel: processes, threads, servers, names, datagrams,
// debuggers, native code. The kernel refuses these as well; here a piece gets a sentence instead of a crash.
"use strict";

const Module = require("module");
const names = require("./names.cjs");

const { apply } = Reflect; // kept from before a piece may change it

class NotHere extends Error {
  constructor(sentence) {
    super(sentence);
    this.name = "NotHere";
    this.code = "ERR_NOT_HERE";
  }
}

/** The error that says `sentence`. */
function refusing(sentence) {
  return new NotHere(sentence);
}

const NO_PROCESS = "A piece cannot start other programs here.";
const NO_THREAD = "A piece cannot start threads or copies of itself here.";
const NO_DATAGRAMS = "A piece sends no datagrams (UDP) here.";
const NO_SERVER = "A piece cannot wait for connections here.";
const NO_DEBUGGER = "A piece cannot open a debugger here.";
const NO_NATIVE = "A piece cannot load native code here.";
const NO_SIGNAL = "A piece cannot end processes here: it returns, or throws an error.";
const NO_INSIDE = "A piece has no access to the inside of Node here.";

/** Modules of which nothing that can be called stays. */
const CLOSED = {
  child_process: NO_PROCESS,
  cluster: NO_THREAD,
  dgram: NO_DATAGRAMS,
  inspector: NO_DEBUGGER,
  "node:sqlite": NO_NATIVE,
  repl: NO_INSIDE,
  trace_events: NO_INSIDE,
  wasi: NO_NATIVE,
};

/** What of other modules is closed. */
const PARTS = {
  module: [NO_THREAD, ["register", "registerHooks"]],
  net: [NO_SERVER, ["_createServerHandle"]],
  tty: [NO_INSIDE, ["ReadStream", "WriteStream"]],
  v8: [NO_INSIDE, ["setFlagsFromString", "setHeapSnapshotNearHeapLimit", "takeCoverage", "stopCoverage"]],
  worker_threads: [NO_THREAD, ["Worker"]],
};

const OF_PROCESS = {
  [NO_INSIDE]: ["binding", "_linkedBinding", "_debugProcess", "_debugEnd", "setUncaughtExceptionCaptureCallback"],
  [NO_NATIVE]: ["dlopen"],
  [NO_SIGNAL]: ["exit", "reallyExit", "abort", "kill", "_kill", "execve"],
};

/**
 * A class in the place of `Original` that first asks `check(arguments)`, and calls `then(instance, ...arguments)`.
 * Instances stay of the original.
 */
function sealed(Original, check, then = () => {}) {
  function Sealed(...args) {
    check(args);
    if (!(this instanceof Original)) return new Sealed(...args);
    apply(Original, this, args);
    then(this, ...args);
  }
  Object.defineProperty(Sealed, "name", { value: Original.name });
  Sealed.prototype = Original.prototype;
  Original.prototype.constructor = Sealed;
  return Sealed;
}

/** Close what a piece has no business with. */
function install() {
  for (const [name, sentence] of Object.entries(CLOSED)) if (Module.isBuiltin(name)) close(require(name), sentence);
  for (const [name, [sentence, parts]] of Object.entries(PARTS)) close(require(name), sentence, parts);
  names.install();
  close(require("net").Server.prototype, NO_SERVER, ["listen", "_listen2"]);
  blind(require("async_hooks"));
  for (const [sentence, names] of Object.entries(OF_PROCESS)) close(process, sentence, names);
  for (const name of ["_getActiveHandles", "_getActiveRequests"]) process[name] = () => [];
  Module.syncBuiltinESMExports();
}

/** Hooks of asynchronous work would show the handles of this program: they may be asked for, and see nothing. */
function blind(hooks) {
  const hook = { enable: () => hook, disable: () => hook };
  hooks.createHook = () => hook;
  hooks.executionAsyncResource = () => ({});
}

/** Replace the functions of `holder` (those of `names`, else all) by ones that throw `sentence`. */
function close(holder, sentence, names = null) {
  for (const name of names ?? Object.keys(holder)) {
    if (typeof holder[name] !== "function") continue;
    const refuse = function () {
      throw refusing(sentence);
    };
    Object.defineProperty(holder, name, { value: refuse, writable: true, configurable: true, enumerable: true });
  }
}

module.exports = { install, refusing, sealed };
