"""An API on loopback that answers by its own OpenAPI document, as a provider would that keeps to it.

A request is taken if the document has its path and method, and if the parameters and the body are valid by their
schemas: then the answer is the example of its first response. Everything else is refused with the reason.
"""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from jsonschema import Draft202012Validator


class DocumentedApi(ThreadingHTTPServer):
    """The API. ``document`` is its description; requests need ``key`` in ``X-Key``. ``taken`` are the operations that
    were called, with their parameters and their body."""

    daemon_threads = True

    def __init__(self, document: dict[str, Any], key: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.key = key
        self.host = f"127.0.0.1:{self.server_address[1]}"
        self.document = {**document, "servers": [{"url": f"http://{self.host}"}]}
        self.taken: list[tuple[str, Any, Any]] = []

    def answer(self, method: str, target: str, key: str | None, body: bytes) -> tuple[int, Any]:
        """The status and the JSON of the answer."""
        if key != self.key:
            return 401, {"message": "The key is missing."}
        parts = urlsplit(target)
        for path, item in self.document["paths"].items():
            match = re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path), parts.path)
            if match and method in item:
                values = {name: unquote(value) for name, value in match.groupdict().items()}
                return self._checked(item[method], {**values, **dict(parse_qsl(parts.query))}, body)
        return 404, {"message": f"The document has no {method} {parts.path}."}

    def _checked(self, operation: dict[str, Any], values: dict[str, str], body: bytes) -> tuple[int, Any]:
        parameters = {each["name"]: each for each in operation.get("parameters", ())}
        if unknown := values.keys() - parameters.keys():
            return 422, {"message": f"The document has no parameter {', '.join(sorted(unknown))}."}
        if missing := [name for name, each in parameters.items() if each.get("required") and name not in values]:
            return 422, {"message": f"{missing[0]} is required."}
        sent = json.loads(body) if body else None
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            for error in Draft202012Validator(schema).iter_errors(sent):
                return 422, {"message": error.message}
        elif body:
            return 422, {"message": "The document has no body here."}
        self.taken.append((operation["operationId"], values, sent))
        (status, response), *_ = operation["responses"].items()
        return int(status), response["content"]["application/json"]["example"]


class _Handler(BaseHTTPRequestHandler):
    server: DocumentedApi

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, answer = self.server.answer(self.command.lower(), self.path, self.headers.get("X-Key"), body)
        raw = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def documented(document: dict[str, Any], key: str) -> Iterator[DocumentedApi]:
    """The API with this ``document``, running."""
    api = DocumentedApi(document, key)
    thread = threading.Thread(target=api.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield api
    finally:
        api.shutdown()
        thread.join()
        api.server_close()
