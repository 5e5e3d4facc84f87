// Files of a call: those that it was given become what the framework calls an ApFile, those that a piece writes go to
// the asker.
"use strict";

const path = require("path");

const MAX = 20 * 1024 * 1024;

/** A file as pieces know it. */
class ApFile {
  constructor(filename, data, extension) {
    this.filename = filename;
    this.data = data;
    this.extension = extension;
  }

  get base64() {
    return this.data.toString("base64");
  }
}

/** `value` with each `{"$file": name or address}` in it read into an ApFile. */
async function withFiles(value, call) {
  if (Array.isArray(value)) return Promise.all(value.map((member) => withFiles(member, call)));
  if (value === null || typeof value !== "object") return value;
  if (typeof value.$file === "string") return read(value.$file, call.fields.files ?? {});
  const members = Object.entries(value).map(async ([name, member]) => [name, await withFiles(member, call)]);
  return Object.fromEntries(await Promise.all(members));
}

async function read(reference, files) {
  const name = path.basename(reference);
  if (Object.hasOwn(files, name)) return apFile(name, Buffer.from(files[name], "base64"));
  const inline = /^data:[^,]*?(;base64)?,(.*)$/s.exec(reference);
  if (inline) return apFile("file", Buffer.from(inline[2], inline[1] ? "base64" : "utf8"));
  if (!/^https?:\/\//.test(reference)) throw new Error(`There is no file ${JSON.stringify(name)} in this call.`);
  return download(reference);
}

async function download(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`The file at ${new URL(address).host} could not be read: ${response.status}.`);
  const data = Buffer.from(await response.arrayBuffer());
  if (data.length > MAX) throw new Error("The file is larger than 20 MiB.");
  return apFile(path.basename(new URL(address).pathname) || "file", data);
}

function apFile(name, data) {
  return new ApFile(name, data, path.extname(name).slice(1) || undefined);
}

/** `files` of the context: `write` gives back where the file stands for the rest of the call. */
function filesOf(call) {
  return {
    async write({ fileName, data }) {
      const name = path.basename(String(fileName)) || "file";
      call.tell({ file: name, content: Buffer.from(data).toString("base64") });
      return `file://${name}`;
    },
  };
}

module.exports = { filesOf, withFiles };
