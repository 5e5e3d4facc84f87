"""What an OpenID provider says of a person, and the errors that keep somebody out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webapp.errors import Forbidden
from webapp.service.outbound.outcomes import at_path

MOST_GROUPS = 2_000


class NotSignedIn(Forbidden):
    """The sign-in did not succeed."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What a provider vouches for: its own name for the person, an address, perhaps groups."""

    issuer: str
    subject: str
    email: str
    email_verified: bool
    groups: frozenset[str]


def read(issuer: str, claims: Mapping[str, Any], groups_claim: str) -> Claims:
    """The claims of an ID token and of the userinfo answer, as far as they are used."""
    return Claims(
        issuer=issuer,
        subject=str(claims["sub"]),
        email=email if isinstance(email := claims.get("email"), str) else "",
        email_verified=claims.get("email_verified") in (True, "true"),
        groups=_groups(claims, groups_claim),
    )


def _groups(claims: Mapping[str, Any], name: str) -> frozenset[str]:
    """The groups under ``name``: a claim, or else a dotted path such as ``realm_access.roles``."""
    value = claims.get(name) if name in claims else at_path(dict(claims), name)
    values = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return frozenset(group for group in values[:MOST_GROUPS] if isinstance(group, str))
