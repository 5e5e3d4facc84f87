"use strict";
const { createTrigger, Property, TriggerStrategy, WebhookRenewStrategy } = require("@activepieces/pieces-framework");
const { WebhookHandshakeStrategy } = require("@activepieces/shared");
const { auth } = require("./auth");
const { ask } = require("./provider");
const { table } = require("./props");

/** Asks for the newest rows; the provider lists the newest first. */
const polling = createTrigger({
  ...named("new_row", "New row"),
  props: { table },
  type: TriggerStrategy.POLLING,
  onEnable: async (context) => {
    context.setSchedule({ cronExpression: "*/5 * * * *", timezone: "Europe/Berlin" });
    const [newest] = await rows(context);
    await context.store.put("last", newest?.id ?? 0);
  },
  onDisable: (context) => context.store.delete("last"),
  run: async (context) => {
    const last = (await context.store.get("last")) ?? 0;
    const fresh = (await rows(context)).filter(({ id }) => id > last);
    if (fresh.length) await context.store.put("last", fresh[0].id);
    return fresh.map((row) => ({ ...row, _dedupe_key: `row-${row.id}` }));
  },
  test: rows,
});

function rows({ auth: account, propsValue }) {
  return ask(account, "GET", `/tables/${propsValue.table}/rows`);
}

const handshake = (strategy, paramName, respond) => ({
  handshakeConfiguration: { strategy, paramName },
  onHandshake: async ({ payload }) => respond(payload),
});

const WEBHOOKS = [
  webhook("hook_plain", "Hook"),
  webhook("hook_header", "Hook with a header", {
    ...handshake(WebhookHandshakeStrategy.HEADER_PRESENT, "X-Hook-Secret", ({ headers }) => ({
      status: 200,
      headers: { "x-hook-secret": headers["x-hook-secret"] },
    })),
  }),
  webhook("hook_query", "Hook with a query", {
    ...handshake(WebhookHandshakeStrategy.QUERY_PRESENT, "challenge", ({ queryParams }) => ({
      status: 200,
      headers: { "content-type": "text/plain" },
      body: queryParams.challenge,
    })),
  }),
  webhook("hook_body", "Hook with a body", {
    ...handshake(WebhookHandshakeStrategy.BODY_PARAM_PRESENT, "challenge", ({ body }) => ({
      status: 201,
      body: { challenge: body.challenge },
    })),
  }),
  webhook("hook_renewed", "Hook that ends", {
    renewConfiguration: { strategy: WebhookRenewStrategy.CRON, cronExpression: "0 */12 * * *" },
    onRenew: async (context) => {
      const id = await context.store.get("hook");
      await ask(context.auth, "PATCH", `/hooks/${id}`, { url: context.webhookUrl });
    },
  }),
];

function webhook(name, displayName, more = {}) {
  return createTrigger({
    ...named(name, displayName),
    props: { only: Property.ShortText({ displayName: "Only", required: false }) },
    type: TriggerStrategy.WEBHOOK,
    onEnable: async (context) => {
      const { id } = await ask(context.auth, "POST", "/hooks", { url: context.webhookUrl });
      await context.store.put("hook", id);
    },
    onDisable: async (context) => {
      const id = await context.store.get("hook");
      if (id) await ask(context.auth, "DELETE", `/hooks/${id}`);
    },
    run: async ({ payload, propsValue }) =>
      !propsValue.only || payload.body.kind === propsValue.only ? [payload.body] : [],
    ...more,
  });
}

/** Hears of the messages of the account's team, at the one address of the app. */
const told = createTrigger({
  ...named("new_message", "New message"),
  props: {},
  type: TriggerStrategy.APP_WEBHOOK,
  onEnable: async (context) => {
    const me = await ask(context.auth, "GET", "/me");
    context.app.createListeners({ events: ["message", "message.edited"], identifierValue: me.team });
  },
  onDisable: async () => {},
  run: async ({ payload }) => [payload.body.message],
});

exports.triggers = [polling, ...WEBHOOKS, told];

function named(name, displayName) {
  return { auth, name, displayName, description: `${displayName}, as the framework has it.`, sampleData: { id: 1 } };
}
