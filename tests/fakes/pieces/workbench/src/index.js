"use strict";
/** A piece that has every kind of prop, auth, trigger and context call, against a provider that the tests play. */
const { createHmac, timingSafeEqual } = require("node:crypto");
const { createPiece } = require("@activepieces/pieces-framework");
const { actions } = require("./actions");
const { auth } = require("./auth");
const { triggers } = require("./triggers");

exports.workbench = createPiece({
  displayName: "Workbench",
  description: "Tries everything that a piece may do.",
  logoUrl: "https://cdn.workbench.example/logo.png",
  authors: ["patchbay"],
  categories: ["DEVELOPER_TOOLS"],
  auth,
  events: { parseAndReply, verify },
  actions,
  triggers,
});

/** Whose event it is, and which; a handshake gets its answer. */
function parseAndReply({ payload }) {
  const { body } = payload;
  if (body.type === "handshake")
    return { reply: { headers: { "x-answered": "yes" }, body: { challenge: body.challenge } } };
  return { event: body.type, identifierValue: body.team };
}

function verify({ payload, webhookSecret, appWebhookUrl }) {
  const signed = createHmac("sha256", webhookSecret).update(`${appWebhookUrl}${payload.rawBody}`).digest("hex");
  const sent = String(payload.headers["x-workbench-signature"] ?? "");
  return sent.length === signed.length && timingSafeEqual(Buffer.from(sent), Buffer.from(signed));
}
