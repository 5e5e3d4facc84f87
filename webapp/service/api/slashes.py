"""Double slashes in a path, collapsed inside the WSGI application (WIRE "Conventions").

A browser client without a project calls ``/v1/connect//accounts``. A redirect would answer it too, but browsers
refuse to follow one after a preflight.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_MANY = re.compile("/{2,}")


def collapse_slashes(wsgi_app: "WSGIApplication") -> "WSGIApplication":
    """``wsgi_app``, seeing every run of slashes in ``PATH_INFO`` as one. The query is left alone."""

    def application(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if "//" in path:
            environ["PATH_INFO"] = _MANY.sub("/", path)
        return wsgi_app(environ, start_response)

    return application
