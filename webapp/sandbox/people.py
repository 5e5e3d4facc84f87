"""The three demonstration people who own everything in the sandbox, and their API keys.

There is no sign-in: visitors choose who they are. Applications that connect without OAuth use a key: one for each
person, and a disabled one. Keys are derived from the installation's secret (RFC 5869), so they survive restarts and are
not stored.
"""

from dataclasses import dataclass

from webapp.kit import crypto

KEY_PREFIX = "sbx_live_"
_KEY_LENGTH = 40  # hex digits: 160 bits


@dataclass(frozen=True, slots=True)
class Person:
    """A user of Sandbox Tasks."""

    id: str
    name: str
    email: str

    @property
    def account_id(self) -> str:
        """The user name of HTTP Basic, such as ``acct_ada``; the password is the key."""
        return f"acct_{self.id.removeprefix('per_')}"

    @property
    def initials(self) -> str:
        """The person's two initials."""
        return "".join(word[0] for word in self.name.split())[:2]

    def to_json(self) -> dict[str, str]:
        """The profile, as ``GET /api/me`` returns it."""
        return {"id": self.id, "name": self.name, "email": self.email, "account_id": self.account_id}


PEOPLE = (
    Person("per_ada", "Ada Lovelace", "ada@sandbox.example"),
    Person("per_grace", "Grace Hopper", "grace@sandbox.example"),
    Person("per_linus", "Linus Park", "linus@sandbox.example"),
)


def find_person(person_id: str) -> Person | None:
    """The person with this id, or None."""
    return next((person for person in PEOPLE if person.id == person_id), None)


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
        """The key with this secret, or None."""
        return next(
            (candidate for candidate in (*self.working, self.disabled) if crypto.same(candidate.secret, key)), None
        )

    def by_account(self, account_id: str, key: str) -> Key | None:
        """The key with this secret if it belongs to the account, or None."""
        api_key = self.by_key(key)
        return api_key if api_key and api_key.person.account_id == account_id else None


def _derive(secret: bytes, name: str) -> str:
    return KEY_PREFIX + crypto.derive(secret, f"sandbox key {name}").hex()[:_KEY_LENGTH]
