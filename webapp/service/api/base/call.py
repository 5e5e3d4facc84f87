"""A call of an operation, with its caller, environment, query and body, and the answers of handlers.

Queries and bodies are validated by their models. A JSON body that is malformed, nested too deep or cannot be stored as
text is refused. orjson refuses lone surrogates, NaN and nesting beyond 1,024 levels; of duplicate keys the last one
wins (RFC 8259 section 4 leaves this open). NUL is legal JSON but no database text, so it is refused everywhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

import orjson
from flask import Request, Response
from pydantic import ValidationError
from werkzeug.datastructures import MultiDict

from webapp import body_limits, content_security_policies
from webapp.errors import Invalid, TooLarge, UnsupportedMedia
from webapp.kit import cursors
from webapp.service.api.base.models import Body, Query, invalid
from webapp.service.domain.access.callers import Caller
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Store

Q = TypeVar("Q", bound=Query)
B = TypeVar("B", bound=Body)
T = TypeVar("T")
ANYONE = Caller(frozenset())
PARSED_BODY = "patchbay.body"


@dataclass(frozen=True, slots=True)
class Call:
    """The call that a handler answers. ``caller`` is :data:`ANYONE` if the operation is public."""

    service: Service
    request: Request
    path: Mapping[str, str]
    caller: Caller = ANYONE
    environment: Scene | None = None

    @property
    def store(self) -> Store:
        """The service's store."""
        return self.service.store

    @property
    def scene(self) -> Scene:
        """The environment of the project that an operation under ``P`` works in."""
        if self.environment is None:
            raise LookupError("this operation does not stand under a project")
        return self.environment

    @property
    def user(self) -> ExternalUser | None:
        """The user to whose data the caller is limited: a Connect token's own.

        None for an OAuth client, which sees all.
        """
        return self.caller.connect.user if self.caller.connect else None

    def query(self, model: type[Q]) -> Q:
        """The query string as ``model``; unknown parameters are left out. Raises :class:`Invalid`."""
        try:
            args = self.request.args
        except UnicodeDecodeError as error:
            raise Invalid("The query string is not valid UTF-8; percent-encode it.") from error
        try:
            return read_query(model, args)
        except ValidationError as error:
            raise invalid("query", error) from error

    def body(self, model: type[B]) -> B:
        """The JSON body as ``model``; unknown fields are ignored.

        Raises :class:`Invalid`, :class:`UnsupportedMedia`, :class:`TooLarge`.
        """
        try:
            return model.model_validate(read_json(self.request))
        except ValidationError as error:
            raise invalid("body", error) from error


def answer(data: Any, status: int = 200) -> Response:
    """``data`` as the body. Parts that are JSON already may be :class:`orjson.Fragment`."""
    return Response(orjson.dumps(data), status, mimetype="application/json")


def answer_page(rows: cursors.Page[T], to_json: Callable[[T], Any]) -> Response:
    """A list in its envelope (contract "Lists"), each item as ``to_json`` draws it."""
    return answer(rows.to_json(to_json))


def answer_file(content: bytes, name: str, media_type: str) -> Response:
    """A download named ``name``. Browsers neither sniff its type nor show it in our origin."""
    response = Response(content, mimetype=media_type)
    plain = name.encode("ascii", "replace").decode().replace("?", "_")
    names = {"filename": plain} if plain == name else {"filename": plain, "filename*": f"UTF-8''{quote(name, safe='')}"}
    response.headers.set("Content-Disposition", "attachment", **names)  # RFC 6266 section 4.3
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = content_security_policies.FILE
    return response


def answer_image(content: bytes, media_type: str) -> Response:
    """An image that pages of other origins may show, and that browsers treat only as an image."""
    response = Response(content, mimetype=media_type)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = content_security_policies.FILE
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def no_content() -> Response:
    """204 without a body or media type."""
    response = Response(status=204)
    del response.headers["Content-Type"]
    return response


def read_query(model: type[Q], args: MultiDict[str, str]) -> Q:
    """The parameters in ``args``; of a repeated single one the last counts, of two spellings the parameter's own name.

    Raises ``ValidationError``.
    """
    values: dict[str, Any] = {}
    for spelling, name in model.spellings.items():
        if spelling in args:
            texts = args.getlist(spelling)
            if name in model.lists:
                values.setdefault(name, []).extend(part for text in texts for part in text.split(",") if part)
            else:
                values[name] = texts[-1]
    return model.model_validate(values)


def check_size_and_text(request: Request, max_bytes: int = body_limits.REQUEST) -> None:
    """Raise :class:`TooLarge` for a body of more than ``max_bytes``, :class:`Invalid` for an address with NUL."""
    if (request.content_length or 0) > max_bytes:
        raise TooLarge
    if "\0" in request.environ.get("PATH_INFO", "") or "%00" in request.environ.get("QUERY_STRING", ""):
        raise Invalid("The address holds a NUL character; leave it out.")


def check_encoding(request: Request) -> None:
    """Raise :class:`UnsupportedMedia` for a compressed body; none is unpacked (RFC 9110 section 15.5.16)."""
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedMedia("Send the body without a Content-Encoding; it is not unpacked here.")


def read_json(request: Request) -> dict[str, Any]:
    """The JSON object in the body, parsed once however often it is asked for.

    Raises :class:`Invalid`, :class:`UnsupportedMedia`, :class:`TooLarge`.
    """
    body = read_json_value(request)
    if not isinstance(body, dict):
        raise Invalid("The body must be a JSON object.")
    return body


def read_json_value(request: Request, max_bytes: int = body_limits.REQUEST) -> Any:
    """Read the body as any JSON value, with the same checks."""
    body = request.environ.get(PARSED_BODY)
    if body is None:
        body = request.environ[PARSED_BODY] = _parse(request, max_bytes)
    return body


def _parse(request: Request, max_bytes: int) -> Any:
    if request.mimetype != "application/json":
        raise UnsupportedMedia
    check_encoding(request)
    request.max_content_length = max_bytes + 1  # a body of unknown length is silently cut off there
    raw = request.get_data(cache=False)
    if len(raw) > max_bytes:
        raise TooLarge
    if not raw.strip():
        raise Invalid("The body is empty; send a JSON object.")
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"The body is not valid JSON: {error.msg} (line {error.lineno}).") from error
    if b"\\u0000" in raw and holds_nul(body):
        raise Invalid("The body holds a NUL character; leave it out.")
    return body


def holds_nul(value: object) -> bool:
    """Whether a string or key anywhere in ``value`` (as parsed from JSON) holds U+0000."""
    values = [value]
    while values:
        match values.pop():
            case str(text) if "\0" in text:
                return True
            case list(items):
                values.extend(items)
            case dict(pairs):
                values.extend(pairs)
                values.extend(pairs.values())
    return False
