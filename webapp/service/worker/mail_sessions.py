"""The open sessions of the mail server, and how many there may be (:mod:`webapp.connection_limits`).

If there are too many, in all or from one address, the one that has gone longest without a mail is ended for the newest;
a session whose mail is being stored is not. The mails that are being received have a common limit in memory.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from webapp import connection_limits
from webapp.connection_limits import Bound
from webapp.quotas import REFUSALS

MOST_BYTES = 96 * 1024 * 1024


class Sender(Protocol):
    """A session: its network, since when it is without a mail, how many bytes of the next have arrived, and whether one
    is being stored."""

    network: str
    since: float
    received_bytes: int
    busy: bool

    def end(self, sentence: str) -> None:
        """Send ``sentence`` and close the connection."""
        ...


class MailSessions:
    """The open sessions; for one thread."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers
        self._senders: set[Sender] = set()

    def __iter__(self) -> Iterator[Sender]:
        return iter(list(self._senders))

    def __len__(self) -> int:
        return len(self._senders)

    def admit(self, sender: Sender) -> bool:
        """Add ``sender`` if it is allowed, ending another session if needed; return whether it was added."""
        for bound, counts in (
            (connection_limits.ADDRESS_MAIL_SESSIONS, lambda other: other.network == sender.network),
            (connection_limits.MAIL_SESSIONS, lambda other: True),
        ):
            if not self._make_room(bound, counts):
                return False
        self._senders.add(sender)
        return True

    def leave(self, sender: Sender) -> None:
        """Remove ``sender``, whose connection is closed."""
        self._senders.discard(sender)

    def end(self, sender: Sender, bound: Bound, sentence: str) -> None:
        """End ``sender``, which met ``bound``."""
        REFUSALS.add(bound.name, self._numbers[bound.name])
        self.leave(sender)
        sender.end(sentence)

    def is_full(self) -> bool:
        """Whether the mails being received need more memory than allowed."""
        return sum(sender.received_bytes for sender in self._senders) > MOST_BYTES

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
