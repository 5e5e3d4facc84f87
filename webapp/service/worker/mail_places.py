"""Who may be connected to the mail server at once (:mod:`webapp.deadlines`).

Where there are too many senders, of all or from one address, the one that has been connected for longest without a mail
gives way to the newest; a mail that is being written down is left alone. What all are sending has one bound in memory.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from webapp import deadlines
from webapp.deadlines import Bound
from webapp.quotas import REFUSALS

MOST_BYTES = 96 * 1024 * 1024


class Sender(Protocol):
    """A conversation: from which network, since when without a mail, how much came of the next, and whether one is
    being written down."""

    network: str
    since: float
    came: int
    busy: bool

    def end(self, sentence: str) -> None:
        """Say ``sentence``, and hang up."""
        ...


class MailPlaces:
    """The conversations that are open. For one thread."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers
        self._senders: set[Sender] = set()

    def __iter__(self) -> Iterator[Sender]:
        return iter(list(self._senders))

    def __len__(self) -> int:
        return len(self._senders)

    def admit(self, sender: Sender) -> bool:
        """Whether there is a place for ``sender``, which takes it; somebody may have to go for it."""
        for bound, counts in (
            (deadlines.ADDRESS_MAIL_SESSIONS, lambda other: other.network == sender.network),
            (deadlines.MAIL_SESSIONS, lambda other: True),
        ):
            if not self._make_room(bound, counts):
                return False
        self._senders.add(sender)
        return True

    def leave(self, sender: Sender) -> None:
        """``sender`` is gone."""
        self._senders.discard(sender)

    def end(self, sender: Sender, bound: Bound, sentence: str) -> None:
        """Let ``sender`` go, who met ``bound``."""
        REFUSALS.add(bound.name, self._numbers[bound.name])
        self.leave(sender)
        sender.end(sentence)

    def is_full(self) -> bool:
        """Whether all together have sent more than is kept in memory."""
        return sum(sender.came for sender in self._senders) > MOST_BYTES

    def _make_room(self, bound: Bound, counts: Callable[[Sender], bool]) -> bool:
        there = [other for other in self._senders if counts(other)]
        if len(there) < self._numbers[bound.name]:
            return True
        idle = [other for other in there if not other.busy]
        if not idle:
            REFUSALS.add(bound.name, self._numbers[bound.name])
            return False
        self.end(min(idle, key=lambda other: other.since), bound, "Others wait; connect again to send more.")
        return True
