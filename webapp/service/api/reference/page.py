"""``/openapi.json``, and the same for people at ``/docs/api``: server-rendered, without a script.

Neither needs a token; both are made once, when they are first asked for.
"""

import functools
import gzip
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from flask import Blueprint, Flask, Response, render_template, request
from jinja2.runtime import Undefined
from markupsafe import Markup, escape

from webapp import frontend
from webapp.kit import translation
from webapp.service.api.base.limits import LIMITS
from webapp.service.api.base.operations import Operation
from webapp.service.api.reference import examples, openapi
from webapp.service.api.reference.examples import Example
from webapp.service.domain.base.service import Service

NAME = "api_reference"
LIMIT_WORDS = {
    "tokens": "Create Connect token, for each external user",
    "accounts": "Account management: GET and DELETE of accounts",
    "tools": "List tools: GET of components, actions and triggers",
    "executions": "Tool executions: configure, props and run together",
    "proxy": "Proxy",
}
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)


def register(app: Flask, service: Service, operations: Sequence[Operation]) -> None:
    """Serve the description of ``operations`` from ``app``."""
    translation.install(app.jinja_env)
    blueprint = Blueprint(NAME, __name__)

    @functools.cache
    def described() -> "_Packed":
        return _Packed(orjson.dumps(openapi.document(operations, service.settings.public_url)))

    @functools.cache
    def page() -> "_Packed":
        document = orjson.loads(described().plain)
        text = render_template(
            "docs/api.html",
            document=document,
            groups=_groups(operations, document),
            variables=examples.VARIABLES,
            objects=_objects(operations, document),
            statuses=openapi.STATUSES,
            scopes=openapi.SCOPES,
            limits=[(LIMIT_WORDS[name], *limit) for name, limit in LIMITS.items()],
            public_url=service.settings.public_url,
            marked=_marked,
            asset=frontend.asset_url,
            csrf_token=Undefined(),  # the dashboard's, which would set its session cookie here
        )
        return _Packed(text.encode())

    @blueprint.get("/openapi.json")
    def description() -> Response:
        return described().answer("application/json")

    @blueprint.get("/docs/api")
    def reference() -> Response:
        answer = page().answer("text/html")
        answer.headers["Content-Security-Policy"] = _POLICY
        return answer

    app.register_blueprint(blueprint)


class _Packed:
    """A long text that is the same for everybody, and the same compressed."""

    def __init__(self, plain: bytes) -> None:
        self.plain, self._packed = plain, gzip.compress(plain, mtime=0)

    def answer(self, media_type: str) -> Response:
        """Whichever of the two the caller takes."""
        packed = request.accept_encodings["gzip"] > 0
        answer = Response(self._packed if packed else self.plain, mimetype=media_type)
        answer.headers["Vary"] = "Accept-Encoding"
        if packed:
            answer.headers["Content-Encoding"] = "gzip"
        return answer


def example_of(operation: Operation) -> str:
    """The example of ``operation`` as a command."""
    found = examples.EXAMPLES.get(operation.name, Example())
    token = None if operation.public else "TOKEN"
    return examples.curl(operation.method, openapi.path_of(operation), found, token=token, scene=operation.in_project)


def _groups(
    operations: Sequence[Operation], document: Mapping[str, Any]
) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """The operations as the page shows them, by tag, and what each tag is."""
    groups: dict[str, list[dict[str, Any]]] = {tag["name"]: [] for tag in document["tags"]}
    for one in operations:
        groups[openapi.tag_of(one)].append(_drawn(one, document))
    return [(tag["name"], tag["description"], groups[tag["name"]]) for tag in document["tags"]]


def _drawn(one: Operation, document: Mapping[str, Any]) -> dict[str, Any]:
    address = openapi.path_of(one)
    found = document["paths"][address][one.method.lower()]
    content = found.get("requestBody", {}).get("content", {}).get("application/json", {})
    code, done = next((code, answer) for code, answer in found["responses"].items() if code in ("200", "204"))
    media = done.get("content", {}).get("application/json", {})
    answered = media.get("schema", {})
    return {
        **found,
        "method": one.method,
        "address": address,
        "who": _who(one),
        "body_model": _model(content.get("schema", {}), document),
        "answer_model": _model(answered, document),
        "answer_words": done["description"],
        "code": code,
        "sample": orjson.dumps(media["example"], option=orjson.OPT_INDENT_2).decode() if media else "",
        "errors": [code for code in found["responses"] if code.isdigit() and int(code) >= 400],
        "example": example_of(one),
    }


def _objects(operations: Sequence[Operation], document: Mapping[str, Any]) -> dict[str, Any]:
    """The objects that answers are made of, by name, but for the envelopes and what is sent."""
    sent = {one.body.__name__ for one in operations if one.body}
    found = document["components"]["schemas"].items()
    return {name: model for name, model in found if name not in sent and not name.startswith(("Data_", "Page_"))}


def _model(schema: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any] | None:
    """The object that ``schema`` names: of a list or a wrapper the one inside."""
    inner = schema.get("items", schema)
    name = inner.get("$ref", "").rpartition("/")[2]
    model = document["components"]["schemas"].get(name)
    if model and "properties" not in model:
        return None
    return dict(model) if model else None


def _who(one: Operation) -> str:
    if one.public:
        return "Needs no token."
    scopes = " or ".join(f"`{scope}`" for scope in one.scopes)
    found = [f"an access token with {scopes}" if scopes else "any access token"]
    found += [words for words, may in (("a Connect token", one.connect), ("a person's API key", one.user_key)) if may]
    return f"For {', or '.join(found)}."


def _marked(text: str) -> Markup:
    """``text``, in which backticks stand around code."""
    parts = [
        Markup("<code>{}</code>").format(part) if n % 2 else escape(part) for n, part in enumerate(text.split("`"))
    ]
    return Markup("").join(parts)
