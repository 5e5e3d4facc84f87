"""What narrows a list of apps: the words of a search and the filters of contract "Apps", in one comparable value."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from webapp.service.catalog.app import App

MAX_QUERY = 400
MAX_WORDS = 12
_WORD = re.compile(r"[^\W_]+")


def fold(text: str) -> str:
    """``text`` without case and accents, for sorting and comparing."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character)).casefold()


def words(text: str) -> tuple[str, ...]:
    """The folded words of ``text``: letters and digits alone, so that none can be search syntax."""
    return tuple(_WORD.findall(fold(text)))


@dataclass(frozen=True, slots=True)
class Filter:
    """Equal questions make equal filters. ``words`` is None when nothing was typed, empty when nothing is a word."""

    words: tuple[str, ...] | None
    category_ids: frozenset[str]
    components: bool
    actions: bool
    triggers: bool

    @classmethod
    def of(
        cls,
        q: str | None,
        category_ids: Sequence[str],
        has_components: bool | None,
        has_actions: bool | None,
        has_triggers: bool | None,
    ) -> Self:
        """The filter for the parameters of a request; a ``has_`` filter narrows only when true."""
        typed = words(q[:MAX_QUERY])[:MAX_WORDS] if q and q.strip() else None
        return cls(typed, frozenset(category_ids), bool(has_components), bool(has_actions), bool(has_triggers))

    @property
    def parts(self) -> tuple[object, ...]:
        """What the fingerprint of a cursor is made of."""
        return self.words, sorted(self.category_ids), self.components, self.actions, self.triggers

    @property
    def narrows(self) -> bool:
        """Whether anything but the words leaves apps out."""
        return self.components or self.actions or self.triggers or bool(self.category_ids)

    def admits(self, app: App) -> bool:
        """Whether ``app`` passes everything but the words."""
        return (
            (not self.components or app.actions + app.triggers > 0)
            and (not self.actions or app.actions > 0)
            and (not self.triggers or app.triggers > 0)
            and (not self.category_ids or not self.category_ids.isdisjoint(app.category_ids))
        )
