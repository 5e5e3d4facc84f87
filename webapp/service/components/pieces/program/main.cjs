// The program that Node runs for one piece: `node main.cjs FOLDER PACKAGE`, where FOLDER is the npm prefix in which
// PACKAGE is installed. It speaks over descriptor 3 (see frames.cjs) and serves one call at a time.
"use strict";

const path = require("path");
const asker = require("./asker.cjs");
const calls = require("./call.cjs");
const channels = require("./channels.cjs");
const closing = require("./closing.cjs");
const leftovers = require("./leftovers.cjs");
const network = require("./network.cjs");
const output = require("./output.cjs");
const { errorMessage } = require("./errors.cjs");
const { load } = require("./loading.cjs");
const { serve } = require("./serving.cjs");

const [folder, name] = process.argv.slice(2);
const root = path.join(folder, "node_modules", name);
let loading = null;

function message(json) {
  if (json.call) answer(json.call);
  else if (json.stop) asker.leave();
}

async function answer(fields) {
  const call = calls.begin(fields);
  output.install();
  let isWorking = false;
  try {
    const piece = await loading;
    isWorking = true;
    const work = call.within(() => serve(piece, root, call)).finally(() => (isWorking = false));
    const value = await Promise.race([work, call.failure]);
    call.within(output.flush);
    finish(call, { value });
  } catch (error) {
    finish(call, { ...errorMessage(error, root), ...(isWorking && { spent: true }) });
  }
}

function finish(call, last) {
  channels.resetAll();
  leftovers.putAway(call);
  call.end(last);
}

/** What nobody caught ends the call: a piece that fails never does so silently. */
function uncaught(error) {
  const call = calls.ofNow();
  if (call) call.fail(error);
}

asker.open(message, channels.take);
network.install();
closing.install();
leftovers.install();
output.install();
process.removeAllListeners("warning"); // Node's own advice is for whoever wrote the piece
process.on("uncaughtException", uncaught);
process.on("unhandledRejection", uncaught);
loading = load(folder, name);
loading.then(leftovers.settle, leftovers.settle);
loading.then(
  () => asker.tell({ ready: true }),
  (error) => asker.tell({ ready: false, ...errorMessage(error, root) }),
);
