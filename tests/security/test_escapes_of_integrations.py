"""Code of an integration from npm that means harm: it takes nothing that it was not given, and reaches nobody.

All of it runs in one process of Node, with the program and the confinement that integrations have.
"""

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.security.test_escapes import needs
from tests.service.components.pieces.program.conftest import install
from webapp.service.components.calls import Call, PieceBounds, Reply
from webapp.service.components.pieces import node
from webapp.service.components.pieces.channels import Reach
from webapp.service.components.pieces.conversation import Conversation, Request
from webapp.service.components.reply_builder import ReplyBuilder
from webapp.service.components.runner import Runner

PIECE = """
const AsyncFunction = (async () => {}).constructor;
const fs = require("fs");
const call = (code) => new AsyncFunction("fs", "require", code)(fs, require);
const run = ({ propsValue }) => call(propsValue.code);
exports.evil = { actions: () => ({ run: { name: "run", props: {}, run } }), triggers: () => ({}) };
"""
EACH = """
const outcomes = {};
for (const code of %s) {
  try {
    outcomes[code] = `DONE ${await new (async () => {}).constructor("fs", "require", code)(fs, require)}`;
  } catch (error) {
    outcomes[code] = String(error.code ?? error.message);
  }
}
return outcomes;
"""
CONNECTED = (
    "new Promise((done, no) => {{ const s = require('net').connect({}); s.on('connect', done); s.on('error', no) }})"
)
BOUNDS = PieceBounds(processes=2, memory_mb=64, idle_s=30)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    if node.find() is None and "CI" not in os.environ:
        pytest.skip(node.MISSING)
    with Runner.start() as started:
        yield started


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a key, a database and a package that means harm."""
    for name in ("keys", "patchbay.db"):
        (tmp_path / name).write_text("canary")
    (tmp_path / "pieces").mkdir()
    install(tmp_path / "pieces", PIECE, "evil")
    return tmp_path


def ask(runner: Runner, data: Path, code: str, user: str = "ada", deadline_s: float = 10.0) -> Reply:
    content = {"method": "run", "kind": "action", "name": "run", "props": {"code": code}, "user": user}
    request = Request(data / "pieces", "evil", content, Reach(), user, deadline_s)
    return Conversation(request, ReplyBuilder(Call("", deadline_s=deadline_s)), runner.line, BOUNDS).hold()


def succeeded(runner: Runner, data: Path, *works: str) -> dict[str, str]:
    reply = ask(runner, data, EACH % json.dumps(works))
    assert reply.error is None, reply.error
    assert set(reply.value) == set(works)
    return {work: outcome for work, outcome in reply.value.items() if outcome.startswith("DONE")}


@needs("files", "processes", "calls")
def test_nothing_is_read_written_or_watched_that_was_not_given(runner: Runner, data: Path) -> None:
    key, own = data / "keys", os.getpid()
    before = [path.stat() for path in (key, data)]
    assert succeeded(
        runner, data,
        f"return fs.readFileSync('{key}', 'utf8')",
        f"return fs.readFileSync('{data}/patchbay.db', 'utf8')",
        f"return fs.readdirSync('{data}')",
        f"return fs.opendirSync('{data}').readSync().name",
        f"return require('module').createRequire('{data}/x.js')('./keys')",
        f"return (await import('{key}')).default",
        f"fs.symlinkSync('{key}', 'link'); return fs.readFileSync('link', 'utf8')",
        f"fs.linkSync('{key}', 'hard'); return 1",
        f"fs.copyFileSync('{key}', 'copy'); return 1",
        f"fs.renameSync('{key}', 'moved'); return 1",
        f"fs.truncateSync('{key}'); return 1",
        f"fs.rmSync('{key}'); return 1",
        f"fs.writeFileSync('{data}/pieces/.npmrc', 'x'); return 1",
        f"fs.writeFileSync('{data}/pieces/package.json', 'x'); return 1",
        f"fs.writeFileSync('{data}/pieces/node_modules/evil/src/index.js', 'x'); return 1",
        f"return new Promise((done, no) => fs.watch('{data}').on('error', no).on('change', done))",
        f"return fs.readFileSync('/proc/{own}/environ').length",
        f"return fs.readlinkSync('/proc/{own}/cwd')",
        "return fs.readFileSync(`/proc/${process.ppid}/environ`).length",
        "return fs.readFileSync(`/proc/${process.ppid}/mem`).length",
        "return fs.readdirSync('/proc').length",
        "return fs.readdirSync('..').length",
        "return fs.readdirSync('/etc').length",
        "return fs.readdirSync('/usr/local').length",
        "return fs.readFileSync('/etc/passwd').length",
        "fs.writeFileSync('/dev/shm/x', ''); return 1",
        "fs.writeFileSync('/proc/self/oom_score_adj', '-1000'); return 1",
        "require('os').setPriority(1, 0); return 1",
        "process.setuid(0); return 1",
    ) == {}  # fmt: skip
    ask(runner, data, f"fs.chmodSync('{key}', 0o777)")
    ask(runner, data, f"fs.chmodSync('{data}', 0)")
    ask(runner, data, f"fs.utimesSync('{key}', 1, 1)")
    after = [path.stat() for path in (key, data)]
    assert [(each.st_mode, each.st_mtime) for each in after] == [(each.st_mode, each.st_mtime) for each in before]


@needs("network", "programs")
def test_nobody_is_reached_signalled_or_started(runner: Runner, data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(data / "s"))
        local.listen()
        port = server.getsockname()[1]
        assert succeeded(
            runner, data,
            *(f"return {CONNECTED.format(json.dumps({'host': host, 'port': port}))}" for host in (
                "127.0.0.1", "localhost", "::1", "0.0.0.0", "2130706433", "::ffff:127.0.0.1", "169.254.169.254",
            )),
            f"return {CONNECTED.format(json.dumps({'path': str(data / 's')}))}",
            f"return (await fetch('http://127.0.0.1:{port}/')).status",
            "return new (require('net').Socket)({ fd: 3 }).fd",
            "return require('dgram').createSocket('udp4')",
            "return require('net').createServer().listen(0)",
            "return require('http').createServer().listen(0)",
            "return new Promise((done, no) => require('dns').resolve('example.com', (e, a) => (e ? no(e) : done(a))))",
            "return new (require('dns').Resolver)().resolve4('example.com')",
            "return require('child_process').execSync('id')",
            "return require('child_process').fork('x')",
            "return require('cluster').fork()",
            "return new (require('worker_threads').Worker)('1', { eval: true })",
            "return process.binding('spawn_sync')",
            "return process._linkedBinding('spawn_sync')",
            "return process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libc.so.6')",
            "return process.kill(process.ppid, 0)",
            "return process.kill(process.pid, 'SIGUSR1')",
            "return process._debugProcess(process.ppid)",
            "return require('inspector').open(0)",
            "return new (require('wasi').WASI)({ version: 'preview1' })",
            "return require('v8').setFlagsFromString('--allow-natives-syntax')",
            "return require('internal/bootstrap/realm')",
        ) == {}  # fmt: skip


FRAME = (
    "const p = Buffer.from({}); const h = Buffer.alloc(5); h.writeUInt32BE({}); h[4] = {}; "
    "fs.writeSync(3, Buffer.concat([h, p]));"
)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (FRAME.format("'['", "p.length + 1", 74), "crash"),
        pytest.param(FRAME.format("''", "0xffffffff", 74), "crash", marks=pytest.mark.faults),
        pytest.param(FRAME.format("''", "3", 68), "crash", marks=pytest.mark.faults),
        pytest.param(FRAME.format("'{\"host\":5}'", "p.length + 1", 79), "crash", marks=pytest.mark.faults),
        (FRAME.format("''", "1000", 74) + "await new Promise(() => {})", "timeout"),
        pytest.param("for (;;);", "timeout", marks=pytest.mark.faults),
        pytest.param(
            "JSON.parse = JSON.stringify = Buffer.concat = () => null; for (;;) await null",
            "timeout",
            marks=pytest.mark.faults,
        ),
        pytest.param(
            "const all = []; for (;;) all.push(Buffer.alloc(2 ** 24, 1))", "exception", marks=pytest.mark.faults
        ),
        pytest.param("for (;;) console.log('x'.repeat(2 ** 16))", "output", marks=pytest.mark.faults),
    ],
)
def test_what_speaks_no_sense_or_takes_too_much_ends_and_others_continue(
    runner: Runner, data: Path, code: str, kind: str
) -> None:
    reply = ask(runner, data, code, "eve", 0.5 if kind == "timeout" else 10.0)
    assert reply.error is not None and reply.error.kind == kind
    assert ask(runner, data, "return 1").value == 1


def test_what_poisons_its_process_poisons_nobody_elses(runner: Runner, data: Path) -> None:
    poison = """
      Object.prototype.toString = Array.prototype.map = Promise.prototype.then = () => "poison";
      require("module")._load = () => ({});
      globalThis.kept = "canary";
      fs.writeFileSync("left", "canary");
      setInterval(() => fs.writeFileSync("later", "canary"), 1);
    """
    ask(runner, data, poison, "eve", 0.5)
    look = "return [globalThis.kept, fs.readdirSync('.'), [1].map((n) => n + 1)]"
    assert ask(runner, data, look, "bob").value == [None, [], [2]]


@pytest.mark.faults
def test_files_without_a_name_count(runner: Runner, data: Path) -> None:
    hold = """
      for (let n = 0; n < 4; n++) {
        const file = fs.openSync("x", "w");
        fs.unlinkSync("x");
        for (let i = 0; i < 50; i++) fs.writeSync(file, Buffer.alloc(1 << 20));
      }
      await new Promise(() => {});
    """
    reply = ask(runner, data, hold)
    assert reply.error is not None and "wrote more than 128 MiB" in reply.error.message
