"""What an agent asks of a person by a link to our consent page (RFC 6749 section 4.1.1, with PKCE), and how it is told.

Anybody can register an agent, so nobody is sent to its address before a press of a button: whatever is wrong with a
request stands on our own page (RFC 9700 section 4.11.2).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from urllib.parse import urlencode, urlsplit

from webapp.errors import Invalid
from webapp.kit.translation import gettext
from webapp.people.agents import clients
from webapp.people.agents.clients import AgentClient

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")  # of S256: 32 bytes in base64url
MAX_STATE = 2_000


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """The parameters, as they came."""

    client_id: str = ""
    redirect_uri: str = ""
    response_type: str = ""
    code_challenge: str = ""
    code_challenge_method: str = ""
    state: str = ""
    scope: str = ""
    resource: str = ""

    @classmethod
    def of(cls, values: Mapping[str, str]) -> "AuthorizationRequest":
        """The request in a query or form; what it does not know is left out."""
        return cls(**{field.name: values.get(field.name, "") for field in fields(cls)})

    def fields(self) -> dict[str, str]:
        """What a form carries on."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name))}


def client_of(find: Callable[[str], AgentClient | None], wanted: AuthorizationRequest) -> tuple[AgentClient, str]:
    """The agent, which ``find`` knows by its id, and where it is told. Raises :class:`Invalid` where nobody may be sent
    anywhere."""
    client = find(wanted.client_id)
    if client is None:
        raise Invalid(gettext("This agent is not known here, or no longer. Remove it in the agent and add it again."))
    uri = wanted.redirect_uri or (client.redirect_uris[0] if len(client.redirect_uris) == 1 else "")
    if not clients.redirect_matches(uri, client.redirect_uris):
        raise Invalid(gettext("This agent wants to be told at an address that it did not register."))
    return client, uri


def check(wanted: AuthorizationRequest, public_url: str) -> None:
    """Raise :class:`Invalid` for a request that cannot be granted."""
    if wanted.response_type != "code":
        raise Invalid(gettext("The agent asks for something else than a code (response_type)."))
    if wanted.code_challenge_method != "S256" or not _CHALLENGE.fullmatch(wanted.code_challenge):
        raise Invalid(gettext("The agent does not protect its sign-in by PKCE with S256. Use a newer version of it."))
    if len(wanted.state) > MAX_STATE:
        raise Invalid(gettext("The agent sends too long a state."))
    if wanted.resource.rstrip("/") not in ("", public_url, f"{public_url}/mcp"):
        raise Invalid(gettext("The agent wants to be let in somewhere else than here (resource)."))


def told(uri: str, wanted: AuthorizationRequest, public_url: str, **facts: str) -> str:
    """The address that tells the agent ``facts``, with its state and who says so (RFC 9207)."""
    values = {**facts, **({"state": wanted.state} if wanted.state else {}), "iss": f"{public_url}/mcp/oauth"}
    return f"{uri.removesuffix('?')}{'&' if urlsplit(uri).query else '?'}{urlencode(values)}"
