"""JSON bodies, read defensively. What is malformed, too deep or cannot be stored as text is refused here.

orjson refuses lone surrogates, NaN and nesting beyond 1,024 levels; of duplicate keys the last one wins (RFC 8259
section 4 leaves this open). NUL is legal JSON but no database text, so it is refused wherever it stands.
"""

from typing import Any

import orjson
from flask import Request

from webapp.errors import Invalid, TooLarge, UnsupportedMedia

MAX_BYTES = 10 * 1024 * 1024
_READ = "patchbay.body"


def read_json(request: Request) -> dict[str, Any]:
    """The JSON object in the body, read once however often it is asked for.

    Raises :class:`Invalid`, :class:`UnsupportedMedia`, :class:`TooLarge`.
    """
    found: dict[str, Any] | None = request.environ.get(_READ)
    if found is None:
        found = request.environ[_READ] = _read_json(request)
    return found


def _read_json(request: Request) -> dict[str, Any]:
    if request.mimetype != "application/json":
        raise UnsupportedMedia
    request.max_content_length = MAX_BYTES + 1  # a body of unknown length is cut off there without a word
    raw = request.get_data(cache=False)
    if len(raw) > MAX_BYTES:
        raise TooLarge
    if not raw.strip():
        raise Invalid("The body is empty; send a JSON object.")
    try:
        found = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"The body is not valid JSON: {error.msg} (line {error.lineno}).") from error
    if b"\\u0000" in raw and holds_nul(found):
        raise Invalid("The body holds a NUL character; leave it out.")
    if not isinstance(found, dict):
        raise Invalid("The body must be a JSON object.")
    return found


def holds_nul(value: object) -> bool:
    """Whether a string or key anywhere in ``value`` (as parsed from JSON) holds U+0000."""
    todo = [value]
    while todo:
        match todo.pop():
            case str(text) if "\0" in text:
                return True
            case list(items):
                todo.extend(items)
            case dict(pairs):
                todo.extend(pairs)
                todo.extend(pairs.values())
    return False
