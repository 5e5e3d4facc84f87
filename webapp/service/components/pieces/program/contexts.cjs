// The contexts that functions of a piece get. What is not here (flows, waitpoints, agents, tags) says so.
"use strict";

const { createHash } = require("crypto");
const { authOf } = require("./auth.cjs");
const { filesOf, withFiles } = require("./files.cjs");
const { contextVersion } = require("./loading.cjs");
const { storeOf } = require("./store.cjs");

class NotSupported extends Error {
  constructor(sentence) {
    super(sentence);
    this.name = "NotSupported";
  }
}

/** A function that says that `what` is not here. */
function notHere(what) {
  return () => {
    throw new NotSupported(`This part of the piece needs ${what}, which there is none of here.`);
  };
}

/** A copy of `values` with one more, which can be read by its `name` and is in no copy and no JSON of it. */
function withHidden(values, name, value) {
  return Object.defineProperty({ ...values }, name, { value, enumerable: false });
}

/** What every function of a piece gets. */
async function baseContext(piece, call) {
  const { fields } = call;
  const auth = authOf(piece, fields.auth);
  const server = serverOf(fields);
  return {
    auth,
    propsValue: withHidden(await withFiles(fields.props ?? {}, call), "auth", auth),
    store: storeOf(call),
    server,
    ...(contextVersion(piece) ? {} : { serverUrl: server.publicUrl }),
    project: projectOf(fields),
    connections: { get: async () => null },
    flows: flowsOf(fields),
    step: { name: fields.name },
    files: filesOf(call),
  };
}

/** The context of an action's run. */
async function actionContext(piece, call) {
  return {
    ...(await baseContext(piece, call)),
    executionType: "BEGIN",
    run: runOf(call),
    tags: { add: notHere("tags of runs") },
    agent: { tools: notHere("agents") },
    output: { update: async ({ data }) => call.tell({ export: "output", value: data }) },
    generateResumeUrl: notHere("a flow that waits"),
  };
}

/** The context of a trigger's hooks and run. */
async function triggerContext(piece, call, payload) {
  return {
    ...(await baseContext(piece, call)),
    webhookUrl: call.fields.endpoint ?? "",
    payload,
    app: { createListeners: () => {} },
    setSchedule: () => {},
    run: { id: call.runId },
  };
}

/** What the options and the fields of a property may ask. */
function propertyContext(call) {
  const { fields } = call;
  return {
    server: serverOf(fields),
    project: projectOf(fields),
    searchValue: fields.query ?? undefined,
    flows: flowsOf(fields),
    connections: { get: async () => null },
  };
}

function runOf(call) {
  const respond = (params) => call.tell({ export: "response", value: params?.response ?? null });
  return {
    id: call.runId,
    stop: respond,
    respond,
    pause: notHere("a flow that waits"),
    createWaitpoint: notHere("a flow that waits"),
    waitForWaitpoint: notHere("a flow that waits"),
  };
}

/** Where this server is, as far as a piece may know: by the address of the trigger, and without a token. */
function serverOf(fields) {
  const origin = fields.endpoint ? `${new URL(fields.endpoint).origin}/` : "";
  return { apiUrl: origin, publicUrl: origin, token: "" };
}

/** The user whose call it is stands for the project, by a name that says nothing of them to a provider. */
function projectOf({ user }) {
  return { id: opaque(user), externalId: async () => undefined };
}

function opaque(user) {
  return user ? createHash("sha256").update(user).digest("hex").slice(0, 24) : "";
}

function flowsOf({ user }) {
  const id = opaque(user);
  return { current: { id, version: { id } }, list: notHere("a list of flows") };
}

module.exports = { actionContext, propertyContext, serverOf, triggerContext, NotSupported };
