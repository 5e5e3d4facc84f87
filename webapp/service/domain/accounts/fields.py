"""The values of an app's custom fields, as a person or client enters them."""

import json
import re
from collections.abc import Mapping, Sequence

from webapp.errors import Detail, Invalid
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


def checked(fields: Sequence[CustomField], texts: Mapping[str, str]) -> dict[str, str]:
    """The values of ``fields`` from ``texts``, trimmed, with defaults.

    Raises :class:`Invalid` with a detail for each wrong field.
    """
    values, problems = dict[str, str](), dict[str, str]()
    for field in fields:
        source = field.name if not field.read_from or texts.get(field.name, "").strip() else field.read_from
        value = texts.get(source, "").strip() or (field.default or "")
        if sentence := problem(field, value, optional=field.optional):
            problems.setdefault(source, sentence)
        elif value:
            values[field.name] = kept(field, value)
    if problems:
        raise _invalid([Detail(name, sentence) for name, sentence in problems.items()])
    return values


def kept(field: CustomField, value: str) -> str:
    """The part of a valid value that is stored: the named group of the field's pattern, else all of it."""
    match = re.fullmatch(field.pattern, value, re.IGNORECASE) if field.pattern else None
    return match[1] if match else value


def problem(field: CustomField, value: str, *, optional: bool) -> str | None:
    """What is wrong with a value, in a sentence; None if nothing is."""
    if not value:
        return None if optional else f"Enter the {field.label}."
    if len(value) > MAX_VALUE:
        return f"The {field.label} is longer than {MAX_VALUE:,} characters."
    if any(_untypable(character) for character in value):
        return f"The {field.label} contains characters that cannot be typed; copy it again."
    if field.options and value not in [option.value for option in field.options]:
        return f"Choose one of the offered values for {field.label}."
    if field.pattern and not re.fullmatch(field.pattern, value, re.IGNORECASE):
        return field.advice
    return None


def _untypable(character: str) -> bool:
    return (ord(character) < 32 and character not in "\n\r\t") or "\ud800" <= character <= "\udfff"


def _invalid(details: list[Detail]) -> Invalid:
    return Invalid(" ".join(detail.message for detail in details), details)
