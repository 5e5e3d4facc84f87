"""Answers of the API: JSON bytes by orjson, the envelope of lists, the empty 204."""

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote

import orjson
from flask import Response

from webapp.kit.cursors import Page

T = TypeVar("T")


def json(data: Any, status: int = 200) -> Response:
    """``data`` as the body. Parts that are JSON already may be :class:`orjson.Fragment`."""
    return Response(orjson.dumps(data), status, mimetype="application/json")


def page(found: Page[T], shape: Callable[[T], Any]) -> Response:
    """A list in its envelope (specification 2.11), each item as ``shape`` draws it."""
    items = [shape(item) for item in found.items]
    info = {
        "count": len(items),
        "total_count": found.total_count,
        "start_cursor": found.start_cursor,
        "end_cursor": found.end_cursor,
    }
    return json({"data": items, "page_info": info})


def attachment(content: bytes, name: str, media_type: str) -> Response:
    """A file to save, under ``name``. Browsers neither guess what it is nor show it in our origin."""
    found = Response(content, mimetype=media_type)
    plain = name.encode("ascii", "replace").decode().replace("?", "_")
    names = {"filename": plain} if plain == name else {"filename": plain, "filename*": f"UTF-8''{quote(name, safe='')}"}
    found.headers.set("Content-Disposition", "attachment", **names)  # RFC 6266 section 4.3
    found.headers["X-Content-Type-Options"] = "nosniff"
    found.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return found


def image(content: bytes, media_type: str) -> Response:
    """An image that pages of other origins may show, and that can be nothing but an image."""
    found = Response(content, mimetype=media_type)
    found.headers["X-Content-Type-Options"] = "nosniff"
    found.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    found.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return found


def empty() -> Response:
    """204: done, and nothing to say about it, in no media type either."""
    found = Response(status=204)
    del found.headers["Content-Type"]
    return found
