"""The values of a component's props: unwrapped from labels, checked, and completed with defaults.

Values arrive as ``configured_props`` (contract "Values"): each may be wrapped as ``{"__lv": {"label", "value"}}``, and
so may the items of a list. There is one check for each prop type (contract "Prop types"): it takes the prop's
declaration and an unwrapped value, and returns a sentence about the problem, or None.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from webapp.errors import Detail, Invalid, about
from webapp.kit.sentences import marked
from webapp.service.components.props import JSON

Prop = Mapping[str, Any]
Check = Callable[[Prop, Any], str | None]
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_AUTH_TYPES = ("basic", "bearer", "none")
_KINDS: Mapping[type, str] = {
    bool: marked("true or false"),
    int: marked("a whole number"),
    float: marked("a number with a fraction"),
    str: marked("text"),
    list: marked("a list"),
    dict: marked("an object"),
    type(None): marked("nothing"),
}
OPEN_AUTH = frozenset({"type", "username"})
CREDENTIAL_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"})
LABELLED = "__lv"
MAX_DEPTH = 100
FIELD = "configured_props"


def problem(prop: Prop, value: Any) -> str | None:
    """The problem of ``value`` for ``prop``, as a sentence; None if it is valid.

    Any value is valid for an unknown type.
    """
    check = CHECKS.get(prop["type"])
    return check(prop, value) if check else None


def _kind(value: Any) -> str:
    """What ``value`` is, in plain words."""
    return _KINDS.get(type(value)) or marked("something else")


def _app(prop: Prop, value: Any) -> str | None:
    if not isinstance(value, dict):
        return f'It must be a connected account, as {{"authProvisionId": "apn_…"}}, not {_kind(value)}.'
    if not isinstance(value.get("authProvisionId"), str):
        return "It must contain authProvisionId, the id of a connected account."
    return None


def _text(prop: Prop, value: Any) -> str | None:
    if prop.get("format") == JSON:
        return _json_problem(value)
    if not isinstance(value, str):
        return f"It must be text, not {_kind(value)}."
    return _offered(prop, value)


def _json_problem(value: Any) -> str | None:
    """The problem of text that begins like a list or an object and is not JSON; any other value is valid."""
    try:
        _from_json(value)
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        return f"It must be JSON, such as [1, 2] or {{}}: {reason}."
    return None


def _from_json(value: Any) -> Any:
    """The list or object that the text ``value`` holds, and of a list of such texts of objects each, as callers send
    who know lists of text alone; any other value unchanged. Raises ``ValueError``.
    """
    if isinstance(value, list) and value and all(isinstance(item, str) and _is_object(item) for item in value):
        return [_from_json(item) for item in value]
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        return shallow(json.loads(value))
    return value


def _is_object(text: str) -> bool:
    return text.lstrip().startswith("{")


def _integer(prop: Prop, value: Any) -> str | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return f"It must be a whole number, not {_kind(value)}."
    low, high = prop.get("min"), prop.get("max")
    if low is not None and value < low:
        return f"It must be at least {low}."
    if high is not None and value > high:
        return f"It must be at most {high}."
    return _offered(prop, value)


def _boolean(prop: Prop, value: Any) -> str | None:
    return None if isinstance(value, bool) else f"It must be true or false, not {_kind(value)}."


def _object(prop: Prop, value: Any) -> str | None:
    return None if isinstance(value, dict) else f"It must be an object, not {_kind(value)}."


def _list_of(check_item: Check) -> Check:
    def check(prop: Prop, value: Any) -> str | None:
        if not isinstance(value, list):
            return f"It must be a list, not {_kind(value)}."
        for place, item in enumerate(value, 1):
            wrong = check_item(prop, item)
            if wrong:
                return f"Item {place}: {wrong[:1].lower()}{wrong[1:]}"
        return None

    return check


def _offered(prop: Prop, value: Any) -> str | None:
    """Whether ``value`` is one of the prop's fixed options; with remote options any value is."""
    options = prop.get("options")
    if not options or prop.get("remoteOptions"):
        return None
    known = [option_value(option) for option in options]
    return None if value in known else "It is none of the choices that this field offers."


def option_value(option: Any) -> Any:
    """The value of an option, in any of its forms."""
    if not isinstance(option, dict):
        return option
    option = option.get("__lv", option)
    return option.get("value") if isinstance(option, dict) else option


def _sql(prop: Prop, value: Any) -> str | None:
    if not isinstance(value, dict):
        return f'It must be a statement, as {{"query": "select …", "params": []}}, not {_kind(value)}.'
    if not isinstance(value.get("query", value.get("value")), str):
        return "Its query must be text."
    if not isinstance(value.get("params") or [], list):
        return "Its params must be a list."
    auth = value.get("auth")
    if auth is not None and not (isinstance(auth, dict) and isinstance(auth.get("app"), str)):
        return 'Its auth must be an object, as {"app": "postgresql"}.'
    if not isinstance(value.get("usePreparedStatements", False), bool):
        return "Its usePreparedStatements must be true or false."
    return None


def _http_request(prop: Prop, value: Any) -> str | None:
    if not isinstance(value, dict):
        return f'It must be a request, as {{"method": "GET", "url": "https://…"}}, not {_kind(value)}.'
    if not isinstance(value.get("url"), str):
        return "Its url must be text."
    if str(value.get("method", "GET")).upper() not in METHODS:
        return f"Its method must be one of {', '.join(sorted(METHODS))}."
    for name in ("headers", "params"):
        if not _are_pairs(value.get(name) or []):
            return f'Its {name} must be a list of {{"name": "…", "value": "…"}}.'
    if not isinstance(value.get("body") or {}, dict):
        return "Its body must be an object."
    auth = value.get("auth") or {}
    if not isinstance(auth, dict) or auth.get("type", "none") not in _AUTH_TYPES:
        return "Its auth must be an object whose type is basic, bearer or none."
    return None


def _are_pairs(pairs: Any) -> bool:
    if not isinstance(pairs, list):
        return False
    return all(isinstance(pair, dict) and _texts([pair.get("name"), pair.get("value", "")]) for pair in pairs)


def _texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _timer(prop: Prop, value: Any) -> str | None:
    if not isinstance(value, dict):
        return f'It must be a schedule, as {{"intervalSeconds": 900}}, not {_kind(value)}.'
    interval = value.get("intervalSeconds")
    if interval is not None and value.get("cron"):
        return "It contains both intervalSeconds and cron; give one of them."
    if interval is not None:
        whole = isinstance(interval, int) and not isinstance(interval, bool) and interval > 0
        return None if whole else "Its intervalSeconds must be a whole number from 1."
    if not isinstance(value.get("cron"), str):
        return "It must contain intervalSeconds, or cron with timezone."
    if not isinstance(value.get("timezone") or "", str):
        return "Its timezone must be text, such as Europe/Berlin."
    return None


def _store(prop: Prop, value: Any) -> str | None:
    return None if isinstance(value, str | dict) else f"It must be the id of a data store, not {_kind(value)}."


CHECKS: Mapping[str, Check] = {
    "app": _app,
    "string": _text,
    "string[]": _list_of(_text),
    "integer": _integer,
    "integer[]": _list_of(_integer),
    "boolean": _boolean,
    "object": _object,
    "sql": _sql,
    "http_request": _http_request,
    "data_store": _store,
    "dir": _object,
    "$.interface.timer": _timer,
    "$.interface.http": _object,
    "$.interface.apphook": _object,
    "$.service.db": _object,
    "$.airtable.baseId": _text,
    "$.airtable.tableId": _text,
    "$.airtable.viewId": _text,
    "$.airtable.fieldId": _text,
    "$.discord.channel": _text,
    "$.discord.channel[]": _list_of(_text),
}
# Nobody is asked for these (contract "Prop types"), so they are never missing; an alert has no value at all.
NEVER_ASKED = frozenset(
    {"alert", "dir", "$.interface.http", "$.interface.timer", "$.interface.apphook", "$.service.db"}
)


@dataclass(frozen=True, slots=True)
class Values:
    """``props`` by name without labels, ``labels`` of those that had one, ``accounts`` by app prop."""

    props: Mapping[str, Any] = field(repr=False)
    labels: Mapping[str, str] = field(repr=False)
    accounts: Mapping[str, str]


def checked(props: Sequence[Prop], configured: Mapping[str, Any], *, whole: bool) -> Values:
    """``configured`` as values for ``props``; those of other names are left out, and null is no value.

    With ``whole`` every required value must be present and defaults are added; otherwise only the given values are
    checked. Raises :class:`Invalid` with a detail for each prop.
    """
    values: dict[str, Any] = {}
    labels: dict[str, str] = {}
    problems: list[Detail] = []
    for prop in props:
        value, label = unwrapped(configured.get(prop["name"]))
        if whole and (value is None or (value == "" and not prop.get("optional"))):
            value = prop.get("default")
        wrong = _problem(prop, value, whole=whole)
        if wrong:
            problems.append(Detail(f"{FIELD}.{prop['name']}", wrong))
        elif value is not None and prop["type"] != "alert":
            values[prop["name"]] = _from_json(value) if prop.get("format") == JSON else value
            if label is not None:
                labels[prop["name"]] = label
    if problems:
        raise refused(problems)
    accounts = {prop["name"]: _account_id(values.pop(prop["name"], None)) for prop in props if prop["type"] == "app"}
    return Values(values, labels, {name: account_id for name, account_id in accounts.items() if account_id})


def unwrapped(value: Any, depth: int = 0) -> tuple[Any, str | None]:
    """``value`` without labels around or inside it, and the label that was around it. Raises Invalid."""
    if depth > MAX_DEPTH:
        raise Invalid("A value is nested too deeply; make it flatter.", [Detail(FIELD, "It is nested too deeply.")])
    if isinstance(value, dict):
        if value.keys() == {LABELLED}:
            return _labelled(value[LABELLED], depth)
        return {name: unwrapped(item, depth + 1)[0] for name, item in value.items()}, None
    if isinstance(value, list):
        pairs = [unwrapped(item, depth + 1) for item in value]
        labels = [label for _, label in pairs if label is not None]
        return [item for item, _ in pairs], ", ".join(labels) if labels else None
    return value, None


def shallow(value: Any) -> Any:
    """``value``, if it is nested at most :data:`MAX_DEPTH` levels. Raises ``ValueError``."""
    level = [value]
    for _ in range(MAX_DEPTH):
        containers = [item for item in level if isinstance(item, dict | list)]
        level = [child for item in containers for child in (item.values() if isinstance(item, dict) else item)]
        if not level:
            return value
    raise ValueError(f"It is nested more than {MAX_DEPTH} levels deep.")


def refused(problems: Sequence[Detail]) -> Invalid:
    """The error for invalid values: one sentence, and a detail for each prop."""
    if len(problems) == 1:
        name = problems[0].field.removeprefix(f"{FIELD}.")
        return Invalid(about(name, problems[0].message), problems)
    names = ", ".join(problem.field.removeprefix(f"{FIELD}.") for problem in problems)
    return Invalid(f"These values are not valid: {names}; see the details.", problems)


def unknown(props: Sequence[Prop], configured: Mapping[str, Any]) -> list[str]:
    """The names in ``configured`` that have a value but are no props."""
    known = {prop["name"] for prop in props}
    return [name for name, value in configured.items() if name not in known and value is not None]


def without_secrets(props: Sequence[Prop], configured: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """``configured`` without secrets, to store and show, and the names of the values that were changed."""
    kept, masked = dict(configured), list[str]()
    for prop in props:
        name, value = prop["name"], configured.get(prop["name"])
        if prop.get("secret") and value not in (None, "", []):
            kept[name] = None
            masked.append(name)
        elif prop["type"] == "http_request" and _http_secrets(plain := unwrapped(value)[0]):
            kept[name] = _without_http_secrets(plain)
            masked.append(name)
    return kept, masked


def secrets_in(props: Sequence[Prop], values: Mapping[str, Any]) -> list[str]:
    """The texts of all secret values, so that they can be taken out of what a run wrote."""
    secrets = []
    for prop in props:
        value = values.get(prop["name"])
        if prop.get("secret"):
            secrets += [
                text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str) and text
            ]
        elif prop["type"] == "http_request":
            secrets += _http_secrets(value)
    return secrets


def _http_secrets(value: Any) -> list[str]:
    """The credentials in the value of an ``http_request`` prop: in its ``auth``, and in headers that carry one."""
    if not isinstance(value, dict):
        return []
    auth, headers = value.get("auth"), value.get("headers")
    members = [text for name, text in auth.items() if name not in OPEN_AUTH] if isinstance(auth, dict) else []
    carried = [header.get("value") for header in headers if _is_credential(header)] if isinstance(headers, list) else []
    return [text for text in (*members, *carried) if isinstance(text, str) and text]


def _without_http_secrets(value: dict[str, Any]) -> dict[str, Any]:
    """``value`` with what :func:`_http_secrets` finds taken out."""
    kept = dict(value)
    if isinstance(value.get("auth"), dict):
        kept["auth"] = {name: item if name in OPEN_AUTH else None for name, item in value["auth"].items()}
    if isinstance(value.get("headers"), list):
        kept["headers"] = [{**item, "value": None} if _is_credential(item) else item for item in value["headers"]]
    return kept


def _is_credential(header: Any) -> bool:
    return isinstance(header, dict) and str(header.get("name", "")).strip().lower() in CREDENTIAL_HEADERS


def _labelled(inner: Any, depth: int) -> tuple[Any, str | None]:
    if isinstance(inner, list):
        return unwrapped([{LABELLED: item} if _is_pair(item) else item for item in inner], depth + 1)
    if not _is_pair(inner):
        return inner, None
    value, _ = unwrapped(inner["value"], depth + 1)
    label = inner.get("label")
    return value, label if isinstance(label, str) else None


def _is_pair(value: Any) -> bool:
    return isinstance(value, dict) and "value" in value and value.keys() <= {"label", "value"}


def _problem(prop: Prop, value: Any, *, whole: bool) -> str | None:
    if prop["type"] == "alert":
        return None
    wrong = None if value is None else problem(prop, value)
    if wrong is None and whole and is_required(prop) and _is_empty(prop, value):
        return missing(prop)
    return wrong


def missing(prop: Prop) -> str:
    """The sentence if ``prop`` needs a value and has none."""
    return "It is missing; choose a connected account." if prop["type"] == "app" else "It is missing; fill it in."


def is_required(prop: Prop) -> bool:
    """Whether ``prop`` needs a value."""
    if prop["type"] in NEVER_ASKED:
        return False
    return not any(prop.get(flag) for flag in ("optional", "hidden", "disabled"))


def _is_empty(prop: Prop, value: Any) -> bool:
    """Whether ``value`` is no answer to a required prop: null, an empty text, a statement without words."""
    if prop["type"] == "sql" and isinstance(value, dict):
        return not (value.get("query") or value.get("value"))
    return value is None or value == ""


def _account_id(value: Any) -> str | None:
    return value["authProvisionId"] if value else None
