"""Double slashes in a path, collapsed inside the WSGI application (WIRE "Conventions").

A browser client without a project calls ``/v1/connect//accounts``. A redirect would answer it too, but browsers
refuse to follow one after a preflight. A slash that came as ``%2F`` belongs to an id, such as that of the external user
``a//b``, and stays.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_MANY = re.compile("/{2,}")


def collapse_slashes(wsgi_app: "WSGIApplication") -> "WSGIApplication":
    """``wsgi_app``, seeing every run of slashes in the path as one. The query is left alone."""

    def application(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if "//" in path:
            environ["PATH_INFO"] = _collapsed(environ, path)
        return wsgi_app(environ, start_response)

    return application


def _collapsed(environ: "WSGIEnvironment", path: str) -> str:
    """``path`` without runs of slashes. Only the address as it was sent, where the server tells it, knows ``%2F``."""
    sent, before = environ.get("REQUEST_URI", "").partition("?")[0], environ.get("SCRIPT_NAME", "")
    if "%2f" in sent.lower() and unquote(sent, "latin-1") == before + path:
        found = unquote(_MANY.sub("/", sent), "latin-1")[len(before) :]
        if found.startswith("/v1/"):  # pages have no such ids, and redirect to where they are
            return found
    return _MANY.sub("/", path)
