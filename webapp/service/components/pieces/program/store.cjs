// `store`: what a piece remembers. That of a trigger is kept for as long as it is deployed; that of an action for the user
// whose call it is. What stands under the id of the run is gone with that.
"use strict";

const PROJECT = "COLLECTION";
const MOST_KIB = 256; // as the asker keeps at most

class StoreFull extends Error {
  constructor() {
    super(`The store keeps at most ${MOST_KIB} KiB. Delete from it what is not needed any more.`);
    this.name = "StoreFull";
  }
}

/** The names of the state: those of the flow and of the project side by side. */
function nameOf(key, scope) {
  return `${scope === PROJECT ? "project" : "flow"}:${key}`;
}

/** The store of `call`, over the state that came with it. */
function storeOf(call) {
  const state = new Map(Object.entries(call.fields.state ?? {}));
  const set = (name, value) => {
    check(state, name, value);
    state.set(name, value);
    if (!name.includes(call.runId)) call.tell({ set: name, value });
  };
  return {
    async put(key, value, scope) {
      set(nameOf(key, scope), JSON.parse(JSON.stringify(value ?? null)));
      return value;
    },
    async get(key, scope) {
      return structuredClone(state.get(nameOf(key, scope)) ?? null);
    },
    async delete(key, scope) {
      set(nameOf(key, scope), null);
    },
  };
}

/** Throws where `state` with `value` under `name` is more than is kept. */
function check(state, name, value) {
  if (value === null) return;
  const text = JSON.stringify({ ...Object.fromEntries(state), [name]: value });
  if (Buffer.byteLength(text) > MOST_KIB * 1024) throw new StoreFull();
}

module.exports = { storeOf };
