// Loads the package of a piece, and finds in it the piece: the object that has `actions()` and `triggers()`.
"use strict";

const { createRequire } = require("module");
const path = require("path");
const { pathToFileURL } = require("url");

class LoadError extends Error {
  constructor(sentence) {
    super(sentence);
    this.name = "LoadError";
    this.kind = "load";
  }
}

/** The piece of the package `name` below the npm prefix `folder`. Throws LoadError, whose message is a sentence. */
async function load(folder, name) {
  const require = createRequire(path.join(folder, "package.json"));
  return pieceOf(await main(require, name, path.join(folder, "node_modules", name)));
}

async function main(require, name, root) {
  try {
    return require(name);
  } catch (error) {
    if (error?.code !== "ERR_REQUIRE_ESM") throw unloadable(error, root);
    return import(pathToFileURL(require.resolve(name)).href).catch((other) => {
      throw unloadable(other, root);
    });
  }
}

function unloadable(error, root) {
  const [line] = String(error?.message ?? error).split("\n");
  const sentence = `The package could not be loaded: ${line}${placeOf(error, root)}`;
  return Object.assign(new LoadError(sentence), { stack: error?.stack });
}

/** Where in the package's own files an error stands, for its author; empty where it stands in none. */
function placeOf(error, root) {
  const places = String(error?.stack ?? "")
    .split(`${root}${path.sep}`)
    .slice(1);
  const [, file, number] = places.map((place) => /^([^\n:()]+):(\d+)/.exec(place)).find(Boolean) ?? [];
  return file ? ` (${file}, line ${number})` : "";
}

function pieceOf(exported) {
  const values = [exported, ...Object.values(exported ?? {}), ...Object.values(exported?.default ?? {})];
  const piece = values.find((value) => isFunction(value?.actions) && isFunction(value?.triggers));
  if (piece) return piece;
  if (values.some((value) => value?.displayName && (value.actions || value._actions || value.triggers))) {
    throw new LoadError("The package is too old: it is built for an early framework. Ask for a newer version of it.");
  }
  throw new LoadError("The package is no piece: nothing that it exports has actions and triggers.");
}

/** The version of the contexts that `piece` expects: 2, 1, or 0 where it says nothing. */
function contextVersion(piece) {
  return isFunction(piece.getContextInfo) ? Number(piece.getContextInfo()?.version) || 0 : 0;
}

function isFunction(value) {
  return typeof value === "function";
}

module.exports = { LoadError, contextVersion, load };
