// What of an error goes to the asker: a sentence, the status of an HTTP answer where it carries one, and the frames of
// the piece's own files.
"use strict";

const EXCERPT = 500;
const MOST = 8_000;
const KINDS = ["load", "result", "output"];

/** `error` as a message of the call; `root` is the folder of the piece. */
function errorMessage(error, root) {
  try {
    return messageOf(error, root);
  } catch {
    return messageOf(new Error("The piece failed with an error that cannot be read."), root);
  }
}

function messageOf(error, root) {
  const status = statusOf(error);
  const kind = KINDS.includes(error?.kind) ? error.kind : status === undefined ? "exception" : "http";
  return {
    error: {
      kind,
      name: nameOf(error),
      message: sentenceOf(error).slice(0, MOST),
      stack: stackOf(error, root),
      status,
    },
  };
}

function nameOf(error) {
  return String(error?.name || error?.constructor?.name || "Error");
}

/** The status that the provider answered: axios, HttpError of pieces-common, Octokit, SDKs. */
function statusOf(error) {
  const candidates = [
    error?.response?.status,
    error?.response?.statusCode,
    error?.status,
    error?.statusCode,
    error?.code,
  ];
  return candidates.find((status) => Number.isInteger(status) && status >= 100 && status < 600);
}

function sentenceOf(error) {
  if (typeof error === "string") return error;
  const body = error?.response?.body ?? error?.response?.data ?? error?.data;
  const status = statusOf(error);
  if (error?.response && status !== undefined && body !== undefined) {
    return `The provider answered ${status}: ${excerpt(body)}`;
  }
  const message = typeof error?.message === "string" ? error.message : excerpt(error);
  const cause = error?.cause?.message ?? error?.errors?.[0]?.message;
  if (!cause || message.includes(cause)) return message || nameOf(error);
  return message ? `${message}: ${cause}` : String(cause);
}

function excerpt(body) {
  let text = "";
  try {
    text = typeof body === "string" ? body : JSON.stringify(body);
  } catch {
    text = String(body);
  }
  text = (text || "(nothing)").trim();
  return text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text;
}

function stackOf(error, root) {
  const frames = String(error?.stack ?? "").split("\n");
  const own = frames.filter((line) => /^\s+at /.test(line) && line.includes(root));
  return own
    .map((line) => line.trim().replaceAll(`${root}/`, ""))
    .join("\n")
    .slice(0, MOST);
}

module.exports = { errorMessage, sentenceOf };
