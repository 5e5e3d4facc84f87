"""What a call of a piece costs beyond its provider, cold and warm, what its processes take, and many side by side."""

import http.client
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from tests.bench.meter import pss_mb
from webapp.service.components.calls import Call, PieceBounds
from webapp.service.components.executor import Executor
from webapp.service.components.runner import Runner

TARGET_MS = 30.0
AT_ONCE, PLACES, COLD = 50, 8, 5
_SOURCE = """
const action = {
  name: "ask", displayName: "Ask", description: "Asks.", props: {}, requireAuth: false,
  run: async ({ propsValue }) => [process.pid, await (await fetch(propsValue.address)).json()],
};
exports.bench = {
  displayName: "Bench", logoUrl: "", authors: [], minimumSupportedRelease: "0.36.1",
  getContextInfo: () => ({ version: "1" }), actions: () => ({ ask: action }), triggers: () => ({}),
};
"""
_DECLARATION: dict[str, Any] = {
    "kind": "action", "name": "Ask", "description": "Asks.", "app": None, "annotations": {}, "has_reload": False,
    "configurable_props": [{"name": "address", "type": "string"}], "dedupe": None, "hooks": [], "stash": None,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pieces:
    """Wall-clock times, as medians: a ``warm_ms`` call that sends one request, the ``provider_ms`` of that request
    alone, a ``cold_ms`` call for which Node starts. ``host_mb``: what a process that has served takes (PSS);
    ``side_by_side_s``: ``at_once`` calls of as many users started together, in ``places`` processes."""

    warm_ms: float
    provider_ms: float
    beyond_ms: float
    cold_ms: float
    host_mb: float
    at_once: int
    places: int
    side_by_side_s: float
    same_user_s: float

    def text(self) -> str:
        """The lines to print."""
        reached = "yes" if self.beyond_ms <= TARGET_MS else "no"
        return (
            f"a call of a piece, warm: {self.warm_ms:.1f} ms, of which its provider {self.provider_ms:.1f} ms; "
            f"to reach ≤ {TARGET_MS:g} beyond it, {reached}, {self.beyond_ms:.1f}\n"
            f"the same where Node has to start: {self.cold_ms:.0f} ms; a process takes {self.host_mb:.0f} MB PSS\n"
            f"{self.at_once} calls at once in {self.places} processes: {self.side_by_side_s:.2f} s for as many users, "
            f"{self.same_user_s:.2f} s for one"
        )


def measure(count: int) -> Pieces:
    """Call a piece that sends one request ``count`` times, then up to :data:`AT_ONCE` at once, as many as ``count``.

    Raises ``RuntimeError``.
    """
    at_once = min(AT_ONCE, count)
    with tempfile.TemporaryDirectory(prefix="patchbay-bench-") as folder, _provider() as netloc:
        path = _installed(Path(folder))
        with Executor(Runner.start(), PieceBounds(processes=1)) as alone:
            cold = [_call(alone, path, netloc, f"u{number}")[0] for number in range(COLD + 1)][1:]
            warm, pids = zip(*(_call(alone, path, netloc, "u") for _ in range(count + 1)), strict=True)
            memory = pss_mb(pids[-1])
        with Executor(Runner.start(), PieceBounds(processes=PLACES)) as executor:
            _call(executor, path, netloc, "first")
            side_by_side_s, same_user_s = (
                _together(executor, path, netloc, [name.format(number) for number in range(at_once)])
                for name in ("u{}", "u")
            )
        provider = [_asked(netloc) for _ in range(count)]
    warm_ms, provider_ms = statistics.median(warm[1:]), statistics.median(provider)
    return Pieces(
        warm_ms=round(warm_ms, 2),
        provider_ms=round(provider_ms, 2),
        beyond_ms=round(warm_ms - provider_ms, 2),
        cold_ms=round(statistics.median(cold), 1),
        host_mb=round(memory, 1),
        at_once=at_once,
        places=PLACES,
        side_by_side_s=round(side_by_side_s, 2),
        same_user_s=round(same_user_s, 2),
    )


def _together(executor: Executor, path: Path, netloc: str, users: list[str]) -> float:
    began = time.monotonic()
    with ThreadPoolExecutor(len(users)) as pool:
        list(pool.map(lambda user: _call(executor, path, netloc, user), users))
    return time.monotonic() - began


def _call(executor: Executor, path: Path, netloc: str, user: str) -> tuple[float, int]:
    """How many milliseconds one call took, and which process did it."""
    began = time.monotonic()
    call = Call(
        str(path),
        props={"address": f"http://{netloc}/"},
        user=user,
        hosts=(netloc,),
        allow_hosts=(netloc,),
        deadline_s=60,
    )
    reply = executor.call(call)
    if reply.error is not None:
        raise RuntimeError(reply.error.message)
    return (time.monotonic() - began) * 1000, reply.value[0]


def _asked(netloc: str) -> float:
    """How many milliseconds the request takes by itself, its connection included."""
    began = time.monotonic()
    connection = http.client.HTTPConnection(netloc, timeout=5)
    connection.request("GET", "/")
    connection.getresponse().read()
    connection.close()
    return (time.monotonic() - began) * 1000


def _installed(data: Path) -> Path:
    """The action of the package, as an installation has it."""
    package = data / "pieces" / "packages" / "piece-bench" / "1.0.0" / "node_modules" / "piece-bench"
    package.mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": "piece-bench", "version": "1.0.0", "main": "index.js"}))
    (package / "index.js").write_text(_SOURCE)
    file = data / "pieces" / "apps" / "bench" / "actions" / "ask" / "1.0.0.json"
    file.parent.mkdir(parents=True)
    piece: dict[str, Any] = {
        "package": "piece-bench", "version": "1.0.0", "folder": "packages/piece-bench/1.0.0", "kind": "action",
        "name": "ask", "props": {"address": {"name": "address"}},
    }  # fmt: skip
    file.write_text(json.dumps({"piece": piece, "declaration": _DECLARATION}))
    return file


@contextmanager
def _provider() -> Iterator[str]:
    """A provider on loopback; its host and port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = b'{"ok": true}'
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
