"use strict";
const BASE = "https://api.workbench.example";

/** Asks the provider, with the credential that `auth` is. */
async function ask(auth, method, path, body) {
  const headers = { accept: "application/json", ...credential(auth) };
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(`${BASE}${path}`, { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) {
    const error = new Error(`The workbench answered ${response.status}: ${text}`);
    error.response = { status: response.status, body: text };
    throw error;
  }
  return text ? JSON.parse(text) : null;
}

function credential(auth) {
  switch (auth?.type) {
    case "OAUTH2":
      return { authorization: `Bearer ${auth.access_token}` };
    case "SECRET_TEXT":
      return { "x-api-key": auth.secret_text };
    case "BASIC_AUTH":
      return { authorization: `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString("base64")}` };
    case "CUSTOM_AUTH":
      return { "x-token": auth.props.token, "x-region": auth.props.region };
    default:
      return {};
  }
}

module.exports = { BASE, ask };
