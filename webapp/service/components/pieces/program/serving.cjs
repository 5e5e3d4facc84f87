// One call: which function of the piece it means, and what comes of it.
"use strict";

const { validate } = require("./auth.cjs");
const { actionContext, serverOf } = require("./contexts.cjs");
const { describe } = require("./describing.cjs");
const { resultOf } = require("./plain.cjs");
const { options, reload } = require("./properties.cjs");
const triggers = require("./triggers.cjs");

const OF_PIECE = {
  describe: async (piece, call, root) => describe(piece, root),
  validate: async (piece, call) => validate(piece, call.fields, serverOf(call.fields)),
  verify: async (piece, call) => verify(piece, call.fields),
  parse: async (piece, call) => parse(piece, call.fields),
};
const OF_ACTION = { run: runAction, options, reload };
const { activate, deactivate, deploy, handshake, renew, run } = triggers;
const OF_TRIGGER = { run, options, reload, activate, deactivate, deploy, renew, handshake };

/** Do what `call` asks of `piece`; the value that is its answer. */
async function serve(piece, root, call) {
  const { method } = call.fields;
  if (OF_PIECE[method]) return resultOf(await OF_PIECE[method](piece, call, root));
  const isTrigger = call.fields.kind === "trigger";
  const work = (isTrigger ? OF_TRIGGER : OF_ACTION)[method];
  if (!work) throw new Error(`A piece does not know the call ${method}.`);
  return resultOf(await work(piece, partOf(piece, call.fields), call));
}

function partOf(piece, { kind, name }) {
  const parts = kind === "trigger" ? piece.triggers() : piece.actions();
  if (Object.hasOwn(parts, name)) return parts[name];
  throw new Error(`The piece has no ${kind} ${name}.`);
}

async function runAction(piece, action, call) {
  return action.run(await actionContext(piece, call));
}

/** Whether an event that came to the app's address is from the provider: a piece that cannot say trusts none. */
async function verify(piece, fields) {
  if (!piece.events?.verify) return false;
  const payload = triggers.payloadOf(fields.event);
  const secret = { webhookSecret: fields.secret, payload, appWebhookUrl: fields.endpoint ?? "" };
  return Boolean(await piece.events.verify(secret));
}

/** For whom an event of the app is, and what is to be answered: `{event, identifier, reply}`. */
async function parse(piece, fields) {
  if (!piece.events?.parseAndReply) throw new Error("The piece takes no events of an app.");
  const payload = triggers.payloadOf(fields.event);
  const answer = await piece.events.parseAndReply({ payload, server: serverOf(fields) });
  const { event = null, identifierValue = null, reply = null } = answer ?? {};
  return { event, identifier: identifierValue === null ? null : String(identifierValue), reply };
}

module.exports = { serve };
