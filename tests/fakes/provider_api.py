"""A provider's API on loopback: a Flask app that a test writes from the public reference, and what it was asked."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from flask import Flask, Response, request
from werkzeug.serving import WSGIRequestHandler, make_server


@dataclass
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes
    json: Any


@dataclass
class Api:
    """A running API. ``asked`` holds every request, the last one at the end."""

    origin: str
    asked: list[Asked] = field(default_factory=list)

    @property
    def last(self) -> Asked:
        return self.asked[-1]


class Quiet(WSGIRequestHandler):
    """A handler that logs nothing."""

    def log(self, type: str, message: str, *args: Any) -> None:
        """Stay silent."""


@contextmanager
def serving(app: Flask) -> Iterator[Api]:
    """Let ``app`` answer on a port of its own until the block ends."""
    api = Api("")

    @app.before_request
    def remember() -> Response | None:
        query = request.args.to_dict(flat=False)
        body, told = request.get_data(), dict(request.headers)
        api.asked.append(Asked(request.method, request.path, query, told, body, request.get_json(silent=True)))
        return None

    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    api.origin = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=[0.02])
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
