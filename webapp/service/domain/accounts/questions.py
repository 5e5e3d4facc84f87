"""What only the person who connects can decide, once it is known who they are: which of several sites, and whether the
account takes the place of one that is connected already.

A connection that meets such a question raises :class:`Undecided`; it is begun again with the answer.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from webapp.errors import PatchbayError
from webapp.kit.clock import SECOND
from webapp.service.outbound.oauth import TokenResult

Kind = Literal["site", "again"]
SITE: Kind = "site"
AGAIN: Kind = "again"
KEEP_BOTH = "both"


@dataclass(frozen=True, slots=True)
class Question:
    """``about`` is whom or what it is about; ``options`` are values and how to call them."""

    kind: Kind
    about: str
    options: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Question":
        """A question that was kept as JSON."""
        return cls(values["kind"], values["about"], tuple((value, label) for value, label in values["options"]))

    def admits(self, answer: str) -> bool:
        """Whether ``answer`` is one of those offered."""
        return answer in [value for value, _ in self.options] or (self.kind == AGAIN and answer == KEEP_BOTH)


class Undecided(PatchbayError):
    """The person has to decide how the connection goes on."""

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question


def kept_grant(result: TokenResult, now: int) -> dict[str, Any]:
    """A grant as JSON can carry it while its person is asked, and when it came."""
    return {**asdict(result), "at": now}


def grant_of(values: Mapping[str, Any], now: int) -> TokenResult:
    """The grant that was kept, with the life that it has left."""
    fields = {name: value for name, value in values.items() if name != "at"}
    result = TokenResult(**{**fields, "scopes": None if fields["scopes"] is None else tuple(fields["scopes"])})
    if result.expires_in is None:
        return result
    return replace(result, expires_in=max(result.expires_in - (now - values["at"]) // SECOND, 1))
