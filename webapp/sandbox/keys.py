"""Keys for applications that connect without OAuth: one per person, and one that was switched off.

They derive from the installation's secret (RFC 5869), so they are the same after a restart and stand in no file.
"""

from dataclasses import dataclass

from webapp.kit import crypto
from webapp.sandbox.people import PEOPLE, Person

PREFIX = "sbx_live_"
_LENGTH = 40  # hex digits: 160 bits


@dataclass(frozen=True, slots=True)
class Key:
    """One key with its owner."""

    person: Person
    secret: str
    disabled: bool = False


class Keys:
    """The demonstration keys of one installation."""

    def __init__(self, secret: bytes) -> None:
        self.working = tuple(Key(person, _derive(secret, person.id)) for person in PEOPLE)
        self.disabled = Key(PEOPLE[-1], _derive(secret, "disabled"), disabled=True)

    def by_key(self, key: str) -> Key | None:
        """The key itself, as the header ``X-Api-Key`` carries it, or None when there is no such key."""
        return next(
            (candidate for candidate in (*self.working, self.disabled) if crypto.same(candidate.secret, key)), None
        )

    def by_account(self, account_id: str, key: str) -> Key | None:
        """The key as HTTP Basic carries it: it must be the account's own."""
        found = self.by_key(key)
        return found if found and found.person.account_id == account_id else None


def _derive(secret: bytes, name: str) -> str:
    return PREFIX + crypto.derive(secret, f"sandbox key {name}").hex()[:_LENGTH]
