"""Form fields as a browser sends them, and which control stands for a prop.

A prop ``title`` is sent as ``p.title``; a control with more parts gives each its own prefix before the dot. Fields are
kept as they were typed, so that a draft reopens exactly, mistakes included. What they mean is :mod:`.values`' matter.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping

from webapp.dashboard.client.models.components import Prop

Fields = Mapping[str, list[str]]

# Listed by the service but for machines alone (WIRE "Prop types").
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


def needed(prop: Prop) -> bool:
    """Whether a person has to answer, or at least to see it first."""
    return not prop.optional


def first(fields: Fields, part: str, prop: Prop) -> str:
    """The first value of one part of a prop, "" when there is none. Browsers end lines with CR LF; we don't."""
    found = fields.get(f"{part}.{prop.name}")
    return found[0].replace("\r\n", "\n") if found else ""


def every(fields: Fields, part: str, prop: Prop) -> list[str]:
    """All values of one part of a prop."""
    return fields.get(f"{part}.{prop.name}", [])


def pairs(fields: Fields, keys: str, values: str, prop: Prop) -> list[tuple[str, str]]:
    """The rows of a key–value editor; rows without anything are left out."""
    found = zip(every(fields, keys, prop), every(fields, values, prop), strict=False)
    return [(key, value) for key, value in found if key.strip() or value]


def of_prop(fields: Fields, prop: Prop) -> dict[str, list[str]]:
    """The fields of one prop."""
    wanted = {f"{part}.{prop.name}" for part in PARTS}
    return {name: values for name, values in fields.items() if name in wanted}


def sent(form: Iterable[tuple[str, list[str]]]) -> dict[str, list[str]]:
    """The fields in a form; what is not a prop's is left out."""
    return {name: list(values) for name, values in form if name.partition(".")[0] in PARTS and "." in name}


def keepable(fields: Fields, props: Iterable[Prop]) -> dict[str, list[str]]:
    """The fields without what is secret: those are never stored."""
    secret = {f"{part}.{prop.name}" for prop in props if prop.secret for part in PARTS}
    return {
        name: values
        for name, values in fields.items()
        if name not in secret and name.partition(".")[0] not in SECRET_PARTS
    }


def element_id(name: str) -> str:
    """A stable id for the page; names that are no proper ids become a hash of themselves."""
    if re.fullmatch(r"[A-Za-z0-9_-]{1,60}", name):
        return f"f-{name}"
    return "f-" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
