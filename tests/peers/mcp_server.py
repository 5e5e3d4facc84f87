"""A server of PyPI's ``mcp`` in a process of its own, with tools, and with sign-in by its own OAuth where it is asked.

``python mcp_server.py PORT streamable|json|stateless|sse|oauth``. With ``oauth``, clients register themselves, and
everybody is Ada at once; tokens are for this resource only and live for a minute.
"""

import secrets
import sys
import time

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from mcp.types import ToolAnnotations
from pydantic import BaseModel

PORT, MANNER = int(sys.argv[1]), sys.argv[2]
HOME = f"http://127.0.0.1:{PORT}"
LIFE_S = 60
Provider = OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]


class Ada(Provider):
    """Lets every client in as Ada."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.fresh: dict[str, tuple[RefreshToken, str | None]] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = secrets.token_hex(20)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id or "",
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state, iss=HOME)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._tokens(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self.fresh[refresh_token][0] if refresh_token in self.fresh else None

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        _, resource = self.fresh.pop(refresh_token.token)
        return self._tokens(client, scopes, resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)
        self.fresh.pop(token.token, None)

    def _tokens(self, client: OAuthClientInformationFull, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = secrets.token_hex(20), secrets.token_hex(20)
        client_id = client.client_id or ""
        self.access[access] = AccessToken(
            token=access, client_id=client_id, scopes=scopes, expires_at=int(time.time()) + LIFE_S, resource=resource
        )
        self.fresh[refresh] = RefreshToken(token=refresh, client_id=client_id, scopes=scopes), resource
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=LIFE_S, scope=" ".join(scopes))


class Weather(BaseModel):
    """What the weather is like."""

    degrees: float
    sunny: bool


SETTINGS = AuthSettings.model_validate(
    {
        "issuer_url": HOME,
        "resource_server_url": f"{HOME}/mcp",
        "validate_token_resource": True,
        "required_scopes": ["tools"],
        "client_registration_options": ClientRegistrationOptions(
            enabled=True, valid_scopes=["tools"], default_scopes=["tools"]
        ),
        "revocation_options": RevocationOptions(enabled=True),
    }
)
SIGNED = {"auth_server_provider": Ada(), "auth": SETTINGS} if MANNER == "oauth" else {}
server = MCPServer("weather", **SIGNED)  # type: ignore[arg-type]


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def weather(city: str, days: int = 1) -> Weather:
    """The weather in a city."""
    return Weather(degrees=len(city) + days, sunny=True)


@server.tool()
async def slow(steps: int, ctx: Context) -> str:
    """Takes its time, and tells how far it is."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, "Thinking")
    return "done"


@server.tool()
def picture() -> Image:
    """A picture."""
    return Image(data=b"not really", format="png")


@server.tool()
def fails() -> str:
    """Always fails."""
    raise ValueError("No weather today.")


if __name__ == "__main__":
    if MANNER == "sse":
        server.run("sse", host="127.0.0.1", port=PORT)
    else:
        server.run(
            "streamable-http",
            host="127.0.0.1",
            port=PORT,
            json_response=MANNER == "json",
            stateless_http=MANNER == "stateless",
        )
