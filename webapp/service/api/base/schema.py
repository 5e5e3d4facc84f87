"""The models of queries and bodies: strict, ignoring what they do not know; and what is wrong, in plain words.

Bodies take JSON types exactly: no ``"true"`` for a boolean, no ``1.0`` for an integer. Queries are text, so
booleans are the words ``true`` and ``false`` and integers are decimal digits.
"""

from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from werkzeug.datastructures import MultiDict

from webapp.errors import Detail, Invalid
from webapp.kit import cursors
from webapp.service.domain.projects import external_users


class Body(BaseModel):
    """A JSON body. A field that may be left out may be null too."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class Query(BaseModel):
    """A query string. ``lists`` names the parameters that may be repeated or comma-joined, ``owner`` the one that only
    a Connect token may leave out: it says by itself whose thing is meant."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)
    lists: ClassVar[frozenset[str]] = frozenset()
    owner: ClassVar[str | None] = None
    names: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Keep the names of the parameters at hand: reading them off the model is slow."""
        cls.names = tuple(cls.model_fields)

    @classmethod
    def read(cls, args: MultiDict[str, str]) -> Self:
        """The parameters in ``args``; of a repeated single one the last counts. Raises ``ValidationError``."""
        found: dict[str, Any] = {}
        for name in cls.names:
            if name in args:
                given = args.getlist(name)
                found[name] = _split(given) if name in cls.lists else given[-1]
        return cls.model_validate(found)


def _split(given: list[str]) -> list[str]:
    return [part for text in given for part in text.split(",") if part]


def _flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("Use true or false.")
    return text == "true"


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
        }
    ),
]
ProjectId = Annotated[str, Field(pattern=r"^proj_[a-zA-Z0-9]+$")]


class Paged(Query):
    """The parameters of every list (specification 2.11, WIRE "Lists"). An empty cursor is none."""

    after: str | None = None
    before: str | None = None
    limit: Limit = cursors.DEFAULT_LIMIT

    @property
    def window(self) -> cursors.Window:
        """Which part of the list is asked for."""
        return cursors.Window(self.limit, self.after or None, self.before or None)


def explain(what: str, error: ValidationError) -> Invalid:
    """What is wrong with the ``what`` ("body" or "query"), with one detail per field."""
    details = [_detail(item) for item in error.errors(include_url=False, include_context=False, include_input=False)]
    if len(details) == 1:
        field, message = details[0].field, details[0].message
        return Invalid(f"{field} is not valid: {message}" if field else message, details)
    names = ", ".join(dict.fromkeys(detail.field for detail in details))
    return Invalid(f"The {what} is not valid; see the details for {names}.", details)


def _detail(item: Any) -> Detail:
    message = str(item["msg"]).removeprefix("Value error, ").rstrip(".")
    return Detail(".".join(str(part) for part in item["loc"]), f"{message}.")
