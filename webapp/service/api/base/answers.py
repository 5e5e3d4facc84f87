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


def page(rows: Page[T], to_json: Callable[[T], Any]) -> Response:
    """A list in its envelope (specification 2.11), each item as ``to_json`` draws it."""
    items = [to_json(item) for item in rows.items]
    info = {
        "count": len(items),
        "total_count": rows.total_count,
        "start_cursor": rows.start_cursor,
        "end_cursor": rows.end_cursor,
    }
    return json({"data": items, "page_info": info})


def attachment(content: bytes, name: str, media_type: str) -> Response:
    """A file to save, under ``name``. Browsers neither guess what it is nor show it in our origin."""
    answer = Response(content, mimetype=media_type)
    plain = name.encode("ascii", "replace").decode().replace("?", "_")
    names = {"filename": plain} if plain == name else {"filename": plain, "filename*": f"UTF-8''{quote(name, safe='')}"}
    answer.headers.set("Content-Disposition", "attachment", **names)  # RFC 6266 section 4.3
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return answer


def image(content: bytes, media_type: str) -> Response:
    """An image that pages of other origins may show, and that can be nothing but an image."""
    answer = Response(content, mimetype=media_type)
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return answer


def empty() -> Response:
    """204: done, and nothing to say about it, in no media type either."""
    answer = Response(status=204)
    del answer.headers["Content-Type"]
    return answer
