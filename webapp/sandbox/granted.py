"""What a consent gives: a grant, the code that stands for it, and its tokens, in the shapes that Authlib reads."""

from dataclasses import dataclass
from typing import Any

from webapp.sandbox.behaviours import Behaviour
from webapp.sandbox.people import Person


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
