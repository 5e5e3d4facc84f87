"use strict";
const { PieceAuth, Property } = require("@activepieces/pieces-framework");
const { ask } = require("./provider");

const REGIONS = [
  { label: "Europe", value: "eu" },
  { label: "America", value: "us" },
];

/** One of each kind to choose from; the framework allows no two of a kind. */
exports.auth = [
  PieceAuth.OAuth2({
    displayName: "Sign in",
    description: "Sign in at **Workbench**.",
    required: true,
    authUrl: "https://{tenant}.workbench.example/authorize",
    tokenUrl: "https://{tenant}.workbench.example/token",
    scope: ["rows:read", "rows:write"],
    pkce: true,
    pkceMethod: "S256",
    authorizationMethod: "HEADER",
    prompt: "consent",
    extra: { audience: "api" },
    props: { tenant: Property.ShortText({ displayName: "Tenant", required: true }) },
  }),
  PieceAuth.SecretText({
    displayName: "API key",
    description: "Under *Settings*, choose API keys.",
    required: true,
    validate: async ({ auth }) => validated({ type: "SECRET_TEXT", secret_text: auth }),
  }),
  PieceAuth.BasicAuth({
    displayName: "User and password",
    required: true,
    username: { displayName: "User", description: "As you sign in." },
    password: { displayName: "Password" },
  }),
  PieceAuth.CustomAuth({
    displayName: "Token",
    required: true,
    props: {
      token: PieceAuth.SecretText({ displayName: "Token", required: true }),
      region: Property.StaticDropdown({
        displayName: "Region",
        required: true,
        defaultValue: "eu",
        options: { options: REGIONS },
      }),
      sandbox: Property.Checkbox({ displayName: "Sandbox", required: false }),
      limit: Property.Number({ displayName: "Limit", required: false }),
      note: Property.LongText({ displayName: "Note", required: false }),
    },
    validate: async ({ auth }) => validated({ type: "CUSTOM_AUTH", props: auth }),
  }),
];

async function validated(value) {
  try {
    await ask(value, "GET", "/me");
    return { valid: true };
  } catch {
    return { valid: false, error: "The workbench does not know this key." };
  }
}
