"""What a prop's form data means: from data to the value that the API takes, and from a value to the data that shows it.

:func:`read` raises :class:`InvalidValue` with one sentence that names the prop; :data:`ABSENT` stands for no answer.
Options carry their labels (``{"__lv": …}``), for props that ask for labels and so that a draft can show them.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from webapp.dashboard.client.models.components import Option, Prop, option, plain
from webapp.dashboard.component import structured
from webapp.dashboard.component.form_data import (
    FormData,
    InvalidValue,
    MissingValue,
    control,
    every,
    first,
    pairs,
    parse_json,
)
from webapp.kit.translation import gettext


class _Absent:
    """No answer."""


ABSENT: Final = _Absent()


def read(prop: Prop, data: FormData) -> Any:
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


def write(prop: Prop, value: Any) -> dict[str, list[str]]:
    """The data that shows ``value``; what cannot be shown by the prop's control is left out."""
    kind = control(prop)
    if kind in ("", "fixed", "alert", "secret") or value is None:
        return {}
    if kind in structured.WRITERS:
        return structured.WRITERS[kind](prop, value)
    return {f"{part}.{prop.name}": texts for part, texts in _parts(prop, kind, value).items()}


def started(prop: Prop) -> dict[str, list[str]]:
    """The data of a prop that nobody has touched: its default."""
    return write(prop, prop.default)


def as_json(prop: Prop, value: Any) -> dict[str, list[str]]:
    """The data of an object that is written as JSON."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return {f"mode.{prop.name}": ["json"], f"p.{prop.name}": [text]}


def chosen(prop: Prop, data: FormData) -> list[Option]:
    """The options that are chosen in a picker, with their labels."""
    return [option(value) for text in every(data, "p", prop) if (value := _decoded(text)) is not None]


def encode(choice: Option) -> str:
    """An option as the value of a radio button: JSON, so that 5 and "5" stay apart."""
    return json.dumps({"label": choice.label, "value": choice.value}, ensure_ascii=False, separators=(",", ":"))


def _missing(kind: str) -> str:
    is_choice = kind in ("account", "pick", "picks", "choice", "choices")
    return gettext("Choose “{label}”.") if is_choice else gettext("Fill in “{label}”.")


def _parts(prop: Prop, kind: str, value: Any) -> dict[str, list[str]]:
    if kind == "account":
        return {"p": [str(value.get("authProvisionId", ""))]} if isinstance(value, dict) else {}
    if kind in ("pick", "choice"):
        return {"p": [encode(_known(prop, option(value)))]}
    if kind in ("picks", "choices"):
        listed = value.get("__lv") if isinstance(value, dict) else value
        items = listed if isinstance(listed, list) else [listed]
        return {"p": [encode(_known(prop, option(item))) for item in items]}
    if kind == "lines":
        items = value if isinstance(value, list) else [value]
        return {"p": ["\n".join(plain(item) for item in items)]}
    if kind == "object":
        return _object_parts(value)
    if kind == "boolean":
        return {"p": ["true" if value is True else "false"]}
    if kind == "json":
        return {"p": [json.dumps(value, ensure_ascii=False, indent=2)]}
    return {"p": [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]}


def _object_parts(value: Any) -> dict[str, list[str]]:
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return {"mode": ["rows"], "k": list(value), "v": list(value.values())}
    return {"mode": ["json"], "p": [json.dumps(value, ensure_ascii=False, indent=2)]}


def _known(prop: Prop, chosen: Option) -> Option:
    """With the label of the static option of that value."""
    same = (
        choice for choice in prop.options if choice.value == chosen.value and type(choice.value) is type(chosen.value)
    )
    return next(same, chosen)


def _account(prop: Prop, data: FormData) -> Any:
    account_id = first(data, "p", prop)
    return {"authProvisionId": account_id} if account_id else ABSENT


def _text(prop: Prop, data: FormData) -> Any:
    return first(data, "p", prop) or ABSENT


def _secret(prop: Prop, data: FormData) -> Any:
    return _integer(prop, data) if prop.type == "integer" else _text(prop, data)


def _integer(prop: Prop, data: FormData) -> Any:
    text = first(data, "p", prop).strip()
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
    texts = every(data, "p", prop)
    return {"true": True, "false": False}.get(texts[-1], ABSENT) if texts else ABSENT


def _lines(prop: Prop, data: FormData) -> Any:
    lines = [line.strip() for line in first(data, "p", prop).split("\n") if line.strip()]
    if prop.type.startswith("integer"):
        return [_whole(prop, line) for line in lines] or ABSENT
    return lines or ABSENT


def _json(prop: Prop, data: FormData) -> Any:
    text = first(data, "p", prop).strip()
    return parse_json(prop.label, text) if text else ABSENT


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
    """A value that somebody typed instead of choosing, in the prop's own type."""
    if prop.type.startswith("integer"):
        return _whole(prop, text)
    if prop.type.startswith("boolean"):
        return text.lower() in ("true", "yes", "1")
    return text


def _lv(choice: Option) -> Mapping[str, Any]:
    return {"label": choice.label, "value": choice.value}


def _decoded(text: str) -> Any:
    """What :func:`encode` made; anything else is nobody's option."""
    try:
        value = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and "value" in value else None


def _of_parts(prop: Prop, data: FormData) -> Any:
    value = structured.READERS[control(prop)](prop, data)
    return ABSENT if value is None else value


_READERS: Mapping[str, Callable[[Prop, FormData], Any]] = {
    "account": _account, "text": _text, "secret": _secret, "integer": _integer, "boolean": _boolean, "lines": _lines,
    "object": _rows, "json": _json, "pick": _one, "choice": _one, "picks": _many, "choices": _many,
    "sql": _of_parts, "http": _of_parts, "timer": _of_parts,
}  # fmt: skip
