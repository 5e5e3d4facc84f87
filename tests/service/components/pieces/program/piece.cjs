// A piece of the tests' own, as plain objects: what it does is what the tests look at.
"use strict";

const http = require("http");
const http2 = require("http2");
const https = require("https");
const net = require("net");
const tls = require("tls");
const { EventEmitter, once } = require("events");
const { setTimeout: delay } = require("timers/promises");
const { createHash } = require("crypto");

const seen = { calls: 0, leaked: [] };
const agent = new https.Agent({ keepAlive: true });
const auth = {
  type: "CUSTOM_AUTH",
  displayName: "Keys",
  required: true,
  props: { key: { type: "SHORT_TEXT", displayName: "Key", required: true } },
  validate: async ({ auth }) => (auth.key === "good" ? { valid: true } : { valid: false, error: "Not that key." }),
};

async function read(stream) {
  const blocks = [];
  for await (const block of stream) blocks.push(block);
  return Buffer.concat(blocks);
}

async function get(module, url, options) {
  const [response] = await once(module.get(url, options), "response");
  return JSON.parse(await read(response));
}

async function connected(socket, event = "connect") {
  await once(socket, event);
  return socket;
}

const actions = {
  async fetch({ propsValue: { url, method, size } }) {
    const body = size ? Buffer.alloc(size, "x") : undefined;
    const response = await fetch(url, { method, body });
    const content = Buffer.from(await response.arrayBuffer());
    const digest = createHash("sha256").update(content).digest("hex");
    return { status: response.status, size: content.length, digest, text: content.toString("utf8", 0, 2000) };
  },
  async why_not({ propsValue: { url } }) {
    return fetch(url).catch((error) => error.message);
  },
  async kept_alive({ propsValue: { url } }) {
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push((await get(https, url, { agent })).connections);
    return answers;
  },
  http: ({ propsValue: { url } }) => get(http, url),
  async upload({ propsValue: { url, size } }) {
    const request = https.request(url, { method: "POST" });
    for (let left = size; left > 0; left -= 1 << 20) {
      if (!request.write(Buffer.alloc(1 << 20))) await once(request, "drain");
    }
    request.end();
    const [response] = await once(request, "response");
    return JSON.parse(await read(response));
  },
  async http2({ propsValue: { url } }) {
    const session = http2.connect(url);
    const answers = ["/a", "/b"].map(async (path) => JSON.parse(await read(session.request({ ":path": path }))));
    const [first, second] = await Promise.all(answers);
    const protocol = session.alpnProtocol;
    session.close();
    return { protocol, versions: [first.version, second.version] };
  },
  async tls({ propsValue: { host, servername } }) {
    const socket = await connected(
      tls.connect({ host, port: 443, servername, ALPNProtocols: ["h2"] }),
      "secureConnect",
    );
    const { authorized, alpnProtocol } = socket;
    const upgraded = await connected(tls.connect({ socket: net.connect(443, host), servername }), "secureConnect");
    upgraded.destroy();
    const early = await connected(net.connect(443, host));
    const late = await connected(tls.connect({ socket: early, servername }), "secureConnect");
    late.destroy();
    const bare = await connected(net.connect(443, host));
    const wrapped = new tls.TLSSocket(bare);
    wrapped._start();
    await connected(wrapped, "secure");
    wrapped.destroy();
    socket.destroy();
    return { authorized, alpnProtocol, upgraded: upgraded.authorized, late: late.authorized, from: late.remoteAddress };
  },
  async trusts_all({ propsValue: { url } }) {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    await get(https, url, { agent: false });
  },
  async half_closed({ propsValue: { text } }) {
    const socket = await connected(new net.Socket({ allowHalfOpen: true }).connect(7, "echo.test"));
    socket.end(text);
    return { text: String(await read(socket)), bytes: socket.bytesWritten, host: socket.remoteAddress };
  },
  async looked_up() {
    const { lookup } = require("dns");
    const [all, first] = await Promise.all([
      new Promise((resolve) => lookup("echo.test", { all: true }, (error, answers) => resolve(answers))),
      require("dns/promises").lookup("ECHO.test"),
    ]);
    const socket = await connected(net.connect(7, all[0].address));
    socket.end("ab");
    return { text: String(await read(socket)), same: first.address === all[0].address };
  },
  async deaf() {
    process.removeAllListeners();
  },
  async reconnected() {
    const socket = new net.Socket();
    const texts = [];
    for (const text of ["ab", "cd"]) {
      socket.connect({ port: 7, host: "echo.test" });
      socket.end(text);
      const closed = once(socket, "close");
      const [block] = await once(socket, "data");
      texts.push(String(block));
      await closed;
    }
    return texts;
  },
  async timeout({ propsValue: { url } }) {
    const request = https.get(url, { timeout: 50 });
    request.on("timeout", () => request.destroy(new Error("too slow for me")));
    await once(request, "response");
  },
  async aborted({ propsValue: { url } }) {
    await fetch(url, { signal: AbortSignal.timeout(50) });
  },
  async refused_for_ever() {
    for (let i = 0; i < 50; i++) {
      await fetch("https://refused.test/").catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  },
  async evaluate({ propsValue: { code } }) {
    return await new (Object.getPrototypeOf(async () => {}).constructor)("require", code)(require);
  },
  async late_throw() {
    setTimeout(() => {
      throw new TypeError("nobody catches this");
    }, 1);
    await new Promise(() => {});
  },
  async rejected() {
    Promise.reject(new TypeError("nobody awaits this"));
    await new Promise((resolve) => setTimeout(resolve, 100));
  },
  async thrown_in_data() {
    const socket = net.connect(7, "echo.test");
    socket.end("x");
    socket.on("data", () => {
      throw new TypeError("thrown by a listener");
    });
    await new Promise(() => {});
  },
  async leaves({ store, auth }) {
    const loud = (name) => () => {
      seen.leaked.push(name);
      console.log("of the call before");
      store.put("late", 1);
      net.connect(7, "echo.test").on("error", () => {});
    };
    setInterval(loud("interval"), 1);
    setImmediate(() => setTimeout(loud("timeout"), 5));
    process.on("beforeExit", loud("exit"));
    delay(20).then(loud("promise"));
    net.connect(7, "echo.test").on("error", () => {});
    const failing = new EventEmitter().on("late", () => {
      throw new Error("a listener of the call before");
    });
    delay(10).then(() => Promise.reject(new Error("a promise of the call before")));
    delay(10).then(() => process.nextTick(() => failing.emit("late")));
    console.log = () => {};
    seen.store = store;
    return auth;
  },
  async left() {
    await new Promise((resolve) => setTimeout(resolve, 40));
    await seen.store.put("late", 2);
    console.log("of this call");
    const listeners = process.listenerCount("beforeExit");
    return { leaked: seen.leaked, listeners, before: await seen.store.get("kept") };
  },
  prints() {
    console.log("one", { two: 2 });
    console.error("line\nand line");
    process.stdout.write("half");
    process.stdout.write(" whole\nrest");
  },
  floods() {
    for (;;) console.log("x".repeat(100_000));
  },
  async stores({ store }) {
    const before = await store.get("kept");
    await store.put("kept", { a: 1 });
    await store.put("kept", "project", "COLLECTION");
    await store.delete("gone");
    return [before, await store.get("kept"), await store.get("kept", "COLLECTION"), await store.get("gone")];
  },
  async stores_for_the_run({ store, run }) {
    await store.put(`run_${run.id}/kept`, "for now");
    return store.get(`run_${run.id}/kept`);
  },
  async stores_much({ store }) {
    await store.put("b", "x".repeat(100 * 1024));
  },
  async files({ propsValue: { file }, files }) {
    const text = `${file.filename} ${file.extension} ${file.base64}`;
    return { text, written: await files.write({ fileName: "out.txt", data: Buffer.from("written") }) };
  },
  context: async (context) => ({
    auth: context.auth,
    values: context.propsValue,
    account: context.propsValue.auth,
    project: [context.project.id, await context.project.externalId()],
    server: context.server,
    connection: await context.connections.get("x"),
    step: context.step,
    type: context.executionType,
    flow: context.flows.current.id,
  }),
  async wants({ propsValue: { what }, run, flows, tags, agent }) {
    const all = { list: flows.list, add: tags.add, tools: agent.tools, wait: run.createWaitpoint, pause: run.pause };
    return await all[what]({});
  },
  async stops({ run, output }) {
    await output.update({ data: { half: 1 } });
    run.stop({ response: { status: 201 } });
  },
  async fails({ propsValue: { kind } }) {
    if (kind === "axios")
      throw Object.assign(new Error("Request failed"), { response: { status: 404, data: { no: 1 } } });
    if (kind === "status") throw Object.assign(new Error("Too many"), { status: 429 });
    if (kind === "hostile")
      throw {
        get message() {
          throw new Error("no");
        },
      };
    if (kind === "object") throw { code: 7 };
    if (kind === "text") throw "just text";
    throw new RangeError("out of range");
  },
  returns({ propsValue: { kind } }) {
    const circle = {};
    circle.self = circle;
    const half = "\ud83d";
    return { circle, half, nothing: undefined, big: 12n, huge: "x".repeat(7 << 20), date: new Date(0) }[kind];
  },
};

const dropdown = {
  type: "DROPDOWN",
  displayName: "Colour",
  required: false,
  refreshers: ["auth", "base"],
  options: async ({ auth, base }, { searchValue }) => {
    if (!base) return { disabled: true, placeholder: "Choose a base first", options: [] };
    return { options: [{ label: `${base} ${searchValue} ${auth.props.key}`, value: { id: 1 } }] };
  },
};
const choice = {
  type: "DROPDOWN",
  displayName: "Choice",
  refreshOnSearch: true,
  refreshers: ["base", "first"],
  options: async ({ base, first }, { searchValue }) => ({
    options: [{ label: `${base} ${first} ${searchValue}`, value: "c" }],
  }),
};
const dynamic = {
  type: "DYNAMIC",
  displayName: "Fields",
  required: false,
  refreshers: ["base"],
  props: async ({ base }) => {
    if (base === "none") throw new Error("no such base");
    if (base === "Choice") return { choice };
    return { [base.toLowerCase()]: { type: "NUMBER", displayName: base, required: true, valueSchema: undefined } };
  },
};

function action(name, run) {
  const props = name === "context" ? { base: { type: "SHORT_TEXT", displayName: "Base" }, dropdown, dynamic } : {};
  const rows = {
    type: "ARRAY",
    displayName: "Rows",
    properties: { cell: { type: "SHORT_TEXT", displayName: "Cell" } },
  };
  if (name === "context") props.rows = rows;
  return { name, displayName: `Do ${name}`, description: "", props, run, requireAuth: name === "context" };
}

const polling = {
  name: "polling",
  displayName: "New things",
  description: "",
  type: "POLLING",
  props: {},
  sampleData: { id: 0 },
  async onEnable({ store, setSchedule }) {
    await store.put("last", 0);
    setSchedule({ cronExpression: "*/5 * * * *" });
  },
  async onDisable({ store }) {
    await store.delete("last");
  },
  async run({ store }) {
    const last = await store.get("last");
    await store.put("last", last + 2);
    return [{ _dedupe_key: `k${last + 2}`, id: last + 2 }, { id: last + 1 }];
  },
  test: async () => [{ id: 2 }, { id: 1 }],
};
const webhook = {
  name: "webhook",
  displayName: "Hook",
  description: "",
  type: "WEBHOOK",
  props: {},
  handshakeConfiguration: { strategy: "HEADER_PRESENT", paramName: "X-Hook-Secret" },
  renewConfiguration: { strategy: "CRON", cronExpression: "0 0 * * *" },
  async onHandshake({ payload }) {
    return { status: 201, headers: { "x-hook-secret": payload.headers["x-hook-secret"] }, body: { ok: true } };
  },
  onEnable: async ({ webhookUrl, store }) => void (await store.put("hook", webhookUrl)),
  onDisable: async () => {},
  onRenew: async ({ store }) => void (await store.put("renewed", true)),
  run: async ({ payload: { body, rawBody, headers, queryParams, method } }) => [
    { body, rawBody, headers, queryParams, method },
    { second: true },
  ],
};
const app = {
  name: "app",
  displayName: "App event",
  description: "",
  type: "APP_WEBHOOK",
  props: {},
  onEnable: async ({ app }) => void app.createListeners({ events: ["message"], identifierValue: "T1" }),
  onDisable: async () => {},
  run: async ({ payload }) => [payload.body],
};

const named = Object.entries(actions).map(([name, run]) => [name, action(name, run)]);
exports.sample = {
  displayName: "Sample",
  description: "A piece of the tests.",
  logoUrl: "",
  authors: ["us"],
  categories: [],
  auth: [auth],
  getContextInfo: () => ({ version: process.env.CONTEXT_VERSION ?? "2" }),
  actions: () => Object.fromEntries(named),
  triggers: () => ({ polling, webhook, app }),
  events: {
    verify: ({ webhookSecret, payload }) => payload.headers["x-secret"] === webhookSecret,
    parseAndReply: ({ payload }) => ({
      event: payload.body.type,
      identifierValue: payload.body.team,
      reply: { headers: {}, body: payload.queryParams.challenge },
    }),
  },
};
