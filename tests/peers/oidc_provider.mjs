// A certified OpenID provider for the tests, on a free loopback port. Prints {"issuer": …} when it answers.
//
//   node oidc_provider.mjs <index.js of oidc-provider> <JSON: clients, jwks key is made here>
//
// Everybody signs in as Ada and consents. Beside the provider's own endpoints:
//   GET  /_test/events             what happened, as [{name, grant_type}]
//   POST /_test/later?seconds=N    move the provider's clock forward

import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const [index, given] = process.argv.slice(2);
const { clients } = JSON.parse(given);
const { Provider } = await import(pathToFileURL(index).href);

let ahead = 0;
const clock = Date.now;
Date.now = () => clock() + ahead;

const events = [];
const ada = { email: "ada@example.com", email_verified: true, groups: ["staff"] };
const server = createServer();
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const issuer = `http://127.0.0.1:${server.address().port}`;

const { privateKey } = await crypto.subtle.generateKey(
  { name: "RSASSA-PKCS1-v1_5", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" },
  true,
  ["sign", "verify"],
);
const key = await crypto.subtle.exportKey("jwk", privateKey);

const provider = new Provider(issuer, {
  clients,
  jwks: { keys: [{ ...key, use: "sig", alg: "RS256" }] },
  cookies: { keys: [crypto.randomUUID()] },
  pkce: { required: () => true },
  rotateRefreshToken: true,
  issueRefreshToken: async () => true,
  ttl: { AccessToken: 60, AuthorizationCode: 60, IdToken: 60, RefreshToken: 86400, Grant: 86400, Session: 86400, Interaction: 600 },
  claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"], groups: ["groups"] },
  findAccount: async (_, id) => ({ accountId: id, claims: async () => ({ sub: id, name: "Ada", ...ada }) }),
  features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
});

for (const name of ["grant.success", "grant.error", "grant.revoked", "authorization.error"]) {
  provider.on(name, (ctx) => events.push({ name, grant_type: ctx?.oidc?.params?.grant_type ?? null }));
}

async function consent(request, response) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  if (prompt.name === "login") {
    return provider.interactionFinished(request, response, { login: { accountId: "ada" } });
  }
  const grant = grantId
    ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  const result = { consent: { grantId: await grant.save() } };
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

const handle = provider.callback();
server.on("request", async (request, response) => {
  const url = new URL(request.url, issuer);
  if (url.pathname === "/_test/events") return response.end(JSON.stringify(events));
  if (url.pathname === "/_test/later") {
    ahead += Number(url.searchParams.get("seconds")) * 1000;
    return response.end("{}");
  }
  if (!url.pathname.startsWith("/interaction/")) return handle(request, response);
  try {
    return await consent(request, response);
  } catch (error) {
    response.statusCode = 500;
    return response.end(String(error?.stack ?? error));
  }
});
process.stdout.write(`${JSON.stringify({ issuer })}\n`);
