"""The sandbox's OAuth authorization server, built with Authlib: its consent page, endpoints and metadata.

It supports the authorization code with PKCE S256, rotating refresh tokens, revocation and ``iss`` (RFC 6749, 7636, 7009
and 9207). Authlib accepts plain http on loopback hosts (RFC 8252 section 7.3), so ``AUTHLIB_INSECURE_TRANSPORT`` stays
unset. Storage is left to ``grants``.
"""

import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from authlib.common.urls import add_params_to_uri
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidGrantError, InvalidRequestError
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc9207 import IssuerParameter
from flask import Blueprint, Flask, Response, abort, current_app, g, jsonify, redirect, render_template, request
from flask.typing import ResponseReturnValue

from webapp.sandbox.clients import AUTH_METHODS, GRANT_TYPES, SCOPES, Client, in_words
from webapp.sandbox.grants import BEHAVIOURS, Behaviour, Code, Grant, Token
from webapp.sandbox.people import PEOPLE, Person, find_person
from webapp.sandbox.state import Sandbox, current

SERVER = "sandbox_oauth"
CARRIED = (
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
)
# The characters that these parameters, and errors that repeat them, may contain (RFC 6749 appendix A and 4.1.2.1).
_SAFE = re.compile(r"[\x20-\x21\x23-\x5b\x5d-\x7e]*")
pages = Blueprint("oauth_pages", __name__)
endpoints = Blueprint("oauth_endpoints", __name__)


@dataclass(frozen=True, slots=True)
class Consent:
    """The person and behaviour chosen on the consent page: Authlib passes it on to the code as "the user"."""

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
    """Sleep for the delay of slow accounts, if this is one. Call it outside transactions."""
    if behaviour.slow:
        time.sleep(current().slow_seconds)


def _token_response(server: AuthorizationServer) -> Response:
    """The token endpoint's response, delayed if the grant's behaviour is slow."""
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
        """Does nothing: the transaction that stored the tokens marked the code as used."""

    def authenticate_user(self, authorization_code: Code) -> Grant:
        """The grant, as the "user" of the tokens: its behaviour sets their lifetime."""
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
        """Does nothing: the transaction that stored the new pair marked the old token as used."""


class RequiredS256(CodeChallenge):
    """Requires PKCE of every client, with S256: Authlib by itself requires it only of public clients."""

    SUPPORTED_CODE_CHALLENGE_METHOD = ["S256"]  # noqa: RUF012 - as Authlib declares it

    def validate_code_challenge(self, grant: Any, redirect_uri: str | None) -> None:
        data = grant.request.payload.data
        if not data.get("code_challenge"):
            raise InvalidRequestError("Send a code_challenge: PKCE is required here.")
        if data.get("code_challenge_method") != "S256":
            raise InvalidRequestError("Send code_challenge_method=S256: no other is supported.")
        super().validate_code_challenge(grant, redirect_uri)


class Revocation(RevocationEndpoint):
    """Token revocation (RFC 7009); revoking either token revokes the whole grant."""

    CLIENT_AUTH_METHODS = AUTH_METHODS

    def check_params(self, request: Any, client: Client) -> None:
        """Require a token. An unknown hint is ignored (RFC 7009 section 2.1)."""
        if "token" not in request.form:
            raise InvalidRequestError("Send the token to revoke.")

    def query_token(self, token_string: str, token_type_hint: str | None) -> Token | None:
        return current().grants.find_any(token_string)

    def revoke_token(self, token: Token, request: Any) -> None:
        current().grants.revoke(token.grant.id, "The application revoked it.")


class Issuer(IssuerParameter):
    """Adds ``iss`` to each authorization response (RFC 9207 section 2)."""

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
    """Store a token response. Raises ``InvalidGrantError`` if the code or refresh token was used before."""
    grants = current().grants
    if request.refresh_token is not None:
        done = grants.rotate(request.refresh_token, token)
    else:
        done = grants.redeem(request.authorization_code, token)
    if not done:
        raise InvalidGrantError("This was used before, so all access that came from it has ended.")


@pages.get("/oauth/authorize")
def ask() -> ResponseReturnValue:
    """The consent page, or the refusal of an invalid request."""
    authorization = _validated()
    if not isinstance(authorization, dict):
        return authorization
    return _consent_page(authorization)


@pages.post("/oauth/authorize")
def decide() -> ResponseReturnValue:
    """Redirect the person back to the client with a code, or with ``access_denied``."""
    authorization = _validated()
    if not isinstance(authorization, dict):
        return authorization
    person = find_person(request.form.get("person", ""))
    behaviour = BEHAVIOURS.get(request.form.get("behaviour", "normal"))
    allowed = request.form.get("decision") == "allow"
    if allowed and (person is None or behaviour is None):
        return _consent_page(authorization, "Pick one of the people and one of the behaviours, then press Allow."), 422
    consent = Consent(person, behaviour) if allowed and person and behaviour else None
    response: Response = _server().create_authorization_response(grant_user=consent, grant=authorization["grant"])
    if response.status_code == 302:
        response.status_code = 303  # RFC 9700 section 4.12: the browser must not post the form on
    return response


@endpoints.post("/oauth/token")
def token() -> ResponseReturnValue:
    """Exchange a code or a refresh token (RFC 6749 section 3.2)."""
    _refuse_unreadable_credentials()
    return _token_response(_server())


@endpoints.post("/oauth/revoke")
def revoke() -> ResponseReturnValue:
    """End the grant of a token (RFC 7009)."""
    _refuse_unreadable_credentials()
    return cast(Response, _server().create_endpoint_response("revocation"))


@endpoints.get("/.well-known/oauth-authorization-server")
def metadata() -> ResponseReturnValue:
    """What this server can do (RFC 8414 section 2, RFC 9207 section 3)."""
    url = current().public_url
    return jsonify(
        issuer=url,
        authorization_endpoint=f"{url}/oauth/authorize",
        token_endpoint=f"{url}/oauth/token",
        revocation_endpoint=f"{url}/oauth/revoke",
        scopes_supported=list(SCOPES),
        response_types_supported=["code"],
        response_modes_supported=["query"],
        grant_types_supported=list(GRANT_TYPES),
        token_endpoint_auth_methods_supported=list(AUTH_METHODS),
        revocation_endpoint_auth_methods_supported=list(AUTH_METHODS),
        code_challenge_methods_supported=["S256"],
        authorization_response_iss_parameter_supported=True,
        service_documentation=f"{url}/",
    )


def _validated() -> dict[str, Any] | ResponseReturnValue:
    """The checked request as ``{"grant", "scope"}``, or the answer that refuses it.

    It redirects only to URIs that are registered, compared character by character.
    """
    if any(_SAFE.fullmatch(request.values.get(name, "")) is None for name in CARRIED if name != "state"):
        return _refusal("The request holds characters that OAuth does not allow."), 400
    try:
        grant = _server().get_consent_grant()
    except OAuth2Error as error:
        return _refuse(error)
    return {"grant": grant, "scope": grant.request.scope, "redirect_uri": grant.redirect_uri}


def _refuse(error: OAuth2Error) -> ResponseReturnValue:
    if not error.redirect_uri:
        return _refusal(error.description or "The request is not valid."), 400
    parameters = [(str(name), str(value)) for name, value in error.get_body()]
    location = add_params_to_uri(error.redirect_uri, [*parameters, ("iss", current().public_url)])
    return redirect(location, 303)


def _refusal(why: str) -> str:
    return render_template("sandbox/refused.html", title="This link does not work", why=why)


def _consent_page(authorization: dict[str, Any], problem: str | None = None) -> str:
    # Chromium applies form-action to every redirect after a form is sent, and the client's callback may redirect
    # further, to a success URL on another host, so this page allows every http and https origin.
    g.form_action = "'self' http: https:"
    return render_template(
        "sandbox/consent.html",
        people=PEOPLE,
        client_name=current().client.name,
        behaviours=BEHAVIOURS.values(),
        grants=in_words(authorization["scope"]),
        returns_to=authorization["redirect_uri"],
        carried={name: request.values[name] for name in CARRIED if name in request.values},
        problem=problem,
    )


def _refuse_unreadable_credentials() -> None:
    """Abort with 401 if the Authorization header is malformed, for which Authlib would raise other exceptions."""
    header = request.headers.get("Authorization")
    if header is None or (request.authorization is not None and len(header.split(None, 1)) == 2):
        return
    response = jsonify(error="invalid_client", error_description="The Authorization header cannot be read.")
    response.status_code = 401
    response.headers["WWW-Authenticate"] = 'Basic realm="Sandbox Tasks"'
    abort(response)


def _server() -> Any:
    """Authlib's server; Any, because its type stubs are out of date."""
    return current_app.extensions[SERVER]
