"""Numbered pages: which part of a list is asked for, and how it is answered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")
MAX_PER_PAGE = 100
MAX_PAGE = 1_000_000


@dataclass(frozen=True, slots=True)
class Window:
    """Page ``page`` (from 1) of pages of ``per_page`` rows."""

    page: int = 1
    per_page: int = 20

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.per_page


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """The rows of one window, and how many there are in all."""

    items: Sequence[T]
    window: Window
    total: int

    @property
    def pages(self) -> int:
        """How many pages there are; an empty list has one."""
        return max(1, -(-self.total // self.window.per_page))

    def to_json(self, item: Callable[[T], Any]) -> dict[str, Any]:
        """The page as the API answers it."""
        data = [item(row) for row in self.items]
        return {"data": data, "page": self.window.page, "per_page": self.window.per_page, "total": self.total}
