"""A Connect service with every extension switched off: what other services of this API answer, and no more."""

from typing import Any
from urllib.parse import parse_qsl, urlencode

from flask import Flask, jsonify

from webapp.dashboard.client.in_process import InProcess
from webapp.dashboard.dashboard import KEY
from webapp.service.api.table import OPERATIONS

EXTENSION_PARAMETERS = frozenset({"extensions", "brief", "ready", "among", "without", "states"})


def without_extensions(app: Flask, *, but: str = "/nothing") -> None:
    """Take every extension out of ``app``: its operations, its parameters and so its fields, ``but`` the parameters of
    paths that end so."""
    for operation in OPERATIONS:
        if operation.extension:
            app.view_functions[f"api.{operation.name}"] = _absent
    whole = app.wsgi_app

    def plain(environ: dict[str, Any], start_response: Any) -> Any:
        if environ["PATH_INFO"].startswith("/v1") and not environ["PATH_INFO"].endswith(but):
            query = parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True)
            kept = [(name, value) for name, value in query if name not in EXTENSION_PARAMETERS]
            environ["QUERY_STRING"] = urlencode(kept)
        return whole(environ, start_response)

    app.wsgi_app = plain  # type: ignore[method-assign]
    app.extensions[KEY].client.transport._sender = InProcess(plain)


def _absent(**_: Any) -> Any:
    return jsonify(error="There is nothing here."), 404
