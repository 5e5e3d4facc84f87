// The client of npm's @modelcontextprotocol/sdk, unmodified: does what each line of its input says, one JSON a line.
import { createInterface } from "node:readline";

const [sdk, url, headers, opensLinks] = process.argv.slice(2);
const { Client } = await import(`${sdk}/client/index.js`);
const { StreamableHTTPClientTransport } = await import(`${sdk}/client/streamableHttp.js`);
const { ElicitRequestSchema } = await import(`${sdk}/types.js`);

const tell = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const capabilities = opensLinks === "true" ? { elicitation: { url: {} } } : {};
const client = new Client({ name: "npm-client", version: "1" }, { capabilities });

const does = {
  list: async ({ cursor }) => await client.listTools(cursor ? { cursor } : {}),
  call: async ({ name, values, cancelAfter }) => {
    const progress = [];
    const stop = new AbortController();
    if (cancelAfter) setTimeout(() => stop.abort("enough"), cancelAfter);
    const options = { onprogress: (step) => progress.push(step), signal: stop.signal };
    return { ...(await client.callTool({ name, arguments: values }, undefined, options)), progress };
  },
};

if (opensLinks === "true") {
  client.setRequestHandler(ElicitRequestSchema, async (request) => {
    tell({ asks: request.params });
    return JSON.parse((await lines.next()).value);
  });
}

const saved = {};
const provider = {
  redirectUrl: "http://localhost:5005/callback",
  clientMetadata: { client_name: "Desk Helper", redirect_uris: ["http://localhost:5005/callback"] },
  clientInformation: () => saved.client,
  saveClientInformation: (information) => (saved.client = information),
  tokens: () => saved.tokens,
  saveTokens: (tokens) => (saved.tokens = tokens),
  codeVerifier: () => saved.verifier,
  saveCodeVerifier: (verifier) => (saved.verifier = verifier),
  redirectToAuthorization: (address) => tell({ opens: address }),
};
const signsIn = headers === "null";
const options = signsIn ? { authProvider: provider } : { requestInit: { headers: JSON.parse(headers) } };
const transport = () => new StreamableHTTPClientTransport(new URL(url), options);
if (signsIn) {
  const first = transport();
  await client.connect(first).catch((error) => {
    if (error.constructor.name !== "UnauthorizedError") throw error;
  });
  await first.finishAuth(JSON.parse((await lines.next()).value).code);
}
await client.connect(transport());
tell({ server: client.getServerVersion(), instructions: client.getInstructions() });
for (let line = await lines.next(); !line.done; line = await lines.next()) {
  const order = JSON.parse(line.value);
  try {
    tell(await does[order.do](order));
  } catch (error) {
    tell({ error: { code: error.code ?? null, message: error.message } });
  }
}
await client.close();
