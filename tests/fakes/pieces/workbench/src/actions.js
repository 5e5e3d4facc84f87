"use strict";
const { createAction, Property, StoreScope } = require("@activepieces/pieces-framework");
const { auth } = require("./auth");
const { ask } = require("./provider");
const { cells, every, table } = require("./props");

const key = Property.ShortText({ displayName: "Key", required: true });

/** What each context call that we have does. */
const HAD = [
  action("every_prop", "Every prop", every, async ({ propsValue }) => shown(propsValue)),
  action("add_row", "Add row", { table, cells }, ({ auth: account, propsValue }) =>
    ask(account, "POST", `/tables/${propsValue.table}/rows`, propsValue.cells),
  ),
  action("get_me", "Get me", {}, async ({ auth: account }) => ({ account, me: await ask(account, "GET", "/me") })),
  action(
    "reach_elsewhere",
    "Reach elsewhere",
    { url: key },
    async ({ propsValue }) => (await fetch(propsValue.url)).status,
  ),
  action("keep", "Keep", { key }, async ({ store, propsValue }) => {
    const before = [await store.get(propsValue.key), await store.get(propsValue.key, StoreScope.PROJECT)];
    await store.put(propsValue.key, "of the flow", StoreScope.FLOW);
    await store.put(propsValue.key, { of: "the project" }, StoreScope.PROJECT);
    const kept = [await store.get(propsValue.key), await store.get(propsValue.key, StoreScope.PROJECT)];
    await store.delete(propsValue.key);
    return {
      before,
      kept,
      after: [await store.get(propsValue.key), await store.get(propsValue.key, StoreScope.PROJECT)],
    };
  }),
  action("write_file", "Write file", {}, ({ files }) =>
    files.write({ fileName: "note.txt", data: Buffer.from("Written by a piece.") }),
  ),
  action("get_connection", "Get connection", { key }, ({ connections, propsValue }) => connections.get(propsValue.key)),
  action("tell_place", "Tell place", {}, async ({ project, run, server, step, executionType }) => {
    console.log("It tells its place.");
    return {
      project: project.id,
      externalId: await project.externalId(),
      run: typeof run.id,
      server,
      step,
      executionType,
    };
  }),
  action("respond", "Respond", {}, ({ run }) => {
    run.respond({ response: { status: 201, body: { answered: true }, headers: {} } });
    return "went on";
  }),
  action("stop", "Stop", {}, ({ run }) => {
    run.stop({ response: { status: 202, body: "stopped", headers: {} } });
    return "stopped";
  }),
  action("fail", "Fail", { key }, ({ auth: account, propsValue }) => ask(account, "GET", `/fails/${propsValue.key}`)),
  action("leave_rejection", "Leave a rejection", {}, async () => {
    Promise.reject(new Error("Nobody waited for this."));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }),
];

/** What the host has not: an action that needs it says so where it is listed. */
const WANTING = [
  action("list_flows", "List flows", {}, ({ flows }) => flows.list()),
  action("use_agent", "Use agent", {}, ({ agent }) => agent.tools({ tools: [], model: null })),
  action("wait", "Wait", {}, async ({ run }) =>
    run.waitForWaitpoint((await run.createWaitpoint({ type: "WEBHOOK" })).id),
  ),
  action("pause", "Pause", {}, ({ run }) =>
    run.pause({ pauseMetadata: { type: "DELAY", resumeDateTime: "2030-01-01" } }),
  ),
];

/** The same, and what else a host may lack, where nobody sees it before it runs. */
const HIDDEN = action("call_context", "Call context", { path: key }, async (context) => {
  const names = context.propsValue.path.split(".");
  const method = names.pop();
  return names
    .reduce((value, name) => value[name], context)
    [method]({ name: "tag", data: {}, queryParams: {}, type: "DELAY" });
});

exports.actions = [...HAD, ...WANTING, HIDDEN];

function action(name, displayName, props, run) {
  return createAction({ auth, name, displayName, description: `${displayName}, as the framework has it.`, props, run });
}

function shown(value) {
  const { file } = value;
  return { ...value, file: file && { filename: file.filename, extension: file.extension, base64: file.base64 } };
}
