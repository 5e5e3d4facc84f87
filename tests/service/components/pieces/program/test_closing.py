"""A piece has no way out of Node but channels, and each closed way says so in a sentence."""

from pathlib import Path

import pytest

from tests.service.components.pieces.program.driver import Host

CLOSED = {
    "a program": "require('child_process').spawn('true')",
    "a program, waited for": "require('node:child_process').execFileSync('true')",
    "a copy of itself": "require('cluster').fork()",
    "a thread": "new (require('worker_threads').Worker)('1', { eval: true })",
    "a thread for loaders": "require('module').register('data:text/javascript,')",
    "a datagram": "require('dgram').createSocket('udp4')",
    "a datagram, by class": "new (require('dgram').Socket)('udp4')",
    "a server": "require('net').createServer().listen(0)",
    "a web server": "require('http').createServer().listen(0)",
    "a server from inside": "require('net').createServer()._listen2('0.0.0.0', 0, 4, 1)",
    "a handle": "require('net')._createServerHandle('127.0.0.1', 0, 4)",
    "a socket of the machine": "require('net').connect('/run/docker.sock')",
    "a socket of the machine, by http": "require('http').get({ socketPath: '/run/docker.sock' })",
    "a descriptor": "new (require('net').Socket)({ fd: 3 })",
    "a descriptor, connecting": "require('net').connect({ fd: 3, port: 1 })",
    "a descriptor, by prototype": "new (require('net').Socket.prototype.constructor)({ fd: 3 })",
    "a descriptor, by inheritance": "new (Object.getPrototypeOf(require('tls').TLSSocket))({ fd: 3 })",
    "a descriptor, from inside TLS": """
        const duplex = new (require('stream').Duplex)({ read() {}, write() {} });
        const { constructor } = require('tls').connect({ socket: duplex }).on('error', () => {})._handle._parentWrap;
        new (Object.getPrototypeOf(constructor))({ fd: 3 })""",
    "a descriptor, by what a piece changed": """
        const { apply } = Reflect;
        try {
            let stolen = require('net').Socket;
            Reflect.apply = (work, self, args) => (stolen = work, apply(work, self, args));
            new (require('net').Socket)();
            new stolen({ fd: 3 });
        } finally { Reflect.apply = apply }""",
    "a catcher of all errors": "process.setUncaughtExceptionCaptureCallback(() => {})",
    "a terminal": "new (require('tty').ReadStream)(3)",
    "a handle of TLS": "new (require('tls').TLSSocket)()",
    "a debugger": "require('inspector').open(0)",
    "a debugger's session": "new (require('inspector').Session)().connect()",
    "the inside of Node": "process.binding('tcp_wrap')",
    "the inside of Node, linked": "process._linkedBinding('tcp_wrap')",
    "flags": "require('v8').setFlagsFromString('--expose-internals')",
    "native code": "process.dlopen({ exports: {} }, '/usr/lib/x.node')",
    "native code, required": "require('module')._extensions['.node']({ exports: {} }, '/usr/lib/x.node')",
    "WASI": "new (require('wasi').WASI)({ version: 'preview1' })",
    "the end of the process": "process.exit(0)",
    "a signal": "process.kill(process.ppid, 'SIGTERM')",
    "an abort": "process.abort()",
}


@pytest.mark.parametrize("code", CLOSED.values(), ids=CLOSED.keys())
def test_a_way_out_is_closed_and_says_so(host: Host, code: str) -> None:
    outcome = host.run("evaluate", props={"code": code})
    assert outcome.error is not None
    assert outcome.error["name"] == "NotHere"
    assert outcome.error["message"].startswith("A ")
    assert outcome.hosts == []


@pytest.mark.parametrize(
    "question",
    [
        "promisify(dns.resolve4)('far.test')",
        "dns.promises.resolveTxt('far.test')",
        "promisify((...args) => new dns.Resolver().resolve4(...args))('far.test')",
        "new dns.promises.Resolver().resolveMx('far.test')",
        "promisify(dns.reverse)('127.0.0.1')",
        "promisify(dns.lookupService)('127.0.0.1', 80)",
        "dns.resolveSrv('far.test')",
    ],
)
def test_no_name_server_is_asked(host: Host, question: str) -> None:
    code = f"const dns = require('dns'), {{ promisify }} = require('util'); await {question}"
    outcome = host.run("evaluate", props={"code": code})
    assert outcome.error is not None
    assert outcome.error["name"] == "NoNameServer"


LOOKS = {
    "handles": "process._getActiveHandles().length + process._getActiveRequests().length",
    "hooks": """(() => {
        const seen = [];
        require('async_hooks').createHook({ init: (id, type, trigger, resource) => seen.push(resource) }).enable();
        require('net').connect(7, 'echo.test').on('error', () => {}).destroy();
        return seen.length;
    })()""",
    "the resource of a listener": """await new Promise((resolve) => {
        const socket = require('net').connect(7, 'echo.test');
        const look = () => Object.keys(require('async_hooks').executionAsyncResource()).length;
        socket.on('connect', () => resolve(look())).on('error', () => {});
    })""",
    "standard input": "(await process.stdin.toArray()).length",
}


@pytest.mark.parametrize("code", LOOKS.values(), ids=LOOKS.keys())
def test_the_handles_of_the_program_are_not_to_be_seen(host: Host, code: str) -> None:
    assert host.run("evaluate", props={"code": f"return {code}"}).value == 0


def test_nothing_in_reach_opens_sockets(host: Host) -> None:
    value = host.run("evaluate", props={"code": (Path(__file__).parent / "reach.js").read_text()}).value
    assert value["seen"] > 4_000
    assert value["waysOut"] == []


def test_modules_by_import_are_closed_alike(host: Host) -> None:
    code = "const { spawn } = await import('node:child_process'); spawn('true')"
    error = host.run("evaluate", props={"code": code}).error
    assert error is not None
    assert error["name"] == "NotHere"
