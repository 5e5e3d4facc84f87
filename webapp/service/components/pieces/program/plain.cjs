// Values as JSON.
"use strict";

const { MAX_OUTPUT, tooMuch } = require("./call.cjs");

/** What the piece returned, as JSON can carry it. Throws an error of kind "result" or "output". */
function resultOf(value) {
  let text;
  try {
    text = JSON.stringify(value ?? null, (key, member) => (typeof member === "bigint" ? String(member) : member));
  } catch (error) {
    const sentence = `The piece returned something that JSON cannot carry: ${error.message.split("\n")[0]}`;
    throw Object.assign(new Error(sentence), { kind: "result", name: "ResultError" });
  }
  if (text === undefined) return null;
  if (text.length > MAX_OUTPUT) throw tooMuch("The piece returned more than 6 MiB. Ask for less.");
  return JSON.parse(text);
}

/** The members of an object of a piece that JSON can carry: functions and what holds itself are left out. */
function plain(value, depth = 0) {
  if (value === null || ["string", "boolean"].includes(typeof value)) return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "object" || depth > 20) return undefined;
  if (Array.isArray(value)) return value.map((member) => plain(member, depth + 1) ?? null);
  if (value instanceof Date) return value.toISOString();
  const members = Object.entries(value).map(([name, member]) => [name, plain(member, depth + 1)]);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}

module.exports = { plain, resultOf };
