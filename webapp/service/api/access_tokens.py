"""``POST /v1/oauth/token`` exchanges client credentials for an access token (contract "Access tokens").

It follows RFC 6749, sections 4.4 and 5. The client authenticates with its secret, by HTTP Basic or in the body, or with
a signed assertion (RFC 7523), never with two of them; the body is JSON or a form. Failures are counted by client and
network address.
"""

import base64
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, TypeVar
from urllib.parse import unquote_plus

from flask import Request, Response
from pydantic import Field

from webapp import body_limits, quotas
from webapp.errors import Invalid, UnsupportedMedia
from webapp.kit.crypto import hash_token
from webapp.kit.networks import network_of
from webapp.service.api.base.call import Call, answer, check_encoding, holds_nul, read_json
from webapp.service.api.base.models import Answer, Body, Seconds
from webapp.service.api.base.operations import Example, Group, Operations
from webapp.service.api.base.problems import OAuthProblem
from webapp.service.domain.access import access_tokens, oauth_clients
from webapp.service.domain.access.oauth_clients import OAuthClient
from webapp.service.domain.base import token_scopes

FIELDS = ("grant_type", "client_id", "client_secret", "scope", "client_assertion_type", "client_assertion")
ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
Proven = TypeVar("Proven", bound=OAuthClient | None)
operations = Operations(
    Group("Access tokens", "Your server exchanges its client id and secret for an access token, which lasts one hour.")
)


class Authenticated(NamedTuple):
    """A client, and the hash of the credential it presented: its tokens end with that credential."""

    client: OAuthClient
    credential: str


class TokenRequest(Body):
    """A client's request for an access token (RFC 6749 section 4.4.2). HTTP Basic may carry the id and secret; a client
    with a public key may send an assertion instead (RFC 7523)."""

    grant_type: Literal["client_credentials"] = Field(description="What is shown to get the token.")
    client_id: str = Field("", description="The client's id.")
    client_secret: str = Field("", description="The client's secret.")
    client_assertion_type: str = Field("", description="`urn:ietf:params:oauth:client-assertion-type:jwt-bearer`.")
    client_assertion: str = Field("", description="A JWT that the client signed: `iss`, `sub`, `aud`, `exp` and `jti`.")
    scope: str = Field("*", description="Space-separated; `*` unless given.")


class AccessToken(Answer):
    """An OAuth access token."""

    access_token: str = Field(examples=["eyJhbGciOi…"])
    token_type: Literal["Bearer"]
    expires_in: int = Field(examples=[3600])
    scope: str = Field(examples=["*"])
    created_at: Seconds


@operations.post(
    "/v1/oauth/token",
    answer=AccessToken,
    connect=False,
    public=True,
    body=TokenRequest,
    oauth=True,
    example=Example(
        body={"grant_type": "client_credentials", "client_id": "$CLIENT_ID", "client_secret": "$CLIENT_SECRET"}
    ),
)
def create_access_token(call: Call) -> Response:
    """Issue an access token."""
    fields = _fields(call.request)
    _check_grant(fields)
    client, credential = _authenticated(call, fields)
    try:
        token = access_tokens.issue(call.service, client, fields.get("scope"), credential)
    except token_scopes.UnknownScope as error:
        raise OAuthProblem("invalid_scope", str(error)) from error
    response = answer(
        {
            "access_token": token.token,
            "token_type": "Bearer",
            "expires_in": access_tokens.LIFETIME_S,
            "scope": token.scope,
            "created_at": token.created_at,
        }
    )
    response.headers["Pragma"] = "no-cache"  # beside the Cache-Control of every answer, by RFC 6749 section 5.1
    return response


def _fields(request: Request) -> Mapping[str, str]:
    """The fields of the body; one that is empty is as good as absent (RFC 6749 section 3.2)."""
    read = {"application/x-www-form-urlencoded": _form, "application/json": _json}.get(request.mimetype)
    if read is None:
        raise _invalid("Send the body as application/json or application/x-www-form-urlencoded.")
    try:
        fields = read(request)
    except (Invalid, UnsupportedMedia) as error:
        raise _invalid(error.message) from error
    return {name: value for name, value in fields.items() if value}


def _form(request: Request) -> dict[str, str]:
    check_encoding(request)
    request.max_content_length = body_limits.REQUEST
    for name in FIELDS:
        values = request.form.getlist(name)
        if len(values) > 1:
            raise Invalid(f"{name} is there more than once.")
        if holds_nul(values):
            raise Invalid(f"{name} holds a NUL character; leave it out.")
    return {name: request.form.get(name, "") for name in FIELDS}


def _json(request: Request) -> dict[str, str]:
    body = read_json(request)
    for name in FIELDS:
        if not isinstance(body.get(name), str | None):
            raise Invalid(f"{name} must be a string.")
    return {name: body.get(name) or "" for name in FIELDS}


def _check_grant(fields: Mapping[str, str]) -> None:
    grant_type = fields.get("grant_type")
    if grant_type is None:
        raise _invalid("grant_type is missing; send client_credentials.")
    if grant_type != "client_credentials":
        raise OAuthProblem("unsupported_grant_type", "Only the grant type client_credentials is supported.")


def _authenticated(call: Call, fields: Mapping[str, str]) -> Authenticated:
    """The client that authenticates. Raises :class:`OAuthProblem`, and :class:`webapp.errors.Throttled`."""
    basic = parse_basic(call.request.environ.get("HTTP_AUTHORIZATION", ""))
    if "client_assertion" in fields or "client_assertion_type" in fields:
        if basic or "client_secret" in fields:
            raise _invalid("Send either a secret or an assertion, not both.")
        return _by_assertion(call, fields)
    if basic and ("client_secret" in fields or fields.get("client_id", basic[0]) != basic[0]):
        raise _invalid("Send the client's id and secret either by HTTP Basic or in the body, not both.")
    client_id, client_secret = basic or (fields.get("client_id", ""), fields.get("client_secret", ""))
    if not client_id or not client_secret:
        raise OAuthProblem("invalid_client", "Send client_id and client_secret.", 401)
    client = _counted(call, client_id, lambda: oauth_clients.authenticate(call.service, client_id, client_secret))
    if client is None:
        raise OAuthProblem("invalid_client", "The client id or secret is wrong, or the secret was rotated.", 401)
    return Authenticated(client, hash_token(client_secret))


def _by_assertion(call: Call, fields: Mapping[str, str]) -> Authenticated:
    """The client that signed the assertion (RFC 7523 section 2.2)."""
    assertion = fields.get("client_assertion", "")
    if not assertion or fields.get("client_assertion_type") != ASSERTION_TYPE:
        raise _invalid(f"Send client_assertion with client_assertion_type {ASSERTION_TYPE}.")
    claimed, issuer = oauth_clients.claimed_client(assertion), call.service.settings.public_url
    if fields.get("client_id", claimed) != claimed:
        raise OAuthProblem("invalid_client", "client_id is not the client that the assertion names.", 401)
    audiences = (f"{issuer}/v1/oauth/token", issuer, f"{issuer}/")
    try:
        client = _counted(call, claimed, lambda: oauth_clients.authenticate_by_key(call.service, assertion, audiences))
    except oauth_clients.BadAssertion as error:
        raise OAuthProblem("invalid_client", str(error), 401) from error
    return Authenticated(client, hash_token(client.public_key))


def parse_basic(header: str) -> tuple[str, str] | None:
    """The client id and secret in an ``Authorization: Basic`` header (RFC 6749 section 2.3.1), if they are there."""
    kind, _, encoded = header.partition(" ")
    if kind.lower() != "basic":
        return None
    try:
        user, colon, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:  # not base64, not ASCII or not UTF-8
        return None
    return (unquote_plus(user), unquote_plus(password)) if colon else None


def _counted(call: Call, client_id: str, prove: Callable[[], Proven]) -> Proven:
    """The client that ``prove`` finds; failures are counted by its address, which calls from within have not."""
    if not call.request.remote_addr:
        return prove()
    key, failed = f"{hash_token(client_id)}|{network_of(call.request.remote_addr)}", True
    call.service.count(quotas.WRONG_SECRETS, key, 0)
    try:
        client = prove()
        failed = client is None
    finally:
        if failed:
            call.service.count(quotas.WRONG_SECRETS, key)
    return client


def _invalid(description: str) -> OAuthProblem:
    return OAuthProblem("invalid_request", description)
