// What a trigger does: its hooks, a poll, an event that came to its address.
"use strict";

const { createHash } = require("crypto");
const { log } = require("./output.cjs");
const { triggerContext } = require("./contexts.cjs");
const { resultOf } = require("./plain.cjs");

const DEDUPE_KEY = "_dedupe_key";

/** Begin to watch: `{listeners, schedule}`, what the trigger listens to and when it wants to be asked. */
async function activate(piece, trigger, call) {
  const wishes = { listeners: [], schedule: null };
  await trigger.onEnable({ ...(await triggerContext(piece, call, {})), ...asWishes(wishes) });
  return wishes;
}

function asWishes(wishes) {
  return {
    app: {
      createListeners({ events, identifierValue }) {
        wishes.listeners.push({ events: [events].flat().map(String), identifier: String(identifierValue) });
      },
    },
    setSchedule({ cronExpression, timezone = "UTC" }) {
      wishes.schedule = { cron: cronExpression, timezone };
      log("The trigger asks for times of its own; how often it is asked is what its timer says.");
    },
  };
}

/** Stop watching. */
async function deactivate(piece, trigger, call) {
  await trigger.onDisable(await triggerContext(piece, call, {}));
}

/** Renew what was made at the provider. */
async function renew(piece, trigger, call) {
  await trigger.onRenew(await triggerContext(piece, call, {}));
}

/** One poll, or one event. An event that is a handshake is answered, and emits nothing. */
async function run(piece, trigger, call) {
  const payload = payloadOf(call.fields.event);
  if (isHandshake(trigger, payload)) return handshake(piece, trigger, call);
  const items = await trigger.run(await triggerContext(piece, call, payload));
  emitAll(trigger, items, call);
  return null;
}

/** What the trigger would emit, for a look: the events are emitted, the state is not kept by the asker. */
async function deploy(piece, trigger, call) {
  if (trigger.testStrategy === "SIMULATION" || typeof trigger.test !== "function") return null;
  emitAll(trigger, await trigger.test(await triggerContext(piece, call, {})), call);
  return null;
}

/** Answer the provider's question whether the address is ours. */
async function handshake(piece, trigger, call) {
  const payload = payloadOf(call.fields.event);
  const answer = await trigger.onHandshake(await triggerContext(piece, call, payload));
  const { body } = answer ?? {};
  const isText = typeof body === "string";
  const headers = {
    ...(isText || body === undefined ? {} : { "content-type": "application/json" }),
    ...answer?.headers,
  };
  const text = isText ? body : body === undefined ? "" : JSON.stringify(body);
  call.tell({ respond: Number(answer?.status) || 200, body: text, headers });
  return null;
}

function isHandshake(trigger, payload) {
  const { strategy, paramName } = trigger.handshakeConfiguration ?? {};
  if (strategy === "HEADER_PRESENT") return String(paramName).toLowerCase() in payload.headers;
  if (strategy === "QUERY_PRESENT") return paramName in payload.queryParams;
  if (strategy === "BODY_PARAM_PRESENT") return typeof payload.body === "object" && paramName in (payload.body ?? {});
  return false;
}

/** Providers list the newest first; events go out in the order in which they happened. */
function emitAll(trigger, items, call) {
  const list = Array.isArray(items) ? items : items === null || items === undefined ? [] : [items];
  const isPolling = trigger.type === "POLLING";
  for (const item of isPolling ? [...list].reverse() : list) emit(item, isPolling, call);
}

function emit(item, isPolling, call) {
  const event = resultOf(item);
  let id = null;
  if (event && typeof event === "object" && event[DEDUPE_KEY] !== undefined) {
    id = String(event[DEDUPE_KEY]);
    delete event[DEDUPE_KEY];
  } else if (isPolling) {
    id = createHash("sha256").update(JSON.stringify(event)).digest("hex");
  }
  call.tell({ emit: event, id, summary: null, ts: Date.now() });
}

/** An event of ours as pieces know requests. */
function payloadOf(event) {
  const { body = {}, bodyRaw, headers = {}, query = {}, method = "POST" } = event ?? {};
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { body: bodyOf(body, lower["content-type"]), rawBody: bodyRaw, headers: lower, queryParams: query, method };
}

/** A form that came as text is an object for pieces. */
function bodyOf(body, type) {
  if (typeof body !== "string" || !String(type).startsWith("application/x-www-form-urlencoded")) return body;
  return Object.fromEntries(new URLSearchParams(body));
}

module.exports = { activate, deactivate, deploy, handshake, payloadOf, renew, run };
