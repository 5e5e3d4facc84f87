"""Responses with static files and logos: style sheets with their imports, compressed text, and caching by version."""

import functools
import mimetypes
from collections.abc import Mapping

from flask import Response, request
from werkzeug.security import safe_join

from webapp.kit import assets, compression

_TEXTS = (".css", ".js", ".svg")
MIN_COMPRESSED_BYTES = 400  # of an SVG; below, the added headers are larger than what compression saves


def sent(filename: str) -> Response | None:
    """The response with a style sheet, script or SVG (RFC 9110 section 8.4.1.3), or None for other files."""
    if not filename.endswith(_TEXTS) or safe_join("", filename) is None:
        return None
    version = assets.content_hash(filename)
    if not version:
        return None
    return compression.conditional(_content(filename, version), mimetypes.guess_type(filename)[0], version)


def drawing(svg: bytes, headers: Mapping[str, str]) -> Response:
    """The response with an SVG that never changes at its URL, compressed if it is large enough."""
    answer = compression.answer(svg, "image/svg+xml", min_bytes=MIN_COMPRESSED_BYTES)
    answer.headers.update({"Content-Type": "image/svg+xml", "Cache-Control": assets.IMMUTABLE, **headers})
    return answer


def cache(response: Response) -> Response:
    """Set ``Cache-Control`` of a static file: for ever if its URL has the current version, else ``no-cache``."""
    if request.endpoint == "static" and request.view_args and response.status_code in (200, 304):
        control = assets.cache_control(request.view_args["filename"], request.args.get("v"))
        response.headers["Cache-Control"] = control
    return response


@functools.lru_cache(maxsize=32)
def _content(filename: str, version: str) -> bytes:
    return assets.joined(assets.static_dir() / filename)
