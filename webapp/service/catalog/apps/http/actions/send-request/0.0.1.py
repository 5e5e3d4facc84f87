"""Send one HTTP request, put together by hand, and give back what came."""

import json
from collections.abc import Mapping
from typing import Any

from webapp.service.catalog.shared.hints import DELETES
from webapp.service.components.authoring import Action, ComponentError, Context, HttpResponse, boolean, http_request

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"


class SendRequest(Action):
    name = "Send a request"
    description = (
        "Send an HTTP request to any public address and get back status, headers and body. "
        "[See the documentation](https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Methods)"
    )
    annotations = DELETES

    request = http_request(
        label="Request",
        description="What is sent, and where.",
        aliases=("httpRequest",),
        default={"method": "GET", "url": "", "headers": [], "params": []},
    )
    fail = boolean(label="Fail on an error status", description="A status from 400 on is an error.", default=True)

    def run(self, ctx: Context) -> Any:
        request = ctx.props.request
        method = (request.get("method") or "GET").upper()
        data, content_type = _body(request.get("body") or {})
        user, bearer = _auth(request.get("auth") or {})
        headers = _joined(request.get("headers"))
        answer = ctx.http.request(
            method,
            request["url"].strip(),
            params=_listed(request.get("params")),
            headers=_without(content_type | bearer, headers) | headers,
            data=data,
            auth=user,
            check=False,
        )
        ctx.export("$summary", f"{method} {answer.url.partition('?')[0]} answered with status {answer.status}")
        if ctx.props.fail and answer.status >= 400:
            text = " ".join(answer.text.split())[:300]
            raise ComponentError(f"The server answered with status {answer.status}" + (f": {text}" if text else "."))
        return {
            "status": answer.status,
            "headers": {name.lower(): value for name, value in answer.headers.items()},
            "body": _read(answer),
        }


def _body(body: Mapping[str, Any]) -> tuple[bytes | Mapping[str, Any] | None, dict[str, str]]:
    """What to send, and the header that says what it is."""
    kind = body.get("contentType") or JSON
    if (body.get("mode") or body.get("type") or "raw") == "fields":
        fields = body.get("fields") or {}
        pairs = fields if isinstance(fields, Mapping) else {field["name"]: field.get("value") for field in fields}
        return (pairs if kind == FORM else json.dumps(pairs).encode()), {"Content-Type": kind}
    raw = body.get("raw") or ""
    return (raw.encode(), {"Content-Type": kind}) if raw else (None, {})


def _auth(auth: Mapping[str, Any]) -> tuple[tuple[str, str] | None, dict[str, str]]:
    """User and password for Basic (RFC 7617), or the header of a bearer token (RFC 6750)."""
    if auth.get("type") == "basic":
        return (auth.get("username") or "", auth.get("password") or ""), {}
    if auth.get("type") == "bearer":
        return None, {"Authorization": f"Bearer {auth.get('token') or ''}"}
    return None, {}


def _listed(pairs: Any) -> dict[str, list[str]]:
    """Every value by its name, because a parameter may stand several times."""
    values: dict[str, list[str]] = {}
    for pair in pairs or []:
        if pair.get("name"):
            values.setdefault(pair["name"], []).append(pair.get("value") or "")
    return values


def _joined(pairs: Any) -> dict[str, str]:
    """Headers, of which a repeated one is one with commas (RFC 9110, 5.3)."""
    return {name: ", ".join(values) for name, values in _listed(pairs).items()}


def _without(headers: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Those of ``headers`` that are not among the person's ``own``, in whatever case."""
    named = {name.lower() for name in own}
    return {name: value for name, value in headers.items() if name.lower() not in named}


def _read(answer: HttpResponse) -> Any:
    """JSON as JSON, anything else as text."""
    if "json" not in answer.headers.get("content-type", ""):
        return answer.text
    try:
        return answer.json()
    except ComponentError:
        return answer.text
