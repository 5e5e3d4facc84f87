"""Form data as a browser sends it, and which control stands for a prop.

A prop ``title`` is sent as ``p.title``; a control with more parts gives each its own prefix before the dot. Values are
kept as they were typed, so that a draft reopens exactly, mistakes included. :mod:`.values` knows what they mean.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from webapp.dashboard.client.models.accounts import App
from webapp.dashboard.client.models.components import Prop
from webapp.kit.translation import gettext

FormData = Mapping[str, list[str]]

# Listed by the service but for machines alone (contract "Prop types").
INFRASTRUCTURE = frozenset({"$.service.db", "$.interface.http", "$.interface.apphook", "dir", "data_store"})
_REMOTE = ("$.airtable.", "$.discord.")
_PLAIN: Mapping[str, str] = {
    "app": "account", "alert": "alert", "sql": "sql", "http_request": "http", "$.interface.timer": "timer",
    "string": "text", "integer": "integer", "boolean": "boolean", "string[]": "lines", "integer[]": "lines",
    "object": "object",
}  # fmt: skip
_WHOLE = frozenset({"account", "alert", "sql", "http", "timer"})

# The prefixes that make up a prop's fields; what is not among them is not part of a draft.
PARTS = (
    "p", "k", "v", "m", "mode", "n", "u", "c", "z", "prep", "url", "method", "hk", "hv", "qk", "qv", "type", "raw",
    "fk", "fv", "auth", "user", "pass", "token", "t",
)  # fmt: skip
SECRET_PARTS = frozenset({"pass", "token"})


def control(prop: Prop) -> str:
    """The control of ``prop``: a name that ``_field.html`` draws, or "" when no person is asked."""
    if prop.hidden or prop.type in INFRASTRUCTURE:
        return ""
    plain = _PLAIN.get(prop.type, "json")
    if plain == "alert":
        return plain
    if prop.disabled or prop.read_only:
        return "fixed"
    if plain in _WHOLE:
        return plain
    many = prop.type.endswith("[]")
    if prop.remote or prop.type.startswith(_REMOTE):
        return "picks" if many else "pick"
    if prop.options:
        return "choices" if many else "choice"
    return "secret" if prop.secret and plain in ("text", "integer") else plain


def labelled(props: Iterable[Prop], app: App) -> tuple[Prop, ...]:
    """``props``, of which an account that has no label but the slug of ``app`` is called by the app's own name."""
    return tuple(
        prop.model_copy(update={"label": app.name})
        if prop.type == "app" and prop.name == app.slug and "label" not in prop.model_fields_set
        else prop
        for prop in props
    )


def first(data: FormData, part: str, prop: Prop) -> str:
    """The first value of one part of a prop, "" when there is none. Browsers end lines with CR LF; we don't."""
    values = data.get(f"{part}.{prop.name}")
    return values[0].replace("\r\n", "\n") if values else ""


def every(data: FormData, part: str, prop: Prop) -> list[str]:
    """All values of one part of a prop."""
    return data.get(f"{part}.{prop.name}", [])


def pairs(data: FormData, keys: str, values: str, prop: Prop) -> list[tuple[str, str]]:
    """The rows of a key–value editor; rows without anything are left out."""
    rows = zip(every(data, keys, prop), every(data, values, prop), strict=False)
    return [(key, value) for key, value in rows if key.strip() or value]


def of_prop(data: FormData, prop: Prop) -> dict[str, list[str]]:
    """The data of one prop."""
    names = {f"{part}.{prop.name}" for part in PARTS}
    return {name: values for name, values in data.items() if name in names}


def sent(form: Iterable[tuple[str, list[str]]]) -> dict[str, list[str]]:
    """The props' data in a form; what is not a prop's is left out."""
    return {name: list(values) for name, values in form if name.partition(".")[0] in PARTS and "." in name}


def keepable(data: FormData, props: Iterable[Prop]) -> dict[str, list[str]]:
    """The data without what is secret: those are never stored."""
    secret = {f"{part}.{prop.name}" for prop in props if prop.secret for part in PARTS}
    return {
        name: values
        for name, values in data.items()
        if name not in secret and name.partition(".")[0] not in SECRET_PARTS
    }


def element_id(name: str) -> str:
    """A stable id for the page; names that are no proper ids become a hash of themselves."""
    if re.fullmatch(r"[A-Za-z0-9_-]{1,60}", name):
        return f"f-{name}"
    return "f-" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]


class InvalidValue(Exception):
    """What was typed cannot be taken. ``str()`` is a sentence for the person."""


class MissingValue(InvalidValue):
    """Nothing was answered where an answer is needed."""


def parse_json(label: str, text: str) -> Any:
    """What somebody typed as JSON. Raises :class:`InvalidValue` that says where it breaks."""
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
