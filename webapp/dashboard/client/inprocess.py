"""Hands a ``requests`` request to a WSGI app of this process, so that the dashboard needs no socket to its service.

A loopback socket would deadlock a full thread pool. Every environ is built from nothing but the outgoing request:
no header, cookie or address of the browser whose page is being made crosses over, only the id under which it is logged.
"""

import io
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from requests import PreparedRequest, Response
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict
from werkzeug.test import run_wsgi_app

from webapp.kit import crypto

WSGI = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class InProcessAdapter(BaseAdapter):
    """A transport whose far end is a WSGI app; ``app`` is called for it at each request, so it may come late."""

    def __init__(self, app: Callable[[], WSGI]) -> None:
        super().__init__()
        self._app = app

    def send(
        self,
        request: PreparedRequest,
        stream: bool = False,
        timeout: float | tuple[float, float] | tuple[float, None] | None = None,
        verify: bool | str = True,
        cert: bytes | str | tuple[bytes | str, bytes | str] | None = None,
        proxies: Mapping[str, str] | None = None,
    ) -> Response:
        """Run the app to its end. The other arguments concern sockets and mean nothing here."""
        chunks, status, headers = run_wsgi_app(self._app(), environ_of(request), buffered=True)
        response = Response()
        code, _, reason = status.partition(" ")
        response.status_code, response.reason = int(code), reason
        response.headers = CaseInsensitiveDict(headers.to_wsgi_list())
        response.encoding = "utf-8"
        response.raw = io.BytesIO(b"".join(chunks))
        response.url, response.request = str(request.url), request
        return response

    def close(self) -> None:
        """Nothing is held."""


def environ_of(request: PreparedRequest) -> dict[str, Any]:
    """A WSGI environ (PEP 3333) of ``request`` and of nothing else."""
    parts = urlsplit(str(request.url))
    body = request.body or b""
    body = body.encode() if isinstance(body, str) else body
    environ: dict[str, Any] = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(parts.path).decode("latin-1"),
        "QUERY_STRING": parts.query,
        "REQUEST_URI": request.path_url,  # tells a slash in an id from one between
        "SERVER_PROTOCOL": "HTTP/1.1",
        "SERVER_NAME": parts.hostname or "localhost",
        "SERVER_PORT": str(parts.port or (443 if parts.scheme == "https" else 80)),
        "REMOTE_ADDR": "",  # nobody is limited by an address that is none
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
    for name, value in request.headers.items():
        key = name.upper().replace("-", "_")
        if key == "CONTENT_TYPE":
            environ[key] = value
        elif key not in ("CONTENT_LENGTH", "HOST", "COOKIE", "CONNECTION"):
            environ["HTTP_" + key] = value
    return environ
