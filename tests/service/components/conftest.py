"""Component files written on the spot, a runner that all tests share, and a small app on loopback."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from textwrap import dedent, indent
from typing import Any
from urllib.parse import unquote

import pytest

from webapp.service.components.calls import AccountGrant, Call, Reply
from webapp.service.components.runner import Runner
from webapp.service.outbound.placements import Placement

Write = Callable[..., Path]
Run = Callable[..., Reply]
SECRET = "canary-s3cret/with space"

_HEAD = """
import ctypes, os, subprocess, sys, time
from webapp.service.components.authoring import *

class Thing(Action):
    name = "Thing"
    description = "Does a thing."
    annotations = dict(readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=True)
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file of the app ``tiny``: whole source, or the body of a class with ``run``."""

    def write_one(source: str, where: str = "actions/do-thing/1.0.0.py") -> Path:
        path = tmp_path / "tiny" / where
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(source))
        return path

    return write_one


@pytest.fixture
def thing(write: Write) -> Callable[[str], Path]:
    """Writes an action from the body of its class; a lone statement becomes its ``run``."""

    def write_one(body: str) -> Path:
        body = dedent(body).strip("\n")
        if "def " not in body:
            body = "def run(self, ctx):\n" + indent(body, "    ")
        return write(_HEAD + "\n" + indent(body, "    ") + "\n")

    return write_one


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    """One runner for all tests."""
    with Runner.start() as started:
        yield started


@pytest.fixture
def run(runner: Runner, thing: Callable[[str], Path]) -> Run:
    """Writes an action from its body and calls it."""

    def run_one(body: str, **fields: Any) -> Reply:
        return runner.call(Call(path=str(thing(body)), **fields))

    return run_one


class Tiny(ThreadingHTTPServer):
    """A third party that echoes requests, is slow on ``/slow``, and fails on ``/fails/<status>``."""

    daemon_threads = True
    request_queue_size = 128

    @property
    def netloc(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def base(self) -> str:
        return f"http://{self.netloc}"

    def grant(self, **changes: Any) -> AccountGrant:
        """An account of this app."""
        fields: dict[str, Any] = {
            "values": {"key": SECRET}, "base_url": f"{self.base}/api", "headers": {"X-Version": "7"},
            "placements": (Placement("header", "X-Key", "{key}"),), "allowed_hosts": (self.netloc,),
        }  # fmt: skip
        return AccountGrant(**{**fields, **changes})


class _Handler(BaseHTTPRequestHandler):
    def _do(self) -> None:
        if "/slow" in self.path:
            time.sleep(1.0)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        answer = {"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body}
        if "/fails/" in self.path:
            self._answer(int(self.path.rsplit("/", 1)[1]), {"error": {"message": "No such project."}})
        elif "/away" in self.path:
            self.send_response(302)
            self.send_header("Location", unquote(self.path.split("to=")[1]))
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._answer(200, answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _do

    def _answer(self, status: int, body: object) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        pass


def _serve() -> Iterator[Tiny]:
    server = Tiny(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def tiny() -> Iterator[Tiny]:
    """The app that accounts belong to."""
    yield from _serve()


@pytest.fixture(scope="session")
def stranger() -> Iterator[Tiny]:
    """Some other server."""
    yield from _serve()
