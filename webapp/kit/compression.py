"""Public responses, compressed with gzip for clients that accept it (RFC 9110 section 8.4.1.3)."""

import functools
import gzip

from flask import Response, request


def answer(content: bytes, mimetype: str | None, *, min_bytes: int = 0) -> Response:
    """A response with ``content``, compressed if it has at least ``min_bytes`` bytes and the client accepts gzip."""
    packed = request.accept_encodings.quality("gzip") > 0 and len(content) >= min_bytes
    response = Response(_packed(content) if packed else content, mimetype=mimetype)
    response.headers["Vary"] = "Accept-Encoding"
    if packed:
        response.headers["Content-Encoding"] = "gzip"
    return response


def conditional(content: bytes, mimetype: str | None, version: str) -> Response:
    """The response of :func:`answer`, or 304 for a client that has this ``version`` (RFC 9110 section 13.1.2)."""
    response = answer(content, mimetype)
    response.set_etag(f"{version}-gzip" if "Content-Encoding" in response.headers else version)
    response.make_conditional(request)
    return response


@functools.lru_cache(maxsize=512)
def _packed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)
