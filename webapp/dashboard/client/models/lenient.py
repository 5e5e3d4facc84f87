"""The base of every answer's model: reading never fails, because the service may be any that speaks this API.

A field that is missing, null or of another kind gets its default, and an entry of a list or an object that cannot be
read is left out. A field without a default is what its model cannot do without: a list leaves such an entry out.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Generic, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

Json = Mapping[str, Any]
NonEmpty = Annotated[str, Field(min_length=1)]
T = TypeVar("T")
_PAGES = dict[Any, Any]()


class Lenient(BaseModel):
    """Something that the service tells. Frozen; what it tells besides is ignored."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="ignore")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type[BaseModel], handler: GetCoreSchemaHandler) -> CoreSchema:
        """The schema of the model with lenient fields, so that no Python runs for each model of a long list."""
        schema: Any = handler(source)
        if schema["type"] == "model":  # else it is a reference to one that was seen before
            for field in schema["schema"]["fields"].values():
                field["schema"] = _lenient(field["schema"])
        return cast(CoreSchema, schema)


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


def _lenient(schema: Any) -> Any:
    """The ``schema`` of a field that takes its default instead of what is wrong, without the entries that are wrong."""
    match schema:
        case {"type": "default", "schema": inner}:
            return {**schema, "schema": _lenient(inner), "on_error": "default"}
        case {"type": "nullable", "schema": inner}:
            return {**schema, "schema": _lenient(inner)}
        case {"type": "list", "items_schema": entry}:
            return {**schema, "items_schema": _or_left_out(entry)}
        case {"type": "tuple", "items_schema": [entry], "variadic_item_index": 0}:
            return {**schema, "items_schema": [_or_left_out(entry)]}
        case {"type": "dict", "values_schema": entry}:
            return {**schema, "values_schema": _or_left_out(entry)}
    return schema


def _or_left_out(entry: CoreSchema) -> CoreSchema:
    return core_schema.with_default_schema(entry, on_error="omit")
