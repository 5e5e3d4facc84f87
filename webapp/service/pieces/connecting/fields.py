"""What a piece asks a person for to connect, as custom fields of an app, and as what its auth value gets each."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webapp.service.components.pieces import texts
from webapp.service.components.pieces.choices import static
from webapp.service.components.pieces.form import AccountField, FieldKind
from webapp.service.pieces.metadata import Auth

_NAME = re.compile(r"[a-z][a-z0-9_]{0,49}")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET = re.compile(r"(^|_)(key|token|secret|password|passphrase|pat|credential|credentials)(_|$)")
_SERVER = re.compile(r"(^|_)(url|uri|host|hostname|domain|server|instance|endpoint|site|base)(_|$)")
_KINDS: Mapping[str, FieldKind] = {"NUMBER": "number", "CHECKBOX": "boolean", "STATIC_DROPDOWN": "choice"}
_ASKED = ("SHORT_TEXT", "LONG_TEXT", "SECRET_TEXT", *_KINDS)
_YES_OR_NO = [{"label": "Yes", "value": "true"}, {"label": "No", "value": "false"}]


@dataclass(frozen=True, slots=True)
class Fields:
    """``listed`` as an ``app.toml`` lists them, ``of_piece`` by the piece's names, and the ``servers`` among them, as
    host rules. ``reason`` says why somebody cannot be asked; empty where they can."""

    listed: tuple[dict[str, Any], ...] = ()
    of_piece: Mapping[str, AccountField] | None = None
    servers: tuple[str, ...] = ()
    reason: str = ""


def of_props(auth: Auth, reserved: tuple[str, ...] = ()) -> Fields:
    """The fields of the ``props`` of ``auth``."""
    listed, of_piece, servers = list[dict[str, Any]](), dict[str, AccountField](), list[str]()
    notes = [texts.plain(auth.description)]
    for own, described in auth.props.items():
        kind = described.get("type") if isinstance(described, Mapping) else None
        if kind == "MARKDOWN":
            notes.append(texts.plain(described.get("description")))
        elif kind in _ASKED:
            name = field_name(own, (*reserved, *(each["name"] for each in listed)))
            listed.append(_field(name, own, described))
            of_piece[own] = AccountField(field=name, kind=_KINDS.get(str(kind), "text"))
            if kind == "SHORT_TEXT" and _SERVER.search(name) and not listed[-1].get("secret"):
                servers.append(f"{{{name}}}")
        elif not isinstance(described, Mapping) or described.get("required") is True:
            return Fields(reason=f"To connect, it needs {own}, which cannot be asked for here.")
    return Fields(_noted(listed, notes), of_piece, tuple(servers))


def secret(auth: Auth) -> Fields:
    """The one field of an account that is a secret text."""
    label = texts.line(auth.name, 100)
    name = field_name(label, ()) if label not in ("", "Connection") else "api_key"
    shown = label if name != "api_key" or label not in ("", "Connection") else "API key"
    listed = {"name": name, "label": shown, "secret": True}
    return Fields(_noted([listed], [texts.plain(auth.description)]), {"secret_text": AccountField(field=name)})


def basic(auth: Auth) -> Fields:
    """The two fields of an account that is a name and a password."""
    listed = [
        {"name": name, "label": texts.line(told.get("displayName"), 100) or label, **_about(told), **extra}
        for name, told, label, extra in (
            ("username", auth.username, "User name", {}),
            ("password", auth.password, "Password", {"secret": True}),
        )
    ]
    of_piece = {name: AccountField(field=name) for name in ("username", "password")}
    return Fields(_noted(listed, [texts.plain(auth.description)]), of_piece)


def field_name(own: str, taken: tuple[str, ...]) -> str:
    """A name that a custom field may have, like the piece's ``own``: ``apiKey`` is ``api_key``."""
    text = "_".join(part.lower() for part in _WORD.findall(own))[:46].strip("_")
    text = text if _NAME.fullmatch(text) and not text.startswith("oauth_") else f"field_{text}".rstrip("_")[:46]
    number, candidate = 1, text
    while candidate in taken:
        number += 1
        candidate = f"{text}_{number}"
    return candidate


def _field(name: str, own: str, described: Mapping[str, Any]) -> dict[str, Any]:
    label = texts.line(described.get("displayName"), 100) or texts.label(own)
    field: dict[str, Any] = {"name": name, "label": label, **_about(described)}
    kind = described.get("type")
    is_secret = kind == "SECRET_TEXT" or bool(_SECRET.search(name))
    options = _YES_OR_NO if kind == "CHECKBOX" else _options(described) if kind == "STATIC_DROPDOWN" else []
    default = described.get("defaultValue")
    if isinstance(default, bool):
        default = str(default).lower()
    elif isinstance(default, int | float):
        default = str(default)
    field |= {"secret": True} if is_secret else {}
    field |= {"options": options} if options else {}
    field |= {} if described.get("required") is True else {"optional": True}
    fits = isinstance(default, str) and default and (not options or default in [each["value"] for each in options])
    return {**field, "default": default} if fits and not is_secret else field


def _options(described: Mapping[str, Any]) -> list[dict[str, Any]]:
    _, options = static(described.get("options"))
    return [{"label": each["label"], "value": _as_text(each["value"])} for each in options]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else f"json:{str(value).lower()}"


def _about(described: Mapping[str, Any]) -> dict[str, Any]:
    about = texts.plain(described.get("description"))
    return {"description": about} if about else {}


def _noted(listed: list[dict[str, Any]], notes: list[str]) -> tuple[dict[str, Any], ...]:
    """The fields, of which the first says what the piece says of connecting."""
    about = "\n\n".join(note for note in notes if note)
    if not listed or not about:
        return tuple(listed)
    first = {
        **listed[0],
        "description": "\n\n".join(part for part in (about, listed[0].get("description", "")) if part),
    }
    return (first, *listed[1:])
