"""The authorization server by Authlib: code with PKCE S256, rotating refresh tokens, revocation, ``iss``.

RFC 6749, 7636, 7009 and 9207. Authlib lets plain http pass on loopback hosts by itself (RFC 8252 section 7.3), so
``AUTHLIB_INSECURE_TRANSPORT`` stays unset and no other code of the process is affected; ``app`` refuses to start
anywhere else. Storage is left to ``grants``, pages and routes to ``authorize``.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import InvalidGrantError, InvalidRequestError
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc9207 import IssuerParameter
from flask import Flask, Response, g

from webapp.sandbox.clients import AUTH_METHODS, SCOPES, Client
from webapp.sandbox.granted import Behaviour, Code, Grant, Token
from webapp.sandbox.people import Person
from webapp.sandbox.state import Sandbox, current


@dataclass(frozen=True, slots=True)
class Consent:
    """What somebody allowed: Authlib carries it from the consent page to the code as "the user"."""

    person: Person
    behaviour: Behaviour


def create_server(app: Flask, sandbox: Sandbox) -> AuthorizationServer:
    """The authorization server of ``sandbox``, with its grants and endpoints registered."""
    app.config["OAUTH2_SCOPES_SUPPORTED"] = list(SCOPES)
    server = AuthorizationServer(app, query_client=_find_client, save_token=_save_token)
    server.register_token_generator("default", TokenPair(_random("sbx_at_"), _random("sbx_rt_")))
    server.register_grant(CodeGrant, [RequiredS256(required=True)])
    server.register_grant(RefreshGrant)
    server.register_endpoint(Revocation)
    server.register_extension(Issuer(sandbox.public_url))
    return server


def delay_if_slow(behaviour: Behaviour) -> None:
    """Wait the slow account's seconds. Nothing is held while waiting."""
    if behaviour.slow:
        time.sleep(current().slow_seconds)


def token_response(server: AuthorizationServer) -> Response:
    """Answer the token endpoint with the behaviour of the grant that was asked for."""
    response = cast(Response, server.create_token_response())
    if behaviour := g.get("behaviour"):
        delay_if_slow(behaviour)
    return response


class TokenPair(BearerTokenGenerator):
    """Makes bearer tokens that live as long as the behaviour of their grant allows."""

    def generate(
        self,
        grant_type: str,
        client: Any,
        user: Grant | None = None,
        scope: str | None = None,
        expires_in: int | None = None,
        include_refresh_token: bool = True,
    ) -> dict[str, str | int]:
        life = user.behaviour.access_seconds if user else expires_in
        return super().generate(grant_type, client, user, scope, life, include_refresh_token)


class CodeGrant(AuthorizationCodeGrant):
    """The authorization code grant (RFC 6749 section 4.1) over ``grants``."""

    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS

    def save_authorization_code(self, code: str, request: Any) -> None:
        consent: Consent = request.user
        payload = request.payload
        current().grants.allow(
            code,
            request.client.client_id,
            consent.person,
            request.scope,
            consent.behaviour,
            payload.redirect_uri or "",
            payload.data["code_challenge"],
        )

    def query_authorization_code(self, code: str, client: Any) -> Code | None:
        authorization_code = current().grants.find_code(code, client.client_id)
        g.behaviour = authorization_code.grant.behaviour if authorization_code else None
        return authorization_code

    def delete_authorization_code(self, authorization_code: Any) -> None:
        """Nothing to do: redeeming marked it, in the transaction that stored the tokens."""

    def authenticate_user(self, authorization_code: Code) -> Grant:
        """The "user" that tokens are made for is the grant: it knows how long they live."""
        return authorization_code.grant


class RefreshGrant(RefreshTokenGrant):
    """The refresh grant (RFC 6749 section 6), always with a new refresh token (RFC 9700 section 4.14.2)."""

    INCLUDE_NEW_REFRESH_TOKEN = True
    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS

    def authenticate_refresh_token(self, refresh_token: str) -> Any:
        token = current().grants.find_refresh(refresh_token)
        g.behaviour = token.grant.behaviour if token else None
        return token

    def authenticate_user(self, refresh_token: Token) -> Grant:
        return refresh_token.grant

    def revoke_old_credential(self, refresh_token: Any) -> None:
        """Nothing to do: rotating marked it, in the transaction that stored the new pair."""


class RequiredS256(CodeChallenge):
    """PKCE that every client must use, and only with S256: Authlib by itself asks public clients alone."""

    SUPPORTED_CODE_CHALLENGE_METHOD = ["S256"]  # noqa: RUF012 - as Authlib declares it

    def validate_code_challenge(self, grant: Any, redirect_uri: str | None) -> None:
        data = grant.request.payload.data
        if not data.get("code_challenge"):
            raise InvalidRequestError("Send a code_challenge: PKCE is required here.")
        if data.get("code_challenge_method") != "S256":
            raise InvalidRequestError("Send code_challenge_method=S256: no other is supported.")
        super().validate_code_challenge(grant, redirect_uri)


class Revocation(RevocationEndpoint):
    """Token revocation (RFC 7009): whichever token is shown, its whole grant ends."""

    CLIENT_AUTH_METHODS = AUTH_METHODS

    def check_params(self, request: Any, client: Client) -> None:
        """A hint only speeds up a search, so an unknown one is passed over (RFC 7009 section 2.1)."""
        if "token" not in request.form:
            raise InvalidRequestError("Send the token to revoke.")

    def query_token(self, token_string: str, token_type_hint: str | None) -> Token | None:
        return current().grants.find_any(token_string)

    def revoke_token(self, token: Token, request: Any) -> None:
        current().grants.revoke(token.grant.id, "The application revoked it.")


class Issuer(IssuerParameter):
    """Names this server in each authorization response (RFC 9207 section 2)."""

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer

    def get_issuer(self) -> str:
        return self._issuer


def _random(prefix: str) -> Callable[..., str]:
    return lambda **_: prefix + secrets.token_urlsafe(32)


def _find_client(client_id: str) -> Client | None:
    client = current().client
    return client if client.client_id == client_id else None


def _save_token(token: Mapping[str, Any], request: Any) -> None:
    """Store what was generated. Raises ``InvalidGrantError`` for whoever comes second with one code or token."""
    grants = current().grants
    if request.refresh_token is not None:
        done = grants.rotate(request.refresh_token, token)
    else:
        done = grants.redeem(request.authorization_code, token)
    if not done:
        raise InvalidGrantError("This was used before, so all access that came from it has ended.")
