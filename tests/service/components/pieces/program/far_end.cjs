// The far end of the tests' connections: plain Node with HTTP/1.1, HTTP/2 over TLS, and raw bytes. Prints its ports.
"use strict";

const http = require("http");
const http2 = require("http2");
const net = require("net");
const fs = require("fs");

const [pem, unknown] = process.argv.slice(2).map((file) => fs.readFileSync(file));
const BIG = Buffer.alloc(20 * 1024 * 1024, "0123456789abcdef");
let connections = 0;

function answer(request, response) {
  const { pathname } = new URL(request.url, "http://far.test");
  if (pathname === "/big") return response.end(BIG);
  if (pathname === "/slow") return setTimeout(() => response.end("late"), 2000).unref();
  if (pathname === "/cut") return request.socket.destroy();
  const status = Number(/^\/status\/(\d+)$/.exec(pathname)?.[1] ?? 200);
  let size = 0;
  const blocks = [];
  request.on("data", (block) => {
    size += block.length;
    if (size < 4096) blocks.push(block);
  });
  request.on("end", () => {
    response.writeHead(status, { "content-type": "application/json" });
    const body = Buffer.concat(blocks).toString();
    const { httpVersion, method, headers } = request;
    response.end(JSON.stringify({ connections, version: httpVersion, method, host: headers.host, size, body }));
  });
}

const servers = {
  http: http.createServer(answer),
  tls: http2.createSecureServer({ key: pem, cert: pem, allowHTTP1: true }, answer),
  unknown: http2.createSecureServer({ key: unknown, cert: unknown, allowHTTP1: true }, answer),
  echo: net.createServer({ allowHalfOpen: true }, (socket) => {
    const blocks = [];
    socket.on("data", (block) => blocks.push(block));
    socket.on("end", () => socket.end(Buffer.concat(blocks).reverse()));
    socket.on("error", () => {});
  }),
};
servers.http.on("connection", () => connections++);
servers.tls.on("secureConnection", () => connections++);

const listening = Object.entries(servers).map(([name, server]) => {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve([name, server.address().port])));
});
Promise.all(listening).then((ports) => console.log(JSON.stringify(Object.fromEntries(ports))));
process.stdin.on("end", () => process.exit()).resume();
