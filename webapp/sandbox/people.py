"""The three demonstration people who own everything in the sandbox. Nobody signs in here: who one is, is picked."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who uses Sandbox Tasks. ``account_id`` is the user name of HTTP Basic."""

    id: str
    name: str
    email: str

    @property
    def account_id(self) -> str:
        """The id that goes with a key in HTTP Basic, such as ``acct_ada``."""
        return f"acct_{self.id.removeprefix('per_')}"

    @property
    def initials(self) -> str:
        """Two letters for the round badge."""
        return "".join(word[0] for word in self.name.split())[:2]

    def to_json(self) -> dict[str, str]:
        """The profile as ``GET /api/me`` answers it."""
        return {"id": self.id, "name": self.name, "email": self.email, "account_id": self.account_id}


PEOPLE = (
    Person("per_ada", "Ada Lovelace", "ada@sandbox.example"),
    Person("per_grace", "Grace Hopper", "grace@sandbox.example"),
    Person("per_linus", "Linus Park", "linus@sandbox.example"),
)


def find_person(person_id: str) -> Person | None:
    """The person with this id, or None."""
    return next((person for person in PEOPLE if person.id == person_id), None)
