"""The values that somebody gave to a component's props: freed of labels, checked, completed with defaults.

Values arrive as ``configured_props`` (contract "Values"): each may be wrapped as ``{"__lv": {"label", "value"}}``, and
so may the items of a list. What a value of each type looks like is :mod:`prop_checks`'s.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from webapp.errors import Detail, Invalid, about
from webapp.service.domain.components import prop_checks

Prop = Mapping[str, Any]
OPEN_AUTH = frozenset({"type", "username"})
CREDENTIAL_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"})
LABELLED = "__lv"
MAX_DEPTH = 100
FIELD = "configured_props"


@dataclass(frozen=True, slots=True)
class Values:
    """``props`` by name without any label, ``labels`` of those that came with one, ``accounts`` by app prop."""

    props: Mapping[str, Any] = field(repr=False)
    labels: Mapping[str, str] = field(repr=False)
    accounts: Mapping[str, str]


def checked(props: Sequence[Prop], configured: Mapping[str, Any], *, whole: bool) -> Values:
    """``configured`` as values for ``props``; those of other names are left out, and null is no value.

    With ``whole`` every required value must be there and defaults fill what is missing; without, only what was given
    is looked at. Raises :class:`Invalid` with a detail for each prop.
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
            values[prop["name"]] = value
            if label is not None:
                labels[prop["name"]] = label
    if problems:
        raise refused(problems)
    accounts = {prop["name"]: _account_id(values.pop(prop["name"], None)) for prop in props if prop["type"] == "app"}
    return Values(values, labels, {name: account_id for name, account_id in accounts.items() if account_id})


def unwrapped(value: Any, depth: int = 0) -> tuple[Any, str | None]:
    """``value`` without any label around or inside it, and the label that stood around it. Raises Invalid."""
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
    """``value``, which nobody below must follow deeper than :data:`MAX_DEPTH` levels. Raises ``ValueError``."""
    level = [value]
    for _ in range(MAX_DEPTH):
        containers = [item for item in level if isinstance(item, dict | list)]
        level = [child for item in containers for child in (item.values() if isinstance(item, dict) else item)]
        if not level:
            return value
    raise ValueError(f"It is nested more than {MAX_DEPTH} levels deep.")


def refused(problems: Sequence[Detail]) -> Invalid:
    """What is wrong with the values: one sentence, and a detail for each prop."""
    if len(problems) == 1:
        name = problems[0].field.removeprefix(f"{FIELD}.")
        return Invalid(about(name, problems[0].message), problems)
    names = ", ".join(problem.field.removeprefix(f"{FIELD}.") for problem in problems)
    return Invalid(f"These values are not valid: {names}; see the details.", problems)


def without_secrets(props: Sequence[Prop], configured: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """``configured`` as it may be kept and shown, and the names of the values that secrets were taken out of."""
    kept, masked = dict(configured), list[str]()
    for prop in props:
        name, value = prop["name"], configured.get(prop["name"])
        if prop.get("secret") and value not in (None, "", []):
            kept[name] = None
            masked.append(name)
        elif prop["type"] == "http_request" and http_secrets(plain := unwrapped(value)[0]):
            kept[name] = without_http_secrets(plain)
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
            secrets += http_secrets(value)
    return secrets


def http_secrets(value: Any) -> list[str]:
    """The credentials in the value of an ``http_request`` prop: in its ``auth``, and in headers that carry one."""
    if not isinstance(value, dict):
        return []
    auth, headers = value.get("auth"), value.get("headers")
    members = [text for name, text in auth.items() if name not in OPEN_AUTH] if isinstance(auth, dict) else []
    carried = [header.get("value") for header in headers if _is_credential(header)] if isinstance(headers, list) else []
    return [text for text in (*members, *carried) if isinstance(text, str) and text]


def without_http_secrets(value: dict[str, Any]) -> dict[str, Any]:
    """``value`` with what :func:`http_secrets` finds taken out."""
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
    wrong = None if value is None else prop_checks.problem(prop, value)
    if wrong is None and whole and is_required(prop) and _is_empty(prop, value):
        return missing(prop)
    return wrong


def missing(prop: Prop) -> str:
    """What to say where there is no value for ``prop``, which needs one."""
    return "It is missing; choose a connected account." if prop["type"] == "app" else "It is missing; fill it in."


def is_required(prop: Prop) -> bool:
    """Whether somebody must give a value for ``prop``."""
    if prop["type"] in prop_checks.NEVER_ASKED:
        return False
    return not any(prop.get(flag) for flag in ("optional", "hidden", "disabled"))


def _is_empty(prop: Prop, value: Any) -> bool:
    """Whether ``value`` is no answer to a required question: nothing, an empty text, a statement without words."""
    if prop["type"] == "sql" and isinstance(value, dict):
        return not (value.get("query") or value.get("value"))
    return value is None or value == ""


def _account_id(value: Any) -> str | None:
    return value["authProvisionId"] if value else None
