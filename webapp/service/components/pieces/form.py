"""The file of a component whose code is a piece: ``DATA/pieces/apps/<slug>/actions/<name>/<version>.json``, or the same
in ``triggers``.

It says which part of which installed package to call, how the wire's values become the piece's, and what the catalog
keeps of it: ``declaration`` is what ``loader.declaration`` gives of a component that is code. Nothing here starts Node.

Values on the wire are flat. A prop of the wire has a name of its own where the piece's is none that every client takes
(``props``), and what a field of a ``DYNAMIC`` prop is called follows from both names (``prop_mapping.field_name``).
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
    """A field of the account, and as what the piece gets its value; ``value`` is what it gets where there is none."""

    field: str = ""
    kind: FieldKind = "text"
    value: str | None = None


class AuthForm(Facts):
    """How an account of one app becomes the piece's auth value: which of its ways to connect it is (``index``), and the
    account's ``fields`` by the piece's own names.

    OAuth 2: ``token`` is the field that is the access token, ``data`` are members of the token answer (dotted paths)
    by the fields that hold them. ``hosts`` are those that follow from the account, with ``{field}`` in them.
    """

    type: AuthType
    index: int = 0
    fields: dict[str, AccountField] = Field(default_factory=dict)
    token: str = "oauth_access_token"  # noqa: S105 - a field's name
    data: dict[str, str] = Field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    validated: bool = False


class PropForm(Facts):
    """What a prop of the wire is in the piece: its ``name`` there, and how its value is written (``kind``).

    ``members`` are the kinds of the fields of each row, where it is a list of rows.
    """

    name: str
    kind: ValueKind = "same"
    members: dict[str, ValueKind] = Field(default_factory=dict)


class PieceForm(Facts):
    """The part of a package that a component calls.

    ``folder`` is where the package is installed, as a path from ``DATA/pieces``. ``account`` is the name of the app
    prop, empty where it needs no account; ``auth`` says by the slug of the account's app what its values become.
    ``hosts`` is what it may reach, as host rules: what was confirmed when it was written.
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
        """The piece's names of its dynamic props, by those of the wire."""
        return {wire: prop.name for wire, prop in self.props.items() if prop.kind == "dynamic"}


class WireProp(BaseModel):
    """A prop as the wire lists it, with the fields of its type."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="allow")
    name: str = Field(min_length=1)
    type: PropType


class Declaration(Facts):
    """What the catalog keeps of a component, as ``loader.declaration`` has it."""

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
    """The component at ``path``, read again only where its file has changed. Raises :class:`LoadError`."""
    try:
        status = path.stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise LoadError(f"The file {path.name} cannot be read: {error.strerror}.") from error


def folder(path: Path, piece: PieceForm) -> Path:
    """Where the package is installed whose part the component at ``path`` is."""
    return path.parents[4] / piece.folder


def examine(path: Path) -> tuple[dict[str, Any] | None, list[str]]:
    """What the file at ``path`` declares, as the catalog keeps it, and what is wrong with it."""
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
