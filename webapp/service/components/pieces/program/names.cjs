// Names of hosts. None is looked up here: `dns.lookup` answers with an address that stands for the name, for clients
// that look up before they connect (SMTP, gRPC), and a connection to it is asked for by the name. What asks a name server
// fails as if that did not know the question, which is when such clients fall back to `dns.lookup`.
"use strict";

const net = require("net");

const MOST = 100_000; // of 198.18.0.0/15, which belongs to no host (RFC 2544)
const addresses = new Map();
const names = new Map();

/** The name that `host` stands for; `host` itself where it stands for none. */
function nameOf(host) {
  return names.get(host) ?? host;
}

/** The address that stands for `name`. */
function addressOf(name) {
  if (net.isIP(name)) return { address: name, family: net.isIP(name) };
  if (!addresses.has(name)) {
    const number = (addresses.size % MOST) + 1;
    const address = `198.${18 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
    addresses.set(name, address);
    names.set(address, name);
  }
  return { address: addresses.get(name), family: 4 };
}

/** As dns.lookup(): the options may be a number or left out. */
function lookup(name, options, done = options) {
  const { address, family } = addressOf(String(name || "localhost").toLowerCase());
  if (options?.all) process.nextTick(done, null, [{ address, family }]);
  else process.nextTick(done, null, address, family);
}

/** As dns.promises.lookup(). */
async function lookupPromise(name, options) {
  const answer = addressOf(String(name || "localhost").toLowerCase());
  return options?.all ? [answer] : answer;
}

class NoNameServer extends Error {
  constructor() {
    super("A piece asks no name servers here: connect to the name, which is looked up for it.");
    this.name = "NoNameServer";
    this.code = "ENOTIMP";
  }
}

/** A question to a name server: it fails as one does that such a server refuses. */
function refuse(...args) {
  const done = args.at(-1);
  if (typeof done !== "function") throw new NoNameServer();
  process.nextTick(done, new NoNameServer());
}

/** The same as a promise. */
async function refusePromise() {
  throw new NoNameServer();
}

/** A class of resolvers, whose questions `refuseOne` refuses. */
function resolverOf(names, refuseOne) {
  class Resolver {
    cancel() {}
    setServers() {}
    setLocalAddress() {}
    getServers() {
      return [];
    }
  }
  for (const name of names) Resolver.prototype[name] = refuseOne;
  return Resolver;
}

/** Answer look-ups, and refuse questions to name servers, from now on. */
function install() {
  const dns = require("dns");
  settle(dns, refuse, lookup);
  settle(dns.promises, refusePromise, lookupPromise);
}

function settle(holder, refuseOne, look) {
  const questions = Object.keys(holder).filter((name) => /^(resolve|reverse|lookupService)/.test(name));
  for (const name of questions) holder[name] = refuseOne;
  const empty = {
    lookup: look,
    Resolver: resolverOf(questions, refuseOne),
    getServers: () => [],
    setServers: () => {},
  };
  Object.assign(holder, empty);
}

module.exports = { install, nameOf };
