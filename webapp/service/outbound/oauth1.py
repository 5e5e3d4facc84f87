"""Sign-in by OAuth 1.0a (RFC 5849 section 2): temporary credentials, the provider's page, and the token.

Each request is signed by the client's secret, the last one also by that of the temporary credentials. No state is kept:
those credentials, and their binding to a browser, belong to the caller.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.oauth import MAX_ANSWER, Provider, TokenResult, is_token
from webapp.service.outbound.oauth_failures import OAuthFailure, failure_for, transport_failure
from webapp.service.outbound.request_signing import OAuth1

_SECRET = "oauth_token_secret"  # noqa: S105 - the name of a member
_INCOMPLETE = (
    "The provider's answer contains no usable token. Try again later; if it keeps happening, ask the operator."
)


@dataclass(frozen=True, slots=True)
class Temporary:
    """Temporary credentials: what a sign-in is called until the person has allowed it."""

    token: str
    secret: str = field(repr=False)


def begin(client: OutboundClient, provider: Provider, callback: str) -> Temporary | OAuthFailure:
    """Temporary credentials for a person who will return to ``callback`` (2.1)."""
    sign = OAuth1(provider.client_id, provider.client_secret or "", callback=callback)
    answer = _post(client, provider, provider.request_token_url or "", sign, refused=None)
    if isinstance(answer, OAuthFailure):
        return answer
    if answer.get("oauth_callback_confirmed") != "true":
        return failure_for(None)  # 1.0 without the revision, whose sign-ins anybody could finish
    return Temporary(answer["oauth_token"], answer[_SECRET])


def authorization_url(provider: Provider, temporary: Temporary, scopes: Sequence[str]) -> str:
    """The address to send the person to (2.2)."""
    params = {"oauth_token": temporary.token, **provider.extra_authorize_params}
    if scopes:
        params[provider.scope_param] = provider.scope_separator.join(scopes)
    return f"{provider.authorize_url}{'&' if '?' in provider.authorize_url else '?'}{urlencode(params)}"


def exchange(
    client: OutboundClient, provider: Provider, temporary: Temporary, verifier: str
) -> TokenResult | OAuthFailure:
    """The token for ``temporary``, which the person has authorized (2.3). It has no expiry."""
    secret = provider.client_secret or ""
    sign = OAuth1(provider.client_id, secret, temporary.token, temporary.secret, verifier=verifier)
    answer = _post(client, provider, provider.token_url, sign, refused="invalid_grant")
    if isinstance(answer, OAuthFailure):
        return answer
    return TokenResult(answer["oauth_token"], None, None, None, "oauth1", answer)


def _post(
    client: OutboundClient, provider: Provider, url: str, sign: OAuth1, *, refused: str | None
) -> Mapping[str, str] | OAuthFailure:
    """The members of an answer with a token in it; ``refused`` is what a status of 400 to 499 means, in the words of
    OAuth 2.0."""
    outcome = client.request(
        "POST",
        url,
        headers=provider.token_headers,
        deadline_s=provider.deadline_s,
        max_bytes=MAX_ANSWER,
        allowed_hosts=provider.allowed_hosts,
        sign=sign,
    )
    if isinstance(outcome, Failure):
        return transport_failure(outcome)
    if outcome.status == 429 or outcome.status >= 500:
        return failure_for("temporarily_unavailable")
    if outcome.status >= 400:
        return failure_for(refused)
    answer = dict(parse_qsl(outcome.body.decode(errors="replace")))
    if not (is_token(answer.get("oauth_token")) and is_token(answer.get(_SECRET))):
        return OAuthFailure("temporary", _INCOMPLETE)
    return answer
