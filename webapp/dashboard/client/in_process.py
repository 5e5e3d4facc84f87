"""Sends requests to a WSGI app in this process, so that the dashboard needs no socket to its service.

A loopback socket could deadlock a full thread pool. The WSGI environ contains only the outgoing request: no header,
cookie or address of the browser is passed on, except the request id for logs.
"""

import functools
import io
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from webapp.dashboard.client.transport import Answer
from webapp.kit import crypto

WSGI = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class InProcess:
    """Sends requests to a WSGI app."""

    def __init__(self, app: WSGI) -> None:
        self._app = app

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes, timeout: float) -> Answer:
        """Run the app to its end; ``timeout`` is ignored."""
        chunks: list[bytes] = []
        begun: list[Any] = []

        def start_response(status: str, pairs: list[tuple[str, str]], _: object = None) -> Callable[[bytes], None]:
            begun[:] = status, pairs
            return chunks.append

        result = self._app(_environ_of(method, url, headers, body), start_response)
        try:
            chunks.extend(result)
        finally:
            if (close := getattr(result, "close", None)) is not None:
                close()
        status, pairs = begun
        return Answer(int(status[:3]), {name.lower(): value for name, value in pairs}, b"".join(chunks))

    def close(self) -> None:
        """Does nothing: there is nothing to close."""


def _environ_of(method: str, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """A WSGI environ (PEP 3333) with only this request."""
    parts = urlsplit(url)
    server, port = _server_of(parts.scheme, parts.netloc)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(parts.path).decode("latin-1"),
        "QUERY_STRING": parts.query,
        "REQUEST_URI": f"{parts.path}?{parts.query}" if parts.query else parts.path,  # keeps escaped slashes in ids
        "SERVER_PROTOCOL": "HTTP/1.1",
        "SERVER_NAME": server,
        "SERVER_PORT": port,
        "REMOTE_ADDR": "",  # so that limits by address do not apply
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_HOST": parts.netloc,
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": parts.scheme,
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        crypto.REQUEST_ENVIRON: crypto.request_id(),
    }
    for name, value in headers.items():
        key = name.upper().replace("-", "_")
        environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
    return environ


@functools.lru_cache(maxsize=16)
def _server_of(scheme: str, netloc: str) -> tuple[str, str]:
    """The name and the port of a server, which are the same for each request to it."""
    parts = urlsplit(f"{scheme}://{netloc}")
    return parts.hostname or "localhost", str(parts.port or (443 if scheme == "https" else 80))
