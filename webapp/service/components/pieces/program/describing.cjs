// The description of a piece: all that can be said of it without calling the provider, as plain JSON. What is a
// function in the piece is a flag here.
"use strict";

const fs = require("fs");
const path = require("path");
const { contextVersion } = require("./loading.cjs");
const { plain } = require("./plain.cjs");
const { wants } = require("./wants.cjs");

const LANGUAGE = /^([a-z]{2,3}(?:-[A-Za-z]+)?)\.json$/;

/** The description of `piece`, whose package lies in `root`. */
function describe(piece, root) {
  const { name, version } = readJson(path.join(root, "package.json"));
  return {
    name,
    version,
    ...plain(pick(piece, ["displayName", "description", "logoUrl", "authors", "categories", "deprecated"])),
    ...plain(pick(piece, ["minimumSupportedRelease", "maximumSupportedRelease"])),
    contextInfo: { version: contextVersion(piece) },
    auth: authsOf(piece).map(auth),
    actions: mapped(piece.actions(), action),
    triggers: mapped(piece.triggers(), trigger),
    events: events(piece.events),
    i18n: translations(root),
  };
}

/** The kinds of authentication that `piece` offers. */
function authsOf(piece) {
  return (Array.isArray(piece.auth) ? piece.auth : [piece.auth]).filter(Boolean);
}

function auth(declared) {
  return {
    ...plain({ ...declared, props: undefined }),
    props: declared.props && properties(declared.props),
    hasValidate: isFunction(declared.validate),
    hasConnectionIdentifier: isFunction(declared.getConnectionIdentifier),
  };
}

function action(declared) {
  return {
    ...plain({ ...declared, props: undefined, sampleData: undefined }),
    requireAuth: declared.requireAuth !== false,
    props: properties(declared.props),
    wants: wants(declared.run),
  };
}

function trigger(declared) {
  return {
    ...plain({ ...declared, props: undefined }),
    requireAuth: declared.requireAuth !== false,
    props: properties(declared.props),
    hasTest: declared.testStrategy ? declared.testStrategy === "TEST_FUNCTION" : isFunction(declared.test),
    hasRenew: isFunction(declared.onRenew) && declared.renewConfiguration?.strategy === "CRON",
    wants: wants(declared.run, declared.onEnable, declared.onDisable),
  };
}

/** The properties of `props` as JSON, by name. */
function properties(props) {
  return mapped(props ?? {}, property);
}

function property(declared) {
  const { properties: rows, props, options, auth: ofPiece, ...rest } = declared;
  const described = plain(rest);
  if (isFunction(options)) described.hasOptions = true;
  else if (options !== undefined) described.options = plain(options);
  if (isFunction(props)) described.isDynamic = true;
  if (rows) described.properties = properties(rows);
  return described;
}

function events(processors) {
  if (!processors) return null;
  return { verify: isFunction(processors.verify), parseAndReply: isFunction(processors.parseAndReply) };
}

/** What the package says in other languages; `translation.json` is the English that they are made of. */
function translations(root) {
  const folder = path.join(root, "src", "i18n");
  const files = (orNull(() => fs.readdirSync(folder)) ?? []).filter((file) => LANGUAGE.test(file)).sort();
  const sentences = files.map((file) => [LANGUAGE.exec(file)[1], orNull(() => readJson(path.join(folder, file)))]);
  return Object.fromEntries(sentences.filter(([, read]) => read));
}

function readJson(file) {
  return JSON.parse(fs.readFileSync(file, "utf8"));
}

function orNull(work) {
  try {
    return work();
  } catch {
    return null;
  }
}

function mapped(members, map) {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, map(member)]));
}

function pick(object, names) {
  return Object.fromEntries(names.map((name) => [name, object[name]]));
}

function isFunction(value) {
  return typeof value === "function";
}

module.exports = { authsOf, describe, properties };
