"""The props whose value has parts of its own: an SQL query, an HTTP request, a schedule (contract "Prop types").

Readers answer ``None`` when nothing was filled in.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from webapp.dashboard.client.models.components import Prop, plain
from webapp.dashboard.component import schedule_words
from webapp.dashboard.component.form_data import FormData, InvalidValue, first, pairs, parse_json
from webapp.kit.translation import gettext
from webapp.kit.translation import lazy as _

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
BODIES: Mapping[str, str] = {
    "": _("No body"),
    "application/json": "JSON",
    "application/x-www-form-urlencoded": _("Form"),
    "text/plain": _("Text"),
}
AUTHS: Mapping[str, str] = {"none": _("None"), "basic": _("User name and password"), "bearer": _("Bearer token")}
UNITS: Mapping[str, int] = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400}
_FORM = "application/x-www-form-urlencoded"


def masked(value: Any) -> Any:
    """An HTTP request without what signs it in."""
    auth = dict(value.get("auth") or {})
    for name in ("password", "token"):
        if auth.get(name):
            auth[name] = f"<{name}>"
    return {**value, "auth": auth}


def _read_sql(prop: Prop, data: FormData) -> Any:
    query = first(data, "p", prop).strip()
    if not query:
        return None
    lines = [line for line in first(data, "v", prop).split("\n") if line.strip()]
    value = {
        "value": query,
        "query": query,
        "params": [_param(line.strip()) for line in lines],
        "usePreparedStatements": bool(first(data, "prep", prop)),
    }
    return value | ({"auth": {"app": prop.app}} if prop.app else {})


def _param(line: str) -> Any:
    """A number, ``true``, ``null`` or a quoted text as JSON has it; anything else is text as it stands."""
    try:
        return parse_json("", line)
    except InvalidValue:
        return line


def _shown_param(value: Any) -> str:
    """The line that :func:`_param` reads as ``value``."""
    bare = isinstance(value, str) and "\n" not in value and value == value.strip() != "" and _param(value) == value
    return str(value) if bare else json.dumps(value, ensure_ascii=False)


def _write_sql(prop: Prop, value: Any) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        return {f"p.{prop.name}": [plain(value)]}
    params = value.get("params")
    listed = params if isinstance(params, list) else []
    return {
        f"p.{prop.name}": [str(value.get("query") or value.get("value") or "")],
        f"v.{prop.name}": ["\n".join(_shown_param(item) for item in listed)],
        f"prep.{prop.name}": ["1"] if value.get("usePreparedStatements") else [],
    }


def _read_http(prop: Prop, data: FormData) -> Any:
    url = first(data, "url", prop).strip()
    if not url:
        return None
    method = first(data, "method", prop) or "GET"
    if method not in METHODS:
        raise InvalidValue(gettext("Choose a method for “{label}”.").format(label=prop.label))
    value: dict[str, Any] = {
        "url": url,
        "method": method,
        "headers": _named(data, "hk", "hv", prop),
        "params": _named(data, "qk", "qv", prop),
        "auth": _auth(prop, data),
    }
    body = _body(prop, data)
    return value | ({"body": body} if body else {})


def _named(data: FormData, keys: str, values: str, prop: Prop) -> list[dict[str, str]]:
    return [{"name": key.strip(), "value": value} for key, value in pairs(data, keys, values, prop) if key.strip()]


def _auth(prop: Prop, data: FormData) -> dict[str, str]:
    kind = first(data, "auth", prop)
    if kind == "basic":
        return {"type": kind, "username": first(data, "user", prop), "password": first(data, "pass", prop)}
    if kind == "bearer":
        return {"type": kind, "token": first(data, "token", prop)}
    return {"type": "none"}


def _body(prop: Prop, data: FormData) -> dict[str, Any] | None:
    kind = first(data, "type", prop)
    if not kind:
        return None
    if kind == _FORM:
        rows = _named(data, "fk", "fv", prop)
        return {"type": "fields", "contentType": kind, "mode": "fields", "fields": rows}
    raw = first(data, "raw", prop)
    if kind == "application/json" and raw.strip():
        parse_json(f"{prop.label}: body", raw)
    return {"type": "raw", "contentType": kind, "mode": "raw", "raw": raw}


def _write_http(prop: Prop, value: Any) -> dict[str, list[str]]:
    request = value if isinstance(value, dict) else {}
    body = request["body"] if isinstance(request.get("body"), dict) else {}
    auth = request["auth"] if isinstance(request.get("auth"), dict) else {}
    kind = str(body.get("contentType") or ("text/plain" if body.get("raw") else ""))
    parts = {
        "url": [str(request.get("url") or "")],
        "method": [str(request.get("method") or "GET").upper()],
        "type": [kind if kind in BODIES else "text/plain"],
        "raw": [str(body.get("raw") or "")],
        "auth": [str(auth.get("type") or "none")],
        "user": [str(auth.get("username") or "")],
    }
    for names, values, rows in (
        ("hk", "hv", request.get("headers")), ("qk", "qv", request.get("params")), ("fk", "fv", body.get("fields")),
    ):  # fmt: skip
        objects = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        parts[names] = [str(row.get("name") or "") for row in objects]
        parts[values] = [str(row.get("value") or "") for row in objects]
    return {f"{part}.{prop.name}": texts for part, texts in parts.items()}


def _read_timer(prop: Prop, data: FormData) -> Any:
    if first(data, "mode", prop) == "cron":
        cron = first(data, "c", prop).strip()
        if len(cron.split()) != 5:
            sentence = gettext("“{label}” needs five cron fields, such as 0 9 * * 1-5.")
            raise InvalidValue(sentence.format(label=prop.label))
        schedule = {"cron": cron, "timezone": first(data, "z", prop).strip() or "UTC"}
        schedule_words.check(prop.label, schedule)
        return schedule
    text = first(data, "n", prop).strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or int(text[:9]) < 1:
        raise InvalidValue(gettext("“{label}” needs a whole number of at least 1.").format(label=prop.label))
    return {"intervalSeconds": int(text[:9]) * UNITS.get(first(data, "u", prop), 1)}


def _write_timer(prop: Prop, value: Any) -> dict[str, list[str]]:
    schedule = value if isinstance(value, dict) else {}
    if schedule.get("cron"):
        parts = {"mode": "cron", "c": str(schedule["cron"]), "z": str(schedule.get("timezone") or "UTC")}
        return {f"{part}.{prop.name}": [text] for part, text in parts.items()}
    seconds = schedule.get("intervalSeconds")
    if not isinstance(seconds, int) or isinstance(seconds, bool):
        return {}
    unit, length = next(item for item in reversed(list(UNITS.items())) if seconds % item[1] == 0)
    return {
        f"mode.{prop.name}": ["interval"],
        f"n.{prop.name}": [str(seconds // length)],
        f"u.{prop.name}": [unit],
    }


READERS: Mapping[str, Callable[[Prop, FormData], Any]] = {"sql": _read_sql, "http": _read_http, "timer": _read_timer}
WRITERS: Mapping[str, Callable[[Prop, Any], dict[str, list[str]]]] = {
    "sql": _write_sql, "http": _write_http, "timer": _write_timer,
}  # fmt: skip
