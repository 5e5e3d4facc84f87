"""OAuth 2.0 towards providers: authorization URL, code exchange, refresh, revocation, issuer check and discovery.

Authlib builds the requests, and the guarded client carries them. State, one-use attempts and single-flight refresh
belong to the caller: nothing here remembers anything. PKCE is S256 unless a provider refuses it.

Providers bend RFC 6749, section 5: errors with status 200 (GitHub, Slack), form-encoded answers, ``expires_in`` as
text or absent, or a time in its place (Square, Squarespace), scopes with commas, tokens inside another member. All of
that is read here without knowing providers by name, into a :class:`TokenResult` or the failure that it means
(:mod:`oauth_failures`), and neither repeats a token in a sentence.

Discovery (RFC 8414, section 3, or OpenID Connect Discovery) trusts only metadata that names the very issuer that was
asked (RFC 8414, 3.3), and never gives up encryption that the issuer has.
"""

import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeGuard, TypeVar
from urllib.parse import parse_qsl, quote_plus, urlsplit

from authlib.oauth2.auth import ClientAuth, encode_client_secret_basic
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
from authlib.oauth2.rfc7009 import prepare_revoke_token_request
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from webapp.kit.clock import SECOND, now, parse_iso
from webapp.service.outbound.bodies import Json, at_path
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.oauth_failures import (
    OAuthFailure,
    OAuthFailureKind,
    failure_for,
    refusal,
    transport_failure,
    unusable,
)
from webapp.service.outbound.responses import Response
from webapp.service.outbound.templates import fill, host_rule
from webapp.service.outbound.urls import HostRules, Url, parse_url

MAX_TOKEN_LIFE_S = 10 * 365 * 86_400
_EPOCH = re.compile(r"[0-9]{9,11}(\.[0-9]{1,9})?")
_TOKEN = re.compile(r"[\x21-\x7e]{1,16384}")
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,500}")  # RFC 6749, 3.3
DISCOVERY_DEADLINE_S = 8.0
ENDPOINTS = {
    "authorize_url": "authorization_endpoint",
    "token_url": "token_endpoint",
    "revoke_url": "revocation_endpoint",
}
_REQUIRED_ENDPOINTS = ("authorize_url", "token_url")
_NO_METADATA = Failure("bad_response", "The issuer does not say where people sign in. Check its address.")


@dataclass(frozen=True, slots=True)
class TokenResult:
    """Tokens as granted. `expires_in` is in seconds; None where the provider did not say.

    `scopes` is None when the answer names none, which means those asked for (RFC 6749, 5.1). `raw` is the whole
    answer, for what an app keeps besides (a workspace's name, an instance's address).
    """

    access_token: str = field(repr=False)
    refresh_token: str | None = field(repr=False)
    expires_in: int | None
    scopes: tuple[str, ...] | None
    token_type: str
    raw: Mapping[str, Any] = field(repr=False)


R = TypeVar("R", TokenResult | OAuthFailure, OAuthFailure | None)
TokenAuthMethod = Literal["client_secret_basic", "client_secret_post", "none"]
MAX_ANSWER = 256 * 1024
WRONG_ISSUER = "The response did not come from the provider. Start again."


@dataclass(frozen=True, slots=True)
class LongLived:
    """Where a provider exchanges a token of hours for one of weeks, and renews that one by itself, as Meta does.

    Both are GET requests. Their `params` are templates with `oauth_access_token`, `oauth_client_id` and
    `oauth_client_secret`. Without `renewal_url` the long-lived token is not renewed, and its end says nothing about
    what was looked up with it.
    """

    exchange_url: str
    exchange_params: Mapping[str, str]
    renewal_url: str | None = None
    renewal_params: Mapping[str, str] = field(default_factory=dict)


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
    client_id_param: str = "client_id"  # TikTok calls it `client_key`
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
    long_lived: LongLived | None = None
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
    page, mark, route = provider.authorize_url.partition("#")  # a page that reads its own fragment (Apollo)
    url: str = prepare_grant_uri(
        route if mark else page, provider.client_id, "code", redirect_uri=redirect_uri, state=state, **params
    )
    url = _with_client_param(url, provider)
    return f"{page}{mark}{url}" if mark else url


def exchange_code(
    client: OutboundClient, provider: Provider, *, code: str, redirect_uri: str, verifier: str
) -> TokenResult | OAuthFailure:
    """Turn an authorization code into tokens (RFC 6749, 4.1.3; RFC 7636, 4.5)."""
    params: dict[str, str | int] = {"code": code, "redirect_uri": redirect_uri, **provider.extra_token_params}
    if provider.pkce:
        params["code_verifier"] = verifier
    outcome = _post_token(client, provider, "authorization_code", params)
    result = read_token(outcome, token_at=provider.token_at, codes=provider.error_codes)
    if isinstance(result, TokenResult) and provider.long_lived:
        return _long_lived(client, provider, provider.long_lived, result)
    return _without_secrets(result, provider, code, verifier)


def _long_lived(
    client: OutboundClient, provider: Provider, facts: LongLived, short: TokenResult
) -> TokenResult | OAuthFailure:
    """`short` with a token of weeks in place of its own, which is its own refresh token if it can be renewed."""
    result = _get_token(client, provider, facts.exchange_url, facts.exchange_params, short.access_token)
    if isinstance(result, OAuthFailure):
        return result
    token, renewable = result.access_token, facts.renewal_url is not None
    return replace(
        short,
        access_token=token,
        refresh_token=token if renewable else None,
        expires_in=result.expires_in if renewable else None,
    )


def _get_token(
    client: OutboundClient, provider: Provider, url: str, params: Mapping[str, str], token: str
) -> TokenResult | OAuthFailure:
    values = {
        "oauth_access_token": token,
        "oauth_client_id": provider.client_id,
        "oauth_client_secret": provider.client_secret or "",
    }
    outcome = client.request(
        "GET",
        url,
        params={name: fill(text, values) for name, text in params.items()},
        headers={"Accept": "application/json"},
        deadline_s=provider.deadline_s,
        max_bytes=MAX_ANSWER,
        allowed_hosts=provider.allowed_hosts,
    )
    return _without_secrets(read_token(outcome, codes=provider.error_codes), provider, token)


def refresh(client: OutboundClient, provider: Provider, *, refresh_token: str) -> TokenResult | OAuthFailure:
    """New tokens for a refresh token (RFC 6749, 6), or for a long-lived token that is renewed by itself. A response
    without a refresh token keeps the given one.
    """
    if provider.long_lived and provider.long_lived.renewal_url:
        facts = provider.long_lived
        renewed = _get_token(client, provider, provider.long_lived.renewal_url, facts.renewal_params, refresh_token)
        return replace(renewed, refresh_token=renewed.access_token) if isinstance(renewed, TokenResult) else renewed
    outcome = _post_token(
        client, provider, "refresh_token", {"refresh_token": refresh_token, **provider.extra_refresh_params}
    )
    result = read_token(outcome, token_at=provider.token_at, strict=False, codes=provider.error_codes)
    if isinstance(result, TokenResult) and result.refresh_token is None:
        return replace(result, refresh_token=refresh_token)
    return _without_secrets(result, provider, refresh_token)


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
    refused = read_refusal(_post(client, provider, provider.revoke_url, body, headers), provider.error_codes)
    return _without_secrets(refused, provider, token)


def check_issuer(provider: Provider, iss: str | None) -> OAuthFailure | None:
    """Check the `iss` of an authorization response, errors included (RFC 9207, 2.4). None if it is valid."""
    missing = iss is None and provider.iss_required
    wrong = iss is not None and provider.issuer is not None and not _same(iss, provider.issuer)
    if not (missing or wrong):
        return None
    return OAuthFailure("denied", WRONG_ISSUER, "issuer_mismatch")


def _without_secrets(result: R, provider: Provider, *sent: str) -> R | OAuthFailure:
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
    return _send(client, provider, url, headers, data=_with_client_param(body, provider).encode())


def _with_client_param(encoded: str, provider: Provider) -> str:
    """A form-encoded query or body with the provider's own name of the client's id."""
    return re.sub(r"(^|[?&])client_id=", rf"\g<1>{provider.client_id_param}=", encoded, count=1)


def _post_json(
    client: OutboundClient, provider: Provider, url: str, params: dict[str, str | int]
) -> Response | Failure:
    headers: dict[str, str] = {}
    if provider.token_auth_method == "client_secret_basic":  # noqa: S105
        _, headers, _ = _authentication(provider).prepare("POST", url, headers, "")
    else:
        params[provider.client_id_param] = provider.client_id
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


def read_token(
    outcome: Response | Failure,
    *,
    token_at: str = "",
    strict: bool = True,
    codes: Mapping[str, OAuthFailureKind] | None = None,
) -> TokenResult | OAuthFailure:
    """Read a token endpoint's answer (RFC 6749, 5.1 and 5.2).

    `token_at` is the dotted path of the object that holds the token's members, such as Slack's `authed_user`;
    with `strict` false (a refresh) they may stand at the top as well.
    """
    if isinstance(outcome, Failure):
        return transport_failure(outcome)
    answer = _members(outcome)
    if refused := refusal(outcome, answer, codes):
        return refused
    if answer is None:
        return unusable("The provider's token answer is neither JSON nor a form.", outcome.status)
    nested = at_path(answer, token_at)
    held = nested if isinstance(nested, dict) else {}
    return _token(held if strict or "access_token" in held else answer, answer)


def read_refusal(
    outcome: Response | Failure, codes: Mapping[str, OAuthFailureKind] | None = None
) -> OAuthFailure | None:
    """Whether an endpoint that answers with no token (RFC 7009, 2.2) refused; None when it did not."""
    if isinstance(outcome, Failure):
        return transport_failure(outcome)
    return refusal(outcome, _members(outcome), codes)


def _members(response: Response) -> dict[str, Any] | None:
    parsed = response.json()
    if isinstance(parsed, Json):
        return parsed.value if isinstance(parsed.value, dict) else None
    if response.content_type in ("application/x-www-form-urlencoded", "text/plain"):
        try:
            return dict(parse_qsl(response.body.decode("utf-8"), max_num_fields=100)) or None
        except ValueError:
            return None
    return None


def _token(held: dict[str, Any], answer: dict[str, Any]) -> TokenResult | OAuthFailure:
    access, refresh, kind = (held.get(name) for name in ("access_token", "refresh_token", "token_type"))
    if not is_token(access):
        return unusable("The provider's answer contains no usable access token.")
    return TokenResult(
        access,
        refresh if is_token(refresh) else None,
        whole_seconds(held.get("expires_in"))
        or _seconds_until(held.get("expires_at"))
        or _seconds_until(held.get("access_token_expires_at")),
        _scopes(held.get("scope")),
        kind if isinstance(kind, str) else "bearer",
        answer,
    )


def _seconds_until(end: Any) -> int | None:
    """Seconds until ``end``, a time as ISO 8601 (Square) or in epoch seconds (Squarespace); None if there is none."""
    try:
        at = float(end) * SECOND if _EPOCH.fullmatch(str(end)) else parse_iso(end)
        return whole_seconds((at - now()) / SECOND)
    except (TypeError, ValueError):
        return None


def is_token(token: Any) -> TypeGuard[str]:
    """Whether ``token`` is one that a request can carry."""
    return isinstance(token, str) and _TOKEN.fullmatch(token) is not None


def whole_seconds(value: Any) -> int | None:
    """Whole seconds from a number or digits; None if absent, zero, negative or malformed."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,12}(\.[0-9]{1,6})?\s*", value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 1:
        return None
    return int(min(value, MAX_TOKEN_LIFE_S))


def _scopes(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, str):
        value = re.split(r"[\s,]+", value)
    if not isinstance(value, list):
        return None
    return tuple(dict.fromkeys(scope for scope in value if isinstance(scope, str) and _SCOPE.fullmatch(scope)))


def discover(client: OutboundClient, issuer: str) -> dict[str, str] | Failure:
    """The discovered addresses by their names in an app's ``[oauth]``, or the failure."""
    members = metadata(client, issuer)
    return members if isinstance(members, Failure) else _addresses(members, issuer)


def metadata(client: OutboundClient, issuer: str) -> Mapping[str, Any] | Failure:
    """What ``issuer`` says of itself, which names the very issuer and where people sign in; or the failure."""
    answer: Mapping[str, Any] | Failure = _NO_METADATA
    for url in _metadata_urls(issuer):
        outcome = client.request(
            "GET",
            url,
            headers={"Accept": "application/json"},
            deadline_s=DISCOVERY_DEADLINE_S,
            max_bytes=MAX_ANSWER,
            allowed_hosts=HostRules.of(host_rule(issuer)),
        )
        if isinstance(outcome, Failure):
            return outcome
        parsed = outcome.json() if outcome.ok else _NO_METADATA
        answer = _of_issuer(parsed.value, issuer) if isinstance(parsed, Json) else answer
        if not isinstance(answer, Failure):
            return answer
    return answer


def _metadata_urls(issuer: str) -> tuple[str, str]:
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    return (
        f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{path}",
        f"{issuer.rstrip('/')}/.well-known/openid-configuration",
    )


def _of_issuer(members: Any, issuer: str) -> Mapping[str, Any] | Failure:
    """``members``, if they are those of ``issuer``."""
    if not isinstance(members, Mapping) or str(members.get("issuer")).rstrip("/") != issuer.rstrip("/"):
        return _NO_METADATA
    addresses = _addresses(members, issuer)
    return addresses if isinstance(addresses, Failure) else members


def _addresses(members: Mapping[str, Any], issuer: str) -> dict[str, str] | Failure:
    urls = {name: members.get(member) for name, member in ENDPOINTS.items() if members.get(member)}
    if any(name not in urls for name in _REQUIRED_ENDPOINTS) or not all(
        _is_acceptable(url, issuer) for url in urls.values()
    ):
        return _NO_METADATA
    return {name: str(url) for name, url in urls.items()}


def _is_acceptable(text: Any, issuer: str) -> bool:
    url = parse_url(text) if isinstance(text, str) else None
    return isinstance(url, Url) and (url.scheme == "https" or issuer.startswith("http://"))
