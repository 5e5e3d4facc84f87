"""How files below ``/static`` are sent: style sheets in one piece, they, scripts and drawings compressed, cached by
version; logos alike."""

import functools
import gzip
import mimetypes
from collections.abc import Mapping

from flask import Response, request
from werkzeug.security import safe_join

from webapp.kit import assets

_TEXTS = (".css", ".js", ".svg")
WORTH_IT = 400  # bytes of a drawing; below, the head of the answer outgrows what is saved


def sent(filename: str) -> Response | None:
    """The answer with a style sheet or a script (RFC 9110 section 8.4.1.3); None for any other file, and for none."""
    if not filename.endswith(_TEXTS) or safe_join("", filename) is None:
        return None
    version = assets.content_hash(filename)
    if not version:
        return None
    packed = request.accept_encodings.quality("gzip") > 0
    answer = Response(_content(filename, version, packed), mimetype=mimetypes.guess_type(filename)[0])
    _mark(answer, packed)
    answer.set_etag(f"{version}-gzip" if packed else version)
    answer.make_conditional(request)
    return answer


def drawing(svg: bytes, headers: Mapping[str, str]) -> Response:
    """A drawing that never changes at its address, compressed where that is worth it."""
    packed = request.accept_encodings.quality("gzip") > 0 and len(svg) >= WORTH_IT
    content = _packed(svg) if packed else svg
    answer = Response(content, mimetype="image/svg+xml", headers={"Cache-Control": assets.IMMUTABLE, **headers})
    _mark(answer, packed)
    return answer


def cache(response: Response) -> Response:
    """A file asked for by its content's version never changes; any other is asked for again."""
    if request.endpoint == "static" and request.view_args and response.status_code in (200, 304):
        control = assets.cache_control(request.view_args["filename"], request.args.get("v"))
        response.headers["Cache-Control"] = control
    return response


def _mark(answer: Response, packed: bool) -> None:
    answer.headers["Vary"] = "Accept-Encoding"
    if packed:
        answer.headers["Content-Encoding"] = "gzip"


@functools.lru_cache(maxsize=512)
def _packed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


@functools.lru_cache(maxsize=64)
def _content(filename: str, version: str, packed: bool) -> bytes:
    text = assets.joined(assets.static_dir() / filename)
    return _packed(text) if packed else text
