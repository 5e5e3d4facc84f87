"""The Connect API by one Connect token alone, for the pages that a product shows a user of its own.

What the token's scope does not admit answers like what is absent, so that pages leave it out. A link is a session of
the token's own (``POST P/link_sessions``, an extension); a service without them has the token's one link.
"""

from collections.abc import Mapping
from typing import Any, Unpack
from urllib.parse import quote, urlencode

from webapp.dashboard.client.connect import Call, ConnectClient, object_of, read
from webapp.dashboard.client.models.lenient import Lenient
from webapp.dashboard.client.transport import Transport
from webapp.errors import Forbidden, Invalid, NotFound, Unauthorized
from webapp.kit.clock import Clock, parse_iso


class TokenFacts(Lenient):
    """What a Connect token says of itself (contract "Token validation", with extensions)."""

    success: bool = False
    project_id: str = ""
    project_environment: str = ""
    project_app_name: str = ""
    project_support_email: str = ""
    project_brand_hue: int | None = None
    project_logo_url: str = ""
    external_user_id: str = ""
    user_id: str = ""
    allowed_origins: tuple[str, ...] = ()
    scope: str = ""
    expires_at: str = ""

    @property
    def works(self) -> bool:
        """Whether it works, and says whose it is: a service without the extension does not."""
        return bool(self.success and self.project_id and self.external_user_id and self.ends_at)

    @property
    def ends_at(self) -> int:
        """Until when, in epoch milliseconds; 0 where it is not told."""
        try:
            return parse_iso(self.expires_at) if self.expires_at else 0
        except ValueError:
            return 0

    def admits(self, scope: str) -> bool:
        """Whether it has ``scope``, or one that covers it (contract "Scopes")."""
        return any(
            granted == scope or (granted.endswith("*") and scope.startswith(granted[:-1]))
            for granted in self.scope.split()
        )

    def same_user(self, other: "TokenFacts") -> bool:
        """Whether both are of one user of one project and environment."""
        names = ("project_id", "project_environment", "external_user_id")
        return all(getattr(self, name) == getattr(other, name) for name in names)


class TokenClient(ConnectClient):
    """One Connect token's project and environment, for its user alone."""

    def __init__(
        self, transport: Transport, clock: Clock, token: str, facts: TokenFacts, look: Mapping[str, str] | None = None
    ) -> None:
        """``look`` is the theme and the language of links."""
        super().__init__(
            transport, clock, client_id="", client_secret="", project=lambda: facts.project_id,
            environment=facts.project_environment,
        )  # fmt: skip
        self._token, self._look = token, look or {}

    def as_user(self, user: str, method: str, path: str, **call: Unpack[Call]) -> Any:
        """A call with the token. Raises :class:`NotFound` for what its scope does not admit."""
        try:
            return self.transport.call(method, path, token=self._token, environment=self._environment, **call)
        except Forbidden as error:
            raise NotFound from error

    def as_project(self, method: str, path: str, **call: Unpack[Call]) -> Any:
        """Nothing: there is no OAuth client behind it. Raises :class:`NotFound`."""
        raise NotFound

    def new_link(self, user: str, uris: Mapping[str, str], app: str, account_id: str = "") -> str:
        """A page of the Connect Link for one more connection, or for the only one that the token is good for."""
        body = {**self._look, **uris, "app": app, "account_id": account_id or None}
        try:
            return str(object_of(self.as_user(user, "POST", self.path("link_sessions"), body=body)).get("url", ""))
        except NotFound:
            chosen = {"app": app, "accountId": account_id, **self._look}
            return own_link(self.transport.base_url, self._token, chosen)


def own_link(base_url: str, token: str, chosen: Mapping[str, str]) -> str:
    """The Connect Link of ``token`` itself, with what of ``chosen`` is not empty (contract "Connect Link")."""
    query = {"token": token, "connectLink": "true", **chosen} if token else {}
    return f"{base_url}/_static/connect.html?{urlencode({name: value for name, value in query.items() if value})}"


def facts_of(transport: Transport, token: str) -> TokenFacts:
    """``GET /v1/connect/tokens/{ctok}/validate``; facts that say nothing of one that does not work."""
    path = f"/v1/connect/tokens/{quote(token[:200], safe='')}/validate"
    try:
        return read(TokenFacts, transport.call("GET", path, params={"extensions": True}))
    except (NotFound, Forbidden, Invalid, Unauthorized):
        return TokenFacts()
