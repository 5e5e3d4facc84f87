// Looks at everything that a piece can come to from modules, globals and its connections, and returns the paths to what
// opens sockets or processes: handles of the inside of Node, and the sockets' own class. It runs in an action.
const { builtinModules } = require("module");
const { once } = require("events");
const [http, http2, net, tls] = ["http", "http2", "net", "tls"].map(require);

const HANDLES = new Set([
  "TCP",
  "Pipe",
  "TTY",
  "UDP",
  "Process",
  "Worker",
  "ChannelWrap",
  "TCPConnectWrap",
  "PipeConnectWrap",
]);
const DEPTH = 10;

async function connections() {
  const plain = net.connect(7, "echo.test");
  const secure = tls.connect({ host: "far.test", port: 443, ALPNProtocols: ["http/1.1"] });
  const session = http2.connect("https://far.test");
  const request = http.get("http://far.test/");
  const [[response]] = await Promise.all([
    once(request, "response"),
    ...[once(plain, "connect"), once(secure, "secureConnect"), once(session, "connect")],
  ]);
  return { plain, secure, session, request, response, server: http.createServer(), tlsServer: tls.createServer() };
}

function modules() {
  const names = [...builtinModules, "node:sqlite", "node:test", "node:sea"];
  return Object.fromEntries(names.map((name) => [name, attempt(() => require(name))]));
}

function attempt(work, otherwise = null) {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

/** A promise that a getter refuses by is nobody's failure. */
function settled(value) {
  if (value instanceof Promise) value.catch(() => {});
  return value;
}

function* members(value) {
  for (const key of Reflect.ownKeys(value)) {
    const { value: member, get, set } = Reflect.getOwnPropertyDescriptor(value, key);
    yield* [member, get, set].map((each) => [String(key), each]);
    if (get) yield [String(key), attempt(() => settled(Reflect.apply(get, value, [])))];
  }
  yield ["(prototype)", Object.getPrototypeOf(value)];
  if (value instanceof Map || value instanceof Set) for (const each of value) yield ["(member)", each];
}

function isWayOut(value) {
  if (typeof value === "function") return value.name === "Socket" && !String(value).includes("check(");
  return HANDLES.has(attempt(() => value.constructor?.name));
}

const roots = { globalThis, process, require, ...modules(), ...(await connections()) };
const queue = Object.entries(roots).map(([name, value]) => [[name], value]);
const seen = new Set();
const waysOut = [];
for (const [path, value] of queue) {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) continue;
  seen.add(value);
  if (isWayOut(value)) waysOut.push(path.join("."));
  if (path.length > DEPTH) continue;
  for (const [name, member] of attempt(() => [...members(value)], [])) queue.push([[...path, name], member]);
}
return { seen: seen.size, waysOut };
