"""The base of every answer's model: reading never fails, because the service may be any that speaks this API.

A field that is missing, null or of another kind gets its default, and an entry of a list or an object that cannot be
read is left out. A field without a default is what its model cannot do without: a list leaves such an entry out.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ModelWrapValidatorHandler, ValidationError, model_validator

Json = Mapping[str, Any]
NonEmpty = Annotated[str, Field(min_length=1)]
T = TypeVar("T")
_PAGES = dict[Any, Any]()


class Lenient(BaseModel):
    """Something that the service tells. Frozen; what it tells besides is ignored."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="ignore")

    @model_validator(mode="wrap")
    @classmethod
    def _default_what_is_wrong(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, dict):
            return handler(data)
        known = data.values()
        fields = {name: value for name, value in data.items() if value is not None} if None in known else data
        try:
            return handler(fields)
        except ValidationError as error:
            return handler(_without(fields, [problem["loc"] for problem in error.errors(include_url=False)]))


class PieceOrigin(Lenient):
    """The npm package that something was added from; ``source`` says whether it came from npm itself."""

    package: NonEmpty
    version: str = ""
    licence: str = ""
    author: str = ""
    source: Literal["registry", "tarball", "offline", "folder"] = "registry"


class AppOrigin(Lenient):
    """The document of the public directory from which an app was imported, and which version of that, of which day."""

    directory: NonEmpty
    version: str = ""
    date: str = ""


class PageInfo(Lenient):
    """How a list continues (contract "Lists"); ``end_cursor`` is "" on the last page."""

    total_count: int | None = None
    end_cursor: str = ""


class PageOf(Lenient, Generic[T]):
    """One page of a list (section 2.11).

    Pydantic forgets the model of a kind of entry that nothing refers to, and takes milliseconds to build it again, so
    each one is kept.
    """

    items: tuple[T, ...] = Field(default=(), alias="data")
    page_info: PageInfo | None = None

    @property
    def total(self) -> int:
        """How many entries there are on all pages, as far as the service tells."""
        total = self.page_info.total_count if self.page_info else None
        return len(self.items) if total is None else total

    @property
    def end_cursor(self) -> str:
        """What asks for the next page; "" on the last one."""
        return self.page_info.end_cursor if self.page_info else ""

    def __class_getitem__(cls, typevar_values: Any) -> Any:
        """The model of a page of such entries, the same one each time."""
        if typevar_values not in _PAGES:
            _PAGES[typevar_values] = super().__class_getitem__(typevar_values)
        return _PAGES[typevar_values]


def _without(data: dict[str, Any], problems: list[tuple[int | str, ...]]) -> dict[str, Any]:
    """``data`` without the fields that have problems; of a list or an object, without the entries in question."""
    kept = dict(data)
    for field in {location[0] for location in problems}:
        entries = {location[1] for location in problems if location[0] == field and len(location) > 1}
        value = kept.pop(str(field), None)
        if isinstance(value, list) and entries:
            kept[str(field)] = [entry for position, entry in enumerate(value) if position not in entries]
        elif isinstance(value, dict) and entries:
            kept[str(field)] = {name: entry for name, entry in value.items() if name not in entries}
    return kept
