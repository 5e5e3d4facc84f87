"""OAuth 2.0 towards providers: authorization URL, code exchange, refresh, revocation, issuer check.

Authlib builds the requests; the guarded client carries them; tokens reads the answers. State, one-use attempts and
single-flight refresh belong to the caller: nothing here remembers anything. PKCE is S256 unless a provider refuses it.
"""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar
from urllib.parse import quote_plus

from authlib.oauth2.auth import ClientAuth, encode_client_secret_basic
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
from authlib.oauth2.rfc7009 import prepare_revoke_token_request
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.outcomes import Failure, Response
from webapp.service.outbound.tokens import (
    OAuthFailure,
    OAuthFailureKind,
    TokenResult,
    failure_for,
    read_refusal,
    read_token,
)
from webapp.service.outbound.urls import HostRules

R = TypeVar("R", TokenResult | OAuthFailure, OAuthFailure | None)
TokenAuthMethod = Literal["client_secret_basic", "client_secret_post", "none"]
MAX_ANSWER = 256 * 1024
NOT_THE_ONE_ASKED = "The answer did not come from the one that was asked. Start connecting again."


@dataclass(frozen=True, slots=True)
class Provider:
    """An OAuth provider's facts together with the client registered there. Prints without the secret."""

    authorize_url: str
    token_url: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    refresh_url: str | None = None  # where that is not token_url
    request_token_url: str | None = None  # RFC 5849, for OAuth 1.0a (oauth1)
    revoke_url: str | None = None  # RFC 7009
    issuer: str | None = None  # RFC 9207
    iss_required: bool = False  # the provider advertises authorization_response_iss_parameter_supported
    token_auth_method: TokenAuthMethod = "client_secret_basic"  # noqa: S105 - a method's name, not a secret
    pkce: bool = True
    scope_param: str = "scope"  # Slack asks for a person's scopes in `user_scope`
    scope_separator: str = " "
    extra_authorize_params: Mapping[str, str] = field(default_factory=dict)
    extra_token_params: Mapping[str, str | int] = field(default_factory=dict)
    extra_refresh_params: Mapping[str, str | int] = field(default_factory=dict)
    token_at: str = ""  # dotted path of the object in the answer that holds the token's members
    json_body: bool = False  # the token endpoint takes JSON, as Notion's documentation asks
    error_codes: Mapping[str, OAuthFailureKind] = field(default_factory=dict)  # the provider's own codes
    token_headers: Mapping[str, str] = field(default_factory=dict)
    allowed_hosts: HostRules | None = None
    deadline_s: float = 20.0


def authorization_url(
    provider: Provider,
    *,
    redirect_uri: str,
    state: str,
    verifier: str,
    scopes: Sequence[str],
    extra: Mapping[str, str] | None = None,
) -> str:
    """The address to send the person to (RFC 6749, 4.1.1; RFC 7636, 4.3). `extra` wins over the provider's own."""
    params: dict[str, str] = {**provider.extra_authorize_params, **(extra or {})}
    if scopes:
        params[provider.scope_param] = provider.scope_separator.join(scopes)
    if provider.pkce:
        params |= {
            "code_challenge": create_s256_code_challenge(verifier),
            "code_challenge_method": "S256",
        }
    url: str = prepare_grant_uri(
        provider.authorize_url, provider.client_id, "code", redirect_uri=redirect_uri, state=state, **params
    )
    return url


def exchange_code(
    client: OutboundClient, provider: Provider, *, code: str, redirect_uri: str, verifier: str
) -> TokenResult | OAuthFailure:
    """Turn an authorization code into tokens (RFC 6749, 4.1.3; RFC 7636, 4.5)."""
    params: dict[str, str | int] = {"code": code, "redirect_uri": redirect_uri, **provider.extra_token_params}
    if provider.pkce:
        params["code_verifier"] = verifier
    outcome = _post_token(client, provider, "authorization_code", params)
    result = read_token(outcome, token_at=provider.token_at, codes=provider.error_codes)
    return _discreet(result, provider, code, verifier)


def refresh(client: OutboundClient, provider: Provider, *, refresh_token: str) -> TokenResult | OAuthFailure:
    """New tokens for a refresh token (RFC 6749, 6). An answer without a refresh token keeps the one given."""
    outcome = _post_token(
        client, provider, "refresh_token", {"refresh_token": refresh_token, **provider.extra_refresh_params}
    )
    result = read_token(outcome, token_at=provider.token_at, strict=False, codes=provider.error_codes)
    if isinstance(result, TokenResult) and result.refresh_token is None:
        return replace(result, refresh_token=refresh_token)
    return _discreet(result, provider, refresh_token)


def revoke(
    client: OutboundClient,
    provider: Provider,
    *,
    token: str,
    hint: Literal["access_token", "refresh_token"] = "refresh_token",
) -> OAuthFailure | None:
    """Revoke a token at the provider (RFC 7009). None when it is revoked, or was unknown there already."""
    if provider.revoke_url is None:
        return OAuthFailure("misconfigured", "This provider cannot revoke from here. Remove access at the provider.")
    body, headers = prepare_revoke_token_request(token, hint, "", {})
    refusal = read_refusal(_post(client, provider, provider.revoke_url, body, headers), provider.error_codes)
    return _discreet(refusal, provider, token)


def check_issuer(provider: Provider, iss: str | None) -> OAuthFailure | None:
    """Check the `iss` of an authorization answer, errors included (RFC 9207, 2.4). None when it may go on."""
    missing = iss is None and provider.iss_required
    wrong = iss is not None and provider.issuer is not None and not _same(iss, provider.issuer)
    if not (missing or wrong):
        return None
    return OAuthFailure("denied", NOT_THE_ONE_ASKED, "issuer_mismatch")


def _discreet(result: R, provider: Provider, *sent: str) -> R | OAuthFailure:
    """`result`, without an error code that repeats a secret which was sent: codes are shown, stored and logged."""
    if not isinstance(result, OAuthFailure) or result.error_code is None:
        return result
    if any(secret and secret in result.error_code for secret in (provider.client_secret, *sent)):
        return replace(failure_for(None), status=result.status)
    return result


def _post_token(
    client: OutboundClient, provider: Provider, grant_type: str, params: dict[str, str | int]
) -> Response | Failure:
    refreshes = grant_type == "refresh_token"
    url = (provider.refresh_url if refreshes else None) or provider.token_url
    if provider.json_body:
        return _post_json(client, provider, url, {"grant_type": grant_type, **params})
    body = prepare_token_request(grant_type, "", **{name: str(value) for name, value in params.items()})
    return _post(client, provider, url, body, {})


def _post(
    client: OutboundClient, provider: Provider, url: str, body: str, headers: dict[str, str]
) -> Response | Failure:
    headers = {**headers, "Content-Type": "application/x-www-form-urlencoded"}
    _, headers, body = _authentication(provider).prepare("POST", url, headers, body)
    return _send(client, provider, url, headers, data=body.encode())


def _post_json(
    client: OutboundClient, provider: Provider, url: str, params: dict[str, str | int]
) -> Response | Failure:
    headers: dict[str, str] = {}
    if provider.token_auth_method == "client_secret_basic":  # noqa: S105
        _, headers, _ = _authentication(provider).prepare("POST", url, headers, "")
    else:
        params["client_id"] = provider.client_id
        if provider.token_auth_method == "client_secret_post":  # noqa: S105
            params["client_secret"] = provider.client_secret or ""
    return _send(client, provider, url, headers, json=params)


def _send(
    client: OutboundClient, provider: Provider, url: str, headers: Mapping[str, str], **body: Any
) -> Response | Failure:
    # Token endpoints never redirect (a followed POST would carry the secret elsewhere), so none is followed.
    return client.request(
        "POST",
        url,
        headers={"Accept": "application/json", **headers, **provider.token_headers},
        deadline_s=provider.deadline_s,
        max_bytes=MAX_ANSWER,
        allowed_hosts=provider.allowed_hosts,
        **body,
    )


def _authentication(provider: Provider) -> Any:
    method: Any = provider.token_auth_method
    if method == "client_secret_basic":
        method = _encode_basic
    return ClientAuth(provider.client_id, provider.client_secret, method)


def _encode_basic(client: Any, method: str, uri: str, headers: dict[str, str], body: str) -> Any:
    """RFC 6749, 2.3.1: id and secret are form-encoded before they are joined; Authlib leaves that out."""
    encoded = ClientAuth(quote_plus(client.client_id), quote_plus(client.client_secret or ""))
    return encode_client_secret_basic(encoded, method, uri, headers, body)


def _same(left: str, right: str) -> bool:
    return hmac.compare_digest(left.encode(errors="replace"), right.encode(errors="replace"))
