"""What a field of a ``DYNAMIC`` prop is called on the wire, so that its value finds back to it without a question.

``<prop>__<field>``, with what is no letter, digit or underscore as ``_x<hex>_``. Where the value has to be written in
another way than it comes, ``_x`` and its kind stand at the end, which no escape can be: ``fields__Price_xnumber``.
"""

import re
from collections.abc import Iterable

from webapp.service.components.pieces.form import ValueKind

_SPECIAL = re.compile(r"[^A-Za-z0-9_]|(?<=[^A-Za-z0-9])x+")
_ESCAPE = re.compile(r"_x([0-9a-f]{1,6})_")
_KINDS: tuple[ValueKind, ...] = ("number", "json", "date", "file", "rows")


def field_name(prop: str, field: str, kind: ValueKind) -> str:
    """The name on the wire of the ``field`` of the dynamic prop that is called ``prop`` there."""
    written = _SPECIAL.sub(lambda match: "".join(f"_x{ord(character):x}_" for character in match[0]), field)
    return f"{prop}__{written}{f'_x{kind}' if kind in _KINDS else ''}"


def field_of(name: str, props: Iterable[str]) -> tuple[str, str, ValueKind] | None:
    """The dynamic prop out of ``props``, the field and the kind of the value called ``name``; None for another's."""
    for prop in sorted(props, key=len, reverse=True):
        if name.startswith(f"{prop}__"):
            written, kind = _without_kind(name.removeprefix(f"{prop}__"))
            return prop, _ESCAPE.sub(_character, written), kind
    return None


def _without_kind(written: str) -> tuple[str, ValueKind]:
    for kind in _KINDS:
        if written.endswith(f"_x{kind}"):
            return written.removesuffix(f"_x{kind}"), kind
    return written, "choice"


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return chr(code) if code < 0x110000 else match[0]
