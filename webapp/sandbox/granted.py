"""What a consent gives: a grant, the code that stands for it, and its tokens, in the shapes that Authlib reads.

The behaviour of an account is how this provider treats a grant once it was given; others act on it.
"""

from dataclasses import dataclass
from typing import Any

from webapp.sandbox.people import Person

HOUR_SECONDS = 3600
SHORT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Behaviour:
    """``access_seconds`` is the life of an access token; ``revokes`` ends the grant at its first refresh."""

    slug: str
    label: str
    words: str
    access_seconds: int = HOUR_SECONDS
    slow: bool = False
    revokes: bool = False
    trouble: bool = False


BEHAVIOURS = {
    behaviour.slug: behaviour
    for behaviour in (
        Behaviour("normal", "Normal", "Everything works."),
        Behaviour("slow", "Slow", "Tokens and the API answer after about 3 seconds.", slow=True),
        Behaviour("short-lived", "Short-lived", "Access ends after 60 seconds, and can be refreshed.", SHORT_SECONDS),
        Behaviour(
            "revoking",
            "Revoking",
            "Access ends after 60 seconds; the first refresh works, then the access is taken back.",
            SHORT_SECONDS,
            revokes=True,
        ),
        Behaviour("trouble", "Server trouble", "The API answers 503 to every request.", trouble=True),
    )
}
NORMAL = BEHAVIOURS["normal"]


def behaviour_of(slug: str) -> Behaviour:
    """The behaviour with this name; the normal one for an unknown name."""
    return BEHAVIOURS.get(slug, NORMAL)


@dataclass(frozen=True, slots=True)
class Grant:
    """One "Allow", with the behaviour that was picked for it. Times in epoch milliseconds."""

    id: str
    client_id: str
    person: Person
    scope: str
    behaviour: Behaviour
    created_at: int
    exchanged_at: int | None
    refreshed_at: int | None
    revoked_at: int | None


@dataclass(frozen=True, slots=True)
class Code:
    """An authorization code that may still be redeemed; the attribute names are those Authlib reads."""

    hash: str
    grant: Grant
    redirect_uri: str
    code_challenge: str
    code_challenge_method: str = "S256"

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.grant.scope


@dataclass(frozen=True, slots=True)
class Token:
    """An access or refresh token as it stands now; the method names are those Authlib calls."""

    hash: str
    kind: str
    grant: Grant
    scope: str
    expired: bool

    def check_client(self, client: Any) -> bool:
        return bool(client.client_id == self.grant.client_id)

    def get_scope(self) -> str:
        return self.scope

    def is_expired(self) -> bool:
        return self.expired

    def is_revoked(self) -> bool:
        return self.grant.revoked_at is not None
