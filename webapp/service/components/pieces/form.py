"""The file of a component from a piece: ``DATA/pieces/apps/<slug>/actions/<name>/<version>.json``, or in ``triggers``.

It says which part of which installed package to call, how values of the API become those of the piece, and its catalog
entry: ``declaration`` has the form of ``loader.declaration``. Nothing here starts Node.

Values in the API are flat. A prop has another name there if clients would not accept the piece's own (``props``); the
name of a field of a ``DYNAMIC`` prop combines both names (``values.field_name``).
"""

import functools
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from webapp.service.components.declared.form import Facts
from webapp.service.components.errors import LoadError
from webapp.service.components.props import PropType

ENDING = ".json"
PACKAGE = r"(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*"
Strategy = Literal["POLLING", "WEBHOOK", "APP_WEBHOOK", "MANUAL"]
AuthType = Literal["OAUTH2", "SECRET_TEXT", "BASIC_AUTH", "CUSTOM_AUTH"]
ValueKind = Literal["same", "choice", "choices", "whole", "number", "json", "date", "file", "list", "rows", "dynamic"]
FieldKind = Literal["text", "number", "boolean", "choice"]


class AccountField(Facts):
    """A field of the account and the type that the piece expects; ``value`` is the default."""

    field: str = ""
    kind: FieldKind = "text"
    value: str | None = None


class AuthForm(Facts):
    """How an account of one app becomes the piece's auth value: the ``index`` among the piece's auth types, and the
    account's ``fields`` by the piece's own names.

    For OAuth 2, ``token`` is the field with the access token, and ``data`` maps fields to members of the token response
    (dotted paths). ``hosts`` are rules that depend on the account, with ``{field}`` placeholders.
    """

    type: AuthType
    index: int = 0
    fields: dict[str, AccountField] = Field(default_factory=dict)
    token: str = "oauth_access_token"  # noqa: S105 - a field's name
    data: dict[str, str] = Field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    validated: bool = False


class PropForm(Facts):
    """The piece's prop for a prop of the API: its ``name``, and the form of its value (``kind``).

    ``members`` are the kinds of the fields of each row, if the value is a list of rows.
    """

    name: str
    kind: ValueKind = "same"
    members: dict[str, ValueKind] = Field(default_factory=dict)


class PieceForm(Facts):
    """The part of a package that a component calls.

    ``folder`` is where the package is installed, relative to ``DATA/pieces``. ``account`` is the name of the app prop,
    empty if it needs no account; ``auth`` maps the slug of the account's app to the form of its auth value. ``hosts``
    are the rules for hosts that it may reach, as confirmed when the integration was added.
    """

    package: str = Field(pattern=f"^{PACKAGE}$")
    version: str
    folder: str = Field(pattern=r"^packages/[^/\\]+/[^/\\]+$")
    kind: Literal["action", "trigger"]
    name: str
    account: str = ""
    auth: dict[str, AuthForm] = Field(default_factory=dict)
    props: dict[str, PropForm] = Field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    strategy: Strategy | None = None
    handshake: dict[str, Any] | None = None
    renew: str | None = None
    read_only: bool = False

    @property
    def dynamic(self) -> dict[str, str]:
        """The piece's names of its dynamic props, by their names in the API."""
        return {wire: prop.name for wire, prop in self.props.items() if prop.kind == "dynamic"}


class WireProp(BaseModel):
    """A prop as the API lists it, with the fields of its type."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="allow")
    name: str = Field(min_length=1)
    type: PropType


class Declaration(Facts):
    """The catalog's entry for a component, in the form of ``loader.declaration``."""

    kind: Literal["action", "source"]
    name: str = Field(min_length=1)
    description: str
    app: str | None
    configurable_props: tuple[WireProp, ...]
    annotations: dict[str, bool]
    has_reload: bool
    dedupe: Literal["unique", "greatest", "last"] | None
    hooks: tuple[str, ...]
    stash: str | None
    aliases: tuple[str, ...] = ()
    prop_aliases: dict[str, str] = Field(default_factory=dict)


class ComponentFile(Facts):
    """The whole file."""

    piece: PieceForm
    declaration: Declaration


def is_piece(path: str | Path) -> bool:
    """Whether the code of the component at ``path`` is a piece."""
    return str(path).endswith(ENDING)


def read(path: Path) -> ComponentFile:
    """Read the component at ``path``; the result is cached until the file changes. Raises :class:`LoadError`."""
    try:
        status = path.stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise LoadError(f"The file {path.name} cannot be read: {error.strerror}.") from error


def folder(path: Path, piece: PieceForm) -> Path:
    """The folder of the installed package to which the component at ``path`` belongs."""
    return path.parents[4] / piece.folder


def examine(path: Path) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the catalog entry that the file at ``path`` declares, and its problems."""
    try:
        return read(path).declaration.model_dump(mode="json"), []
    except LoadError as error:
        return None, [str(error)]


@functools.lru_cache(maxsize=1024)
def _read(path: Path, changed_at: int, size: int) -> ComponentFile:
    try:
        return ComponentFile.model_validate_json(path.read_bytes())
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, details["loc"]))
        raise LoadError(f"It is no component of a piece: {place + ': ' if place else ''}{details['msg']}.") from error
