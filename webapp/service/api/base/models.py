"""What the models of answers share. They describe what is sent; answers are made without them, for speed.

A field with a default may be missing from an answer. Nothing that is not described is ever sent.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")

DateTime = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Milliseconds = Annotated[int, Field(description="Milliseconds since 1970.")]
Seconds = Annotated[int, Field(description="Seconds since 1970.")]
Uri = Annotated[str, Field(json_schema_extra={"format": "uri"})]


def one_of(prefix: str) -> Any:
    """The pattern of an id with ``prefix``."""
    return Field(pattern=f"^{prefix}_[a-zA-Z0-9]+$")


class Shape(BaseModel):
    """An object in an answer."""

    model_config = ConfigDict(extra="forbid")


class PageInfo(Shape):
    """Where a page stands in its list. `end_cursor` is empty on the last page."""

    count: int
    total_count: int
    start_cursor: str
    end_cursor: str


class Page(Shape, Generic[T]):
    """One page of a list."""

    data: list[T]
    page_info: PageInfo


class Data(Shape, Generic[T]):
    """One thing, wrapped."""

    data: T


class Problem(Shape):
    """What is wrong with one field."""

    field: str
    message: str


class Error(Shape):
    """What went wrong, in one sentence that a person can act on."""

    error: str
    details: list[Problem] = Field(default_factory=list)
    request_id: str = ""


class OAuthError(Shape):
    """What went wrong (RFC 6749 section 5.2)."""

    error: str
    error_description: str


@dataclass(frozen=True, slots=True)
class Empty:
    """No body: 204."""


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes of the media type ``media``; ``words`` say what they are."""

    words: str
    media: str = "*/*"
