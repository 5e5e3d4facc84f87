"""Converts between a prop's form data and the value for the API.

A prop ``title`` has the form field ``p.title``; controls with several parts, such as an SQL query, an HTTP request or a
schedule (contract "Prop types"), have a prefix for each. Data is stored as it was typed, so that a draft shows mistakes
unchanged. :func:`read_value` raises :class:`InvalidValue` with a sentence that names the prop, and returns
:data:`ABSENT` without a value. Options contain their labels (``{"__lv": …}``), which some props need and drafts show.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from webapp.dashboard.client.models.accounts import App
from webapp.dashboard.client.models.components import Option, Prop, option, plain
from webapp.kit.translation import gettext, lazy_pgettext, ngettext
from webapp.kit.translation import lazy as _

FormData = Mapping[str, list[str]]
# Types of props that are not for people (contract "Prop types").
INFRASTRUCTURE = frozenset({"$.service.db", "$.interface.http", "$.interface.apphook", "dir", "data_store"})
_REMOTE = ("$.airtable.", "$.discord.")
_PLAIN: Mapping[str, str] = {
    "app": "account", "alert": "alert", "sql": "sql", "http_request": "http", "$.interface.timer": "timer",
    "string": "text", "integer": "integer", "boolean": "boolean", "string[]": "lines", "integer[]": "lines",
    "object": "object",
}  # fmt: skip
_WHOLE = frozenset({"account", "alert", "sql", "http", "timer"})
VALUE = "p"  # the part that holds the value itself; most controls have no other
DEPLOY_PART, DEPLOY = "t", "deploy:"  # of the fields for deploying a trigger, which are sent and kept like a prop's
SHOWN = "d"  # the form field with the names of the props that are on the page
# The prefixes of a prop's form fields; fields with other prefixes are not part of a draft.
PARTS = (
    VALUE, "k", "v", "m", "mode", "n", "u", "c", "z", "prep", "url", "method", "hk", "hv", "qk", "qv", "type", "raw",
    "fk", "fv", "auth", "user", "pass", "token", DEPLOY_PART,
)  # fmt: skip
SECRET_PARTS = frozenset({"pass", "token"})
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
BODIES: Mapping[str, str] = {
    "": _("No body"),
    "application/json": "JSON",
    "application/x-www-form-urlencoded": _("Form"),
    "text/plain": _("Text"),
}
AUTHS: Mapping[str, str] = {
    "none": lazy_pgettext("authorization", "None"),
    "basic": _("User name and password"),
    "bearer": _("Bearer token"),
}
UNITS: Mapping[str, int] = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400}
_FORM = "application/x-www-form-urlencoded"
FILE = "file-ref"
_FILE_KEY = re.compile(r"\d{1,3}day/[^/]+/[^/]+/[^/]+/u/(file_[A-Za-z0-9]+)/([^/]+)", re.DOTALL)


def control(prop: Prop) -> str:
    """The name of the control of ``prop`` in ``_field.html``, or "" for a prop without a control."""
    if prop.hidden or prop.type in INFRASTRUCTURE:
        return ""
    plain = "json" if prop.format == "json" else _PLAIN.get(prop.type, "json")
    if plain == "alert":
        return plain
    if prop.disabled or prop.read_only:
        return "fixed"
    if plain in _WHOLE:
        return plain
    many = prop.type.endswith("[]")
    if prop.format == FILE and prop.type in ("string", "string[]"):
        return "file"
    if prop.remote or prop.type.startswith(_REMOTE):
        return "picks" if many else "pick"
    if prop.options:
        return "choices" if many else "choice"
    return "secret" if prop.secret and plain in ("text", "integer") else plain


def labelled(props: Iterable[Prop], app: App) -> tuple[Prop, ...]:
    """``props``, with the name of ``app`` as the label of an account whose label is only its slug."""
    return tuple(
        prop.model_copy(update={"label": app.name})
        if prop.type == "app" and prop.name == app.slug and "label" not in prop.model_fields_set
        else prop
        for prop in props
    )


def field_name(name: str, part: str = VALUE) -> str:
    """The name of the form field of a ``part`` of the prop ``name``."""
    return f"{part}.{name}"


def first(data: FormData, part: str, prop: Prop) -> str:
    """The first value of a part of a prop, or "", with LF instead of the browser's CR LF."""
    values = data.get(field_name(prop.name, part))
    return values[0].replace("\r\n", "\n") if values else ""


def every(data: FormData, part: str, prop: Prop) -> list[str]:
    """All values of a part of a prop."""
    return data.get(field_name(prop.name, part), [])


def pairs(data: FormData, keys: str, values: str, prop: Prop) -> list[tuple[str, str]]:
    """The rows of a key–value editor, without empty ones."""
    rows = zip(every(data, keys, prop), every(data, values, prop), strict=False)
    return [(key, value) for key, value in rows if key.strip() or value]


def of_prop(data: FormData, prop: Prop) -> dict[str, list[str]]:
    """The form data of a prop."""
    names = {field_name(prop.name, part) for part in PARTS}
    return {name: values for name, values in data.items() if name in names}


def sent(form: Iterable[tuple[str, list[str]]]) -> dict[str, list[str]]:
    """The form data of props in a request, without other fields."""
    return {name: list(values) for name, values in form if name.partition(".")[0] in PARTS and "." in name}


def keepable(data: FormData, props: Iterable[Prop]) -> dict[str, list[str]]:
    """The data without secrets, which are never stored."""
    secret = {field_name(prop.name, part) for prop in props if prop.secret for part in PARTS}
    return {
        name: values
        for name, values in data.items()
        if name not in secret and name.partition(".")[0] not in SECRET_PARTS
    }


def element_id(name: str) -> str:
    """A stable HTML id for a prop; a hash if its name is not a valid id."""
    if re.fullmatch(r"[A-Za-z0-9_-]{1,60}", name):
        return f"f-{name}"
    return "f-" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]


class InvalidValue(Exception):
    """The value is not valid. ``str()`` is a message to show."""


class MissingValue(InvalidValue):
    """A required value is missing."""


def parse_json(label: str, text: str) -> Any:
    """The typed JSON. Raises :class:`InvalidValue` with the position of the error."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        sentence = gettext("“{label}” is not valid JSON (line {line}, column {column}). Text goes in double quotes.")
        raise InvalidValue(sentence.format(label=label, line=error.lineno, column=error.colno)) from error
    except (ValueError, RecursionError) as error:
        sentence = gettext("“{label}” is not JSON that can be sent. Use plain numbers and less nesting.")
        raise InvalidValue(sentence.format(label=label)) from error


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def schedule_in_words(schedule: Any) -> str:
    """``Every 15 minutes``, ``At 09:00 on Monday through Friday (Europe/Berlin)``; "" if it is not valid."""
    parts = schedule if isinstance(schedule, dict) else {}
    cron, seconds = parts.get("cron"), parts.get("intervalSeconds")
    if isinstance(cron, str) and cron:
        return f"{_explained(cron)} ({parts.get('timezone') or 'UTC'})"
    return (
        _every_in_words(seconds) if isinstance(seconds, int) and not isinstance(seconds, bool) and seconds > 0 else ""
    )


def _every_in_words(seconds: int) -> str:
    """``Every hour``, ``Every 90 seconds``."""
    length = next(length for length in (86_400, 3_600, 60, 1) if seconds % length == 0)
    count = seconds // length
    sentences = {
        86_400: ngettext("Every day", "Every {count} days", count),
        3_600: ngettext("Every hour", "Every {count} hours", count),
        60: ngettext("Every minute", "Every {count} minutes", count),
        1: ngettext("Every second", "Every {count} seconds", count),
    }
    return sentences[length].format(count=f"{count:,}")


def check_schedule(label: str, schedule: dict[str, Any]) -> None:
    """Raise :class:`InvalidValue` for an invalid cron expression or time zone."""
    if "cron" not in schedule:
        return
    zone = str(schedule.get("timezone") or "UTC")
    try:
        place = ZoneInfo(zone)
    except (KeyError, ValueError, OSError) as error:
        sentence = gettext("“{label}” needs a time zone such as Europe/Berlin; “{zone}” is none.")
        raise InvalidValue(sentence.format(label=label, zone=zone[:60])) from error
    try:
        next(CronSim(schedule["cron"], datetime.now(UTC).astimezone(place)))
    except CronSimError as error:
        sentence = gettext("“{label}” is not a cron expression: {reason}. Try 0 9 * * 1-5.")
        raise InvalidValue(sentence.format(label=label, reason=error)) from error
    except StopIteration as error:
        sentence = gettext("“{label}” never runs: there is no such day. Try 0 9 * * 1-5.")
        raise InvalidValue(sentence.format(label=label)) from error


def _explained(cron: str) -> str:
    try:
        return CronSim(cron, datetime.now(UTC)).explain()
    except (CronSimError, ValueError):
        return gettext("Cron {expression}").format(expression=cron)


def masked(value: Any) -> Any:
    """An HTTP request without credentials."""
    auth = dict(value.get("auth") or {})
    for name in ("password", "token"):
        if auth.get(name):
            auth[name] = f"<{name}>"
    return {**value, "auth": auth}


def _read_sql(prop: Prop, data: FormData) -> Any:
    query = first(data, VALUE, prop).strip()
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
    """A line as JSON if it is a number, ``true``, ``null`` or a quoted text, else as text."""
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
        return {field_name(prop.name): [plain(value)]}
    params = value.get("params")
    listed = params if isinstance(params, list) else []
    return {
        field_name(prop.name): [str(value.get("query") or value.get("value") or "")],
        field_name(prop.name, "v"): ["\n".join(_shown_param(item) for item in listed)],
        field_name(prop.name, "prep"): ["1"] if value.get("usePreparedStatements") else [],
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
    return {field_name(prop.name, part): texts for part, texts in parts.items()}


def _read_timer(prop: Prop, data: FormData) -> Any:
    if first(data, "mode", prop) == "cron":
        cron = first(data, "c", prop).strip()
        if len(cron.split()) != 5:
            sentence = gettext("“{label}” needs five cron fields, such as 0 9 * * 1-5.")
            raise InvalidValue(sentence.format(label=prop.label))
        schedule = {"cron": cron, "timezone": first(data, "z", prop).strip() or "UTC"}
        check_schedule(prop.label, schedule)
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
        return {field_name(prop.name, part): [text] for part, text in parts.items()}
    seconds = schedule.get("intervalSeconds")
    if not isinstance(seconds, int) or isinstance(seconds, bool):
        return {}
    unit, length = next(item for item in reversed(list(UNITS.items())) if seconds % item[1] == 0)
    return {
        field_name(prop.name, "mode"): ["interval"],
        field_name(prop.name, "n"): [str(seconds // length)],
        field_name(prop.name, "u"): [unit],
    }


READERS: Mapping[str, Callable[[Prop, FormData], Any]] = {"sql": _read_sql, "http": _read_http, "timer": _read_timer}
WRITERS: Mapping[str, Callable[[Prop, Any], dict[str, list[str]]]] = {
    "sql": _write_sql, "http": _write_http, "timer": _write_timer,
}  # fmt: skip


class _Absent:
    """The type of :data:`ABSENT`."""


ABSENT: Final = _Absent()


def read_value(prop: Prop, data: FormData) -> Any:
    """The value of ``prop``, or :data:`ABSENT`. Raises :class:`InvalidValue`."""
    kind = control(prop)
    if kind in ("", "fixed"):
        return ABSENT if prop.default is None or prop.type.startswith("$.interface") else prop.default
    if kind == "alert":
        return ABSENT
    value = _READERS[kind](prop, data)
    if value is ABSENT and not prop.optional:
        raise MissingValue(_missing(kind).format(label=prop.label))
    return value


def write_value(prop: Prop, value: Any) -> dict[str, list[str]]:
    """The form data for ``value``, without what the prop's control cannot show."""
    kind = control(prop)
    if kind in ("", "fixed", "alert", "secret") or value is None:
        return {}
    if kind in WRITERS:
        return WRITERS[kind](prop, value)
    return {field_name(prop.name, part): texts for part, texts in _parts(prop, kind, value).items()}


def started(prop: Prop) -> dict[str, list[str]]:
    """The form data of an unchanged prop: its default."""
    return write_value(prop, prop.default)


def as_json(prop: Prop, value: Any) -> dict[str, list[str]]:
    """The form data of an object that is edited as JSON."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return {field_name(prop.name, "mode"): ["json"], field_name(prop.name): [text]}


def chosen(prop: Prop, data: FormData) -> list[Option]:
    """The options that are selected in a picker, with their labels."""
    return [option(value) for text in every(data, VALUE, prop) if (value := _decoded(text)) is not None]


def encode(choice: Option) -> str:
    """An option as the value of a radio button: JSON, so that 5 and "5" differ."""
    return json.dumps({"label": choice.label, "value": choice.value}, ensure_ascii=False, separators=(",", ":"))


def file_id(key: str) -> str:
    """The id of the file of the stash with that key; "" for another text."""
    parts = _FILE_KEY.fullmatch(key)
    return parts[1] if parts else ""


def with_file(prop: Prop, data: FormData, file: Option) -> dict[str, list[str]]:
    """``data`` with an uploaded file: of a prop with one file, instead of the one before and of an address."""
    name, text = field_name(prop.name), encode(file)
    if prop.type.endswith("[]"):
        return {**data, name: [*data.get(name, ()), text]}
    return {**data, name: [text], field_name(prop.name, "m"): [""]}


def _files(prop: Prop, data: FormData) -> Any:
    """The uploaded files, and the addresses that were typed; of a prop with one file, the file counts first."""
    typed = [line.strip() for line in first(data, "m", prop).split("\n") if line.strip()]
    values = [*(str(item.value) for item in chosen(prop, data)), *typed]
    if prop.type.endswith("[]"):
        return values or ABSENT
    return values[0] if values else ABSENT


def _file_parts(value: Any) -> dict[str, list[str]]:
    texts = [str(item) for item in (value if isinstance(value, list) else [value])]
    keys = [Option(parts[2], text) for text in texts if (parts := _FILE_KEY.fullmatch(text))]
    typed = [text for text in texts if not file_id(text)]
    return {VALUE: [encode(item) for item in keys], "m": ["\n".join(typed)] if typed else []}


def is_missing(prop: Prop, sentence: str) -> bool:
    """Whether ``sentence``, an error of ``prop``, says only that it was left empty."""
    return sentence in {_missing(kind).format(label=prop.label) for kind in ("pick", "text")}


def _missing(kind: str) -> str:
    is_choice = kind in ("account", "pick", "picks", "choice", "choices", "file")
    return gettext("Choose “{label}”.") if is_choice else gettext("Fill in “{label}”.")


def _parts(prop: Prop, kind: str, value: Any) -> dict[str, list[str]]:
    if kind == "account":
        return {VALUE: [str(value.get("authProvisionId", ""))]} if isinstance(value, dict) else {}
    if kind in ("pick", "choice"):
        return {VALUE: [encode(_known(prop, option(value)))]}
    if kind in ("picks", "choices"):
        listed = value.get("__lv") if isinstance(value, dict) else value
        items = listed if isinstance(listed, list) else [listed]
        return {VALUE: [encode(_known(prop, option(item))) for item in items]}
    if kind == "file":
        return _file_parts(value)
    if kind == "lines":
        items = value if isinstance(value, list) else [value]
        return {VALUE: ["\n".join(plain(item) for item in items)]}
    if kind == "object":
        return _object_parts(value)
    if kind == "boolean":
        return {VALUE: ["true" if value is True else "false"]}
    if kind == "json" and not (prop.format == "json" and isinstance(value, str)):
        return {VALUE: [json.dumps(value, ensure_ascii=False, indent=2)]}
    return {VALUE: [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]}


def _object_parts(value: Any) -> dict[str, list[str]]:
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return {"mode": ["rows"], "k": list(value), "v": list(value.values())}
    return {"mode": ["json"], VALUE: [json.dumps(value, ensure_ascii=False, indent=2)]}


def _known(prop: Prop, chosen: Option) -> Option:
    """The option, with the label of the prop's static option with this value."""
    same = (
        choice for choice in prop.options if choice.value == chosen.value and type(choice.value) is type(chosen.value)
    )
    return next(same, chosen)


def _account(prop: Prop, data: FormData) -> Any:
    account_id = first(data, VALUE, prop)
    return {"authProvisionId": account_id} if account_id else ABSENT


def _text(prop: Prop, data: FormData) -> Any:
    return first(data, VALUE, prop) or ABSENT


def _secret(prop: Prop, data: FormData) -> Any:
    return _integer(prop, data) if prop.type == "integer" else _text(prop, data)


def _integer(prop: Prop, data: FormData) -> Any:
    text = first(data, VALUE, prop).strip()
    return _whole(prop, text) if text else ABSENT


def _whole(prop: Prop, text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 15:
        sentence = gettext("“{label}” must be a whole number, such as {example}.")
        raise InvalidValue(sentence.format(label=prop.label, example=prop.min if prop.min is not None else 5))
    number = int(text)
    if prop.min is not None and number < prop.min:
        raise InvalidValue(gettext("“{label}” must be at least {low}.").format(label=prop.label, low=f"{prop.min:,}"))
    if prop.max is not None and number > prop.max:
        raise InvalidValue(gettext("“{label}” must be at most {high}.").format(label=prop.label, high=f"{prop.max:,}"))
    return number


def _boolean(prop: Prop, data: FormData) -> Any:
    texts = every(data, VALUE, prop)
    return {"true": True, "false": False}.get(texts[-1], ABSENT) if texts else ABSENT


def _lines(prop: Prop, data: FormData) -> Any:
    lines = [line.strip() for line in first(data, VALUE, prop).split("\n") if line.strip()]
    if prop.type.startswith("integer"):
        return [_whole(prop, line) for line in lines] or ABSENT
    return lines or ABSENT


def _json(prop: Prop, data: FormData) -> Any:
    """JSON; a string that may hold JSON may be any other text too."""
    text = first(data, VALUE, prop).strip()
    if not text:
        return ABSENT
    if prop.format == "json" and not text.startswith(("[", "{")):
        with suppress(InvalidValue):
            return parse_json(prop.label, text)
        return text
    return parse_json(prop.label, text)


def _rows(prop: Prop, data: FormData) -> Any:
    if first(data, "mode", prop) == "json":
        value = _json(prop, data)
        if value is not ABSENT and not isinstance(value, dict):
            sentence = gettext("“{label}” must be a JSON object, such as {example}.")
            raise InvalidValue(sentence.format(label=prop.label, example='{"name": "value"}'))
        return value
    rows = pairs(data, "k", "v", prop)
    if any(not key.strip() for key, _ in rows):
        raise InvalidValue(gettext("Give every row of “{label}” a name.").format(label=prop.label))
    return {key.strip(): value for key, value in rows} or ABSENT


def _one(prop: Prop, data: FormData) -> Any:
    typed = first(data, "m", prop).strip()
    if typed:
        return _typed(prop, typed)
    options = chosen(prop, data)
    if not options:
        return ABSENT
    return {"__lv": _lv(options[-1])} if prop.with_label else options[-1].value


def _many(prop: Prop, data: FormData) -> Any:
    options = chosen(prop, data)
    lines = [line.strip() for line in first(data, "m", prop).split("\n") if line.strip()]
    options += [Option(line, _typed(prop, line)) for line in lines]
    if not options:
        return ABSENT
    return {"__lv": [_lv(item) for item in options]} if prop.with_label else [item.value for item in options]


def _typed(prop: Prop, text: str) -> Any:
    """A typed value, converted to the prop's type."""
    if prop.type.startswith("integer"):
        return _whole(prop, text)
    if prop.type.startswith("boolean"):
        return text.lower() in ("true", "yes", "1")
    return text


def _lv(choice: Option) -> Mapping[str, Any]:
    return {"label": choice.label, "value": choice.value}


def _decoded(text: str) -> Any:
    """The option that :func:`encode` encoded, as a dictionary; None for other texts."""
    try:
        value = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and "value" in value else None


def _of_parts(prop: Prop, data: FormData) -> Any:
    value = READERS[control(prop)](prop, data)
    return ABSENT if value is None else value


_READERS: Mapping[str, Callable[[Prop, FormData], Any]] = {
    "account": _account, "text": _text, "secret": _secret, "integer": _integer, "boolean": _boolean, "lines": _lines,
    "object": _rows, "json": _json, "file": _files, "pick": _one, "choice": _one, "picks": _many, "choices": _many,
    "sql": _of_parts, "http": _of_parts, "timer": _of_parts,
}  # fmt: skip
