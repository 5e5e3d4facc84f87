// Connections of Node without a socket: `net`, `tls`, `http`, `https`, `http2` and `fetch` go over channels, which the
// asker connects. TLS stays in this process: the asker sees what the wire would. What else opens sockets is closed.
"use strict";

const { isBuiltin } = require("module");
const net = require("net");
const tls = require("tls");
const http = require("http");
require("https");
require("http2");
const channels = require("./channels.cjs");
const { refusing, sealed } = require("./closing.cjs");
const { nameOf } = require("./names.cjs");

const CHANNEL = Symbol("channel");
const ANYWHERE = { address: "0.0.0.0", family: "IPv4", port: 0 };
const Bare = net.Socket;
const { _read, _write, _writev, _final, _destroy, resetAndDestroy, ref, unref } = Bare.prototype;
const bare = { _read, _write, _writev, _final, _destroy, resetAndDestroy, ref, unref };
const bareTlsConnect = tls.connect;
const { _normalizeArgs: normalize } = net;

/** A socket of a channel is a `net.Socket` without a handle: only what moves bytes differs. */
const overChannel = {
  connect(...args) {
    const [options, connected] = Array.isArray(args[0]) ? args[0] : normalize(args);
    if (this._handle) throw refusing("A TLS socket connects by tls.connect() only.");
    if (options.path) throw refusing("A piece has no way to a socket of this machine.");
    if (connected !== null && connected !== undefined) this.once("connect", connected);
    const host = String(options.host || "localhost");
    if (this.destroyed) reopened(this);
    this.connecting = true;
    this._host = host;
    this._peername = { address: host, family: "IPv4", port: Number(options.port) };
    this._sockname = ANYWHERE;
    try {
      Object.defineProperties(this, counters());
      this[CHANNEL] = channels.open(nameOf(host), checkedPort(options.port), ownerOf(this));
    } catch (error) {
      this.destroy(error);
    }
    return this;
  },

  _read(size) {
    if (!this[CHANNEL]) return bare._read.call(this, size);
    if (this.connecting) this.once("connect", () => this._read(size));
    else this[CHANNEL].resume();
  },

  _write(block, encoding, done) {
    if (!this[CHANNEL]) return bare._write.call(this, block, encoding, done);
    if (this.connecting) {
      this.once("connect", () => this._write(block, encoding, done));
      return;
    }
    const bytes = typeof block === "string" ? Buffer.from(block, encoding) : block;
    this._bytesDispatched += bytes.length;
    this._unrefTimer();
    if (bytes.length) this[CHANNEL].write(bytes, done);
    else done();
  },

  _writev(blocks, done) {
    if (!this[CHANNEL]) return bare._writev.call(this, blocks, done);
    const bytes = blocks.map(({ chunk, encoding }) =>
      typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk,
    );
    this._write(Buffer.concat(bytes), "buffer", done);
  },

  _final(done) {
    if (!this[CHANNEL]) return bare._final.call(this, done);
    if (this.connecting) {
      this.once("connect", () => this._final(done));
      return;
    }
    this[CHANNEL].finish();
    done();
  },

  _destroy(error, done) {
    this[CHANNEL]?.reset();
    return bare._destroy.call(this, error, done);
  },

  resetAndDestroy() {
    if (!this[CHANNEL]) return bare.resetAndDestroy.call(this);
    return this.destroy();
  },

  ref() {
    return this[CHANNEL] ? this : bare.ref.call(this);
  },

  unref() {
    return this[CHANNEL] ? this : bare.unref.call(this);
  },
};

/** Send every connection of this process over channels, from now on. */
function install() {
  Object.assign(Bare.prototype, overChannel);
  const Socket = sealed(Bare, ([options]) => {
    if (options?.fd !== undefined) throw refusing("A piece opens no descriptors as sockets.");
  });
  net.Socket = net.Stream = Socket;
  net.connect = net.createConnection = connect;
  tls.connect = tlsConnect;
  require("_tls_wrap").connect = tlsConnect;
  const TLSSocket = sealed(
    tls.TLSSocket,
    ([socket]) => {
      if (!socket) throw refusing("A TLS socket needs the connection that it is for.");
    },
    begun,
  );
  Object.setPrototypeOf(TLSSocket, Socket);
  if (isBuiltin("_stream_wrap")) Object.setPrototypeOf(require("_stream_wrap"), Socket);
  tls.TLSSocket = require("_tls_wrap").TLSSocket = TLSSocket;
  http.Agent.prototype.createConnection = connect;
  globalThis.fetch = tellingWhy(globalThis.fetch);
}

/** `fetch`, whose errors say why: pieces show the message alone, which is "fetch failed" for whatever went wrong. */
function tellingWhy(bareFetch) {
  return async function fetch(input, init) {
    try {
      return await bareFetch(input, init);
    } catch (error) {
      const cause = error?.cause?.message;
      if (cause && !error.message.includes(cause)) error.message = `${error.message}: ${cause}`;
      throw error;
    }
  };
}

/** The bytes that a socket counts; a bare one asks its handle for them. */
function counters() {
  const counter = () => ({ value: 0, writable: true, configurable: true });
  return { _bytesDispatched: counter(), bytesRead: counter() };
}

function connect(...args) {
  const normalized = normalize(args);
  const [options] = normalized;
  const socket = new net.Socket(options);
  if (options.timeout) socket.setTimeout(options.timeout);
  return socket.connect(normalized);
}

function tlsConnect(...args) {
  const [options, secured] = optionsOf(args);
  if (!options.socket) {
    options.socket = connect({ port: options.port, host: options.host, path: options.path, timeout: options.timeout });
    if (!options.servername && options.host && !net.isIP(options.host)) options.servername = options.host;
  }
  options.rejectUnauthorized ??= true; // whatever the environment says, which HTTP clients of pieces change
  return begun(bareTlsConnect(options, secured), options.socket);
}

/** TLS waits for a socket without a handle to connect; where that is a channel's and has connected, it begins. */
function begun(secure, socket) {
  secure._peername = socket._peername;
  if (!socket[CHANNEL] || socket.connecting || !secure.connecting) return secure;
  secure.connecting = false;
  if (secure.listeners("connect").includes(secure._start)) {
    secure.removeListener("connect", secure._start);
    secure._start();
  }
  return secure;
}

/** The arguments of tls.connect(): (options), (port, host, options) or (port, options), and a callback at the end. */
function optionsOf(args) {
  const [{ ...options }, secured] = normalize(args);
  const more = typeof args[1] === "object" ? args[1] : typeof args[2] === "object" ? args[2] : null;
  return [Object.assign(options, more), secured];
}

function ownerOf(socket) {
  return {
    opened() {
      if (socket.destroyed) return;
      socket.connecting = false;
      socket.emit("connect");
      socket.emit("ready");
      if (!socket.isPaused()) socket.read(0);
    },
    received(block) {
      if (socket.destroyed) return true;
      socket._unrefTimer();
      socket.bytesRead += block.length;
      return socket.push(block);
    },
    ended() {
      if (socket.destroyed) return;
      socket.push(null);
      socket.read(0);
    },
    failed(error) {
      socket.connecting = false;
      socket.destroy(error ?? undefined);
    },
  };
}

/** Make a socket that was closed ready to connect again. */
function reopened(socket) {
  delete socket.write;
  socket._undestroy();
  socket[CHANNEL] = null;
}

function checkedPort(port) {
  const number = Number(port);
  if (Number.isInteger(number) && number > 0 && number < 65536) return number;
  throw new RangeError(`${port} is no port to connect to.`);
}

module.exports = { install };
