"""The base models of requests and answers.

Queries and bodies are validated by theirs. Bodies must have the exact JSON types: no ``"true"`` for a boolean, no
``1.0`` for an integer. Queries are text, so booleans are the words ``true`` and ``false`` (in any case; also ``1`` and
``0``), and integers are decimal digits. Unknown fields of a body are ignored; unknown parameters of a query are named
in a header of the answer (:mod:`webapp.service.api.base.dispatch`).

Models of answers only describe what is sent; answers are built without them, for speed. A field with a default may be
missing from an answer, and nothing undescribed is ever sent.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema

from webapp.errors import Detail, Invalid, about
from webapp.kit import cursors
from webapp.service.domain.components.prop_values import shallow
from webapp.service.domain.projects import external_users

T = TypeVar("T")
_MAX_NAMES, _MAX_NAME = 20, 100  # of a query that a header names, and the characters of each


class Body(BaseModel):
    """A JSON body. A field that may be left out may be null too."""

    model_config = ConfigDict(defer_build=True, strict=True, extra="ignore", frozen=True)


class Query(BaseModel):
    """A query string.

    ``lists`` names the parameters that may be repeated or comma-joined, ``owner`` the one that only a Connect token,
    which contains it, may omit. ``aliases`` are other names that clients use.
    """

    model_config = ConfigDict(defer_build=True, strict=True, extra="ignore", frozen=True)
    lists: ClassVar[frozenset[str]] = frozenset()
    owner: ClassVar[str | None] = None
    aliases: ClassVar[Mapping[str, str]] = MappingProxyType({})
    spellings: ClassVar[Mapping[str, str]] = MappingProxyType({})

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Cache all names of the parameters, because deriving them from the model is slow."""
        arrays = {f"{name}[]": name for name in cls.lists}
        cls.spellings = {**cls.aliases, **arrays, **{name: name for name in cls.model_fields}}


def unknown_to(query: type[Query] | None, names: Iterable[str]) -> str:
    """Those of ``names`` that are no parameters of ``query``, as a header can carry them."""
    known = query.spellings if query else {}
    unknown = [quote(name[:_MAX_NAME], safe="[]") for name in names if name not in known]
    return ", ".join(unknown[:_MAX_NAMES])


def _flag(text: str) -> bool:
    word = text.lower()
    if word not in ("true", "false", "1", "0"):
        raise ValueError("Use true or false.")
    return word in ("true", "1")


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and 1 <= int(text) <= cursors.MAX_LIMIT):
        raise ValueError(f"Use a whole number from 1 to {cursors.MAX_LIMIT}.")
    return int(text)


Flag = Annotated[bool, BeforeValidator(_flag)]
Limit = Annotated[
    int,
    BeforeValidator(_limit),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": cursors.MAX_LIMIT, "default": cursors.DEFAULT_LIMIT}),
]
ExternalUserId = Annotated[
    str,
    AfterValidator(external_users.checked),
    WithJsonSchema(
        {
            "type": "string",
            "minLength": 1,
            "maxLength": external_users.MAX_LENGTH,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]+$",  # no control characters
            "description": "Your id of the user.",
        }
    ),
]
JsonObject = Annotated[dict[str, Any], AfterValidator(shallow)]
ProjectId = Annotated[str, Field(pattern=r"^proj_[a-zA-Z0-9]+$")]
AppName = Annotated[str | None, Field(description="The app's slug or id.")]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,100}$")]
SearchWords = Annotated[str | None, Field(description="Words to search for.")]
Extensions = Annotated[Flag, Field(description="Add the fields that are Patchbay's own.")]


class Paged(Query):
    """The parameters of every list (contract "Lists"). An empty cursor is none."""

    after: str | None = Field(None, description="The cursor to start from: `end_cursor` of the page before.")
    before: str | None = Field(None, description="The cursor to end before.")
    limit: Limit = Field(cursors.DEFAULT_LIMIT, description="How many at most.")

    @property
    def window(self) -> cursors.Window:
        """Which part of the list is asked for."""
        return cursors.Window(self.limit, self.after or None, self.before or None)


DateTime = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Milliseconds = Annotated[int, Field(description="Milliseconds since 1970.")]
Seconds = Annotated[int, Field(description="Seconds since 1970.")]


def identifier(example: str) -> Any:
    """The field of an id with the prefix of ``example``."""
    return Field(pattern=f"^{example.partition('_')[0]}_[a-zA-Z0-9]+$", examples=[example])


class Answer(BaseModel):
    """An object in an answer. ``examples`` of its fields are what the reference shows."""

    model_config = ConfigDict(defer_build=True, extra="forbid")


class PieceOrigin(Answer):
    """The npm package that something was added from."""

    package: str = Field(examples=["@activepieces/piece-trello"])
    version: str = Field(examples=["0.4.2"])
    licence: str = Field(examples=["MIT"])
    author: str = Field(examples=["Activepieces"])
    source: Literal["registry", "tarball", "offline", "folder"] = Field(description="Where that version came from.")


class AppOrigin(Answer):
    """The document of the public directory from which an app was imported; nobody has curated it.

    `version` is that of the directory, `date` the day on which it was published or, if nobody knows, added here.
    """

    directory: str = Field(examples=["googleapis.com:calendar"])
    version: str = Field(examples=["1.3.17"])
    date: str = Field(examples=["2026-08-21"])


class PageInfo(Answer):
    """The position of a page in its list. `end_cursor` is empty on the last page."""

    count: int = Field(examples=[1])
    total_count: int = Field(examples=[1])
    start_cursor: str = Field(examples=["WyJhIl0"])
    end_cursor: str = Field(examples=[""])


class Page(Answer, Generic[T]):
    """One page of a list."""

    data: list[T]
    page_info: PageInfo


class Data(Answer, Generic[T]):
    """One thing, wrapped."""

    data: T


class Problem(Answer):
    """The problem of one field."""

    field: str
    message: str


class Error(Answer):
    """The error, as a sentence that a person can act on."""

    error: str
    details: list[Problem] = Field(default_factory=list)
    request_id: str = ""


class OAuthError(Answer):
    """The error (RFC 6749 section 5.2)."""

    error: str
    error_description: str


@dataclass(frozen=True, slots=True)
class NoContent:
    """No body: 204."""


@dataclass(frozen=True, slots=True)
class RawContent:
    """Bytes of ``media_type``; ``description`` says what they are."""

    description: str
    media_type: str = "*/*"


def invalid(part: str, error: ValidationError) -> Invalid:
    """The error for an invalid ``part`` ("body" or "query") of the request, with one detail per field."""
    details = [_detail(item) for item in error.errors(include_url=False, include_context=False, include_input=False)]
    if len(details) == 1:
        field, message = details[0].field, details[0].message
        return Invalid(about(field, message) if field else message, details)
    names = ", ".join(dict.fromkeys(detail.field for detail in details))
    return Invalid(f"The {part} is not valid; see the details for {names}.", details)


def _detail(item: Any) -> Detail:
    missing = item["type"] == "missing"
    message = "It is missing" if missing else str(item["msg"]).removeprefix("Value error, ").rstrip(".")
    return Detail(".".join(str(part) for part in item["loc"]), f"{message}.")
