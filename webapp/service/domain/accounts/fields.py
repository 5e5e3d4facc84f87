"""The custom fields of an app as a person or client fills them in."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from webapp.errors import Detail, Invalid
from webapp.service.catalog.app import App
from webapp.service.catalog.spec import CustomField

MAX_VALUE = 20_000


def parse_cfmap(text: str) -> dict[str, str]:
    """The object in ``cfmap_json``: names to strings. Raises :class:`Invalid`."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _invalid([Detail("cfmap_json", "It must be a JSON object in a string.")]) from error
    if not isinstance(values, dict):
        raise _invalid([Detail("cfmap_json", "It must be a JSON object in a string.")])
    wrong = [name for name, value in values.items() if isinstance(value, dict | list | bool)]
    if wrong:
        raise _invalid([Detail(f"cfmap_json.{name}", "It must be a string.") for name in wrong])
    return {name: "" if value is None else str(value) for name, value in values.items()}


def checked(app: App, texts: Mapping[str, str]) -> dict[str, str]:
    """The values of the app's own fields out of ``texts``, trimmed, with defaults. Raises :class:`Invalid`."""
    return values_of(app.spec.fields, texts)


def values_of(facts: Sequence[CustomField], texts: Mapping[str, str]) -> dict[str, str]:
    """The same for any fields."""
    values, details = dict[str, str](), list[Detail]()
    for field in facts:
        value = texts.get(field.name, "").strip() or (field.default or "")
        problem = _problem(value, optional=field.optional, options=field.options, label=field.label)
        if problem:
            details.append(Detail(field.name, problem))
        elif value:
            values[field.name] = value
    if details:
        raise _invalid(details)
    return values


def preset(app: App, presets: Mapping[str, Any]) -> tuple[dict[str, str], list[Detail]]:
    """The values in ``presets`` that may be preset for ``app``, and what is wrong with the others."""
    values, details = dict[str, str](), list[Detail]()
    known = {field.name: field for field in app.spec.fields}
    for name, value in presets.items():
        field = known.get(name)
        if field is None:
            details.append(Detail(name, f"{app.name} has no such field."))
        elif field.secret:
            details.append(Detail(name, "It is secret, so only the person who connects may enter it."))
        elif not isinstance(value, str | int) or isinstance(value, bool):
            details.append(Detail(name, "It must be a string."))
        elif problem := _problem(str(value).strip(), optional=False, options=field.options, label=field.label):
            details.append(Detail(name, problem))
        else:
            values[name] = str(value).strip()
    return values, details


def _problem(value: str, *, optional: bool, options: object, label: str) -> str | None:
    if not value:
        return None if optional else f"Enter the {label}."
    if len(value) > MAX_VALUE:
        return f"The {label} is longer than {MAX_VALUE:,} characters."
    if any(_untypable(character) for character in value):
        return f"The {label} holds characters that cannot be typed; copy it again."
    if options and value not in _choices(options):
        return f"Choose one of the offered values for {label}."
    return None


def _untypable(character: str) -> bool:
    return (ord(character) < 32 and character not in "\n\r\t") or "\ud800" <= character <= "\udfff"


def _choices(options: object) -> list[str]:
    if not isinstance(options, list | tuple):
        return []
    return [str(getattr(option, "value", option)) for option in options]


def _invalid(details: list[Detail]) -> Invalid:
    return Invalid(" ".join(detail.message for detail in details), details)
