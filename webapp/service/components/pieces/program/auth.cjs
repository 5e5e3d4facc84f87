// The account of a call, in the form that the piece knows: contexts of version 0 have plain values.
"use strict";

const { contextVersion } = require("./loading.cjs");
const { authsOf } = require("./describing.cjs");

/** `value` without what the framework wraps around it. */
function bare(value) {
  if (value?.type === "SECRET_TEXT") return value.secret_text;
  if (value?.type === "CUSTOM_AUTH" || value?.type === "OIDC") return value.props;
  return value;
}

/** What `context.auth` is for `piece`. */
function authOf(piece, value) {
  return (contextVersion(piece) ? value : bare(value)) ?? undefined;
}

/** Whether the account is good, as the piece says: `{valid, error}`. A piece that cannot say finds each good. */
async function validate(piece, fields, server) {
  const auths = authsOf(piece);
  const declared = auths[fields.index ?? auths.findIndex((auth) => auth.type === fields.auth?.type)] ?? auths[0];
  if (typeof declared?.validate !== "function") return { valid: true };
  const answer = await declared.validate({ auth: bare(fields.auth), server });
  return answer?.valid ? { valid: true } : { valid: false, error: String(answer?.error ?? "") };
}

module.exports = { authOf, validate };
