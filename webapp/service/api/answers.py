"""Answers of the API: JSON bytes by orjson, the envelope of lists, the empty 204."""

from collections.abc import Callable
from typing import Any, TypeVar

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


def empty() -> Response:
    """204: done, and nothing to say about it."""
    return Response(status=204)
