"""What a value of each prop type looks like (contract "Prop types"), as one check per type.

A check takes the prop's declaration and a value that is already free of labels, and tells in one sentence what is
wrong with it, or None. Which values must be there is :mod:`prop_values`'s to say.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from webapp.kit.sentences import marked

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


def problem(prop: Prop, value: Any) -> str | None:
    """What is wrong with ``value`` for ``prop``, in one sentence; None when it fits. An unknown type fits anything."""
    check = CHECKS.get(prop["type"])
    return check(prop, value) if check else None


def _kind(value: Any) -> str:
    """What ``value`` is, in plain words."""
    return _KINDS.get(type(value)) or marked("something else")


def _app(prop: Prop, value: Any) -> str | None:
    if not isinstance(value, dict):
        return f'It must be a connected account, as {{"authProvisionId": "apn_…"}}, not {_kind(value)}.'
    if not isinstance(value.get("authProvisionId"), str):
        return "It must hold authProvisionId, the id of a connected account."
    return None


def _text(prop: Prop, value: Any) -> str | None:
    if not isinstance(value, str):
        return f"It must be text, not {_kind(value)}."
    return _offered(prop, value)


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
    """Whether ``value`` is one of the prop's fixed options; what is looked up elsewhere may be anything."""
    options = prop.get("options")
    if not options or prop.get("remoteOptions"):
        return None
    known = [option_value(option) for option in options]
    return None if value in known else "It is none of the choices that this field offers."


def option_value(option: Any) -> Any:
    """The value that an option stands for, in any of the forms that an option may have."""
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
        return "It holds both intervalSeconds and cron; give one of them."
    if interval is not None:
        whole = isinstance(interval, int) and not isinstance(interval, bool) and interval > 0
        return None if whole else "Its intervalSeconds must be a whole number from 1."
    if not isinstance(value.get("cron"), str):
        return "It must hold intervalSeconds, or cron with timezone."
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
