"""How files below ``/static`` are sent: style sheets in one piece, they, scripts and drawings compressed, cached by
version; logos alike."""

import functools
import mimetypes
from collections.abc import Mapping

from flask import Response, request
from werkzeug.security import safe_join

from webapp.kit import assets, compressed

_TEXTS = (".css", ".js", ".svg")
MIN_COMPRESSED_BYTES = 400  # of an SVG; below, the added headers are larger than what compression saves


def sent(filename: str) -> Response | None:
    """The answer with a style sheet or a script (RFC 9110 section 8.4.1.3); None for any other file, and for none."""
    if not filename.endswith(_TEXTS) or safe_join("", filename) is None:
        return None
    version = assets.content_hash(filename)
    if not version:
        return None
    return compressed.conditional(_content(filename, version), mimetypes.guess_type(filename)[0], version)


def drawing(svg: bytes, headers: Mapping[str, str]) -> Response:
    """A drawing that never changes at its address, compressed where that is worth it."""
    answer = compressed.answer(svg, "image/svg+xml", min_bytes=MIN_COMPRESSED_BYTES)
    answer.headers.update({"Cache-Control": assets.IMMUTABLE, **headers})
    return answer


def cache(response: Response) -> Response:
    """A file asked for by its content's version never changes; any other is asked for again."""
    if request.endpoint == "static" and request.view_args and response.status_code in (200, 304):
        control = assets.cache_control(request.view_args["filename"], request.args.get("v"))
        response.headers["Cache-Control"] = control
    return response


@functools.lru_cache(maxsize=32)
def _content(filename: str, version: str) -> bytes:
    return assets.joined(assets.static_dir() / filename)
