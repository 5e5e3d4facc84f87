"""Reading what a token endpoint answered: a TokenResult, or an OAuthFailure that says what to do about it.

Providers bend RFC 6749, section 5: errors with status 200 (GitHub, Slack), form-encoded answers, `expires_in` as
text or absent, or a time in its place (Square), scopes with commas, tokens inside another member. All of that is read
here, without knowing providers by name. Sentences never repeat text of the provider but its error code, and never a
token.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeGuard
from urllib.parse import parse_qsl

from webapp.kit.clock import SECOND, now, parse_iso
from webapp.service.outbound.outcomes import Failure, Json, Response, at_path

OAuthFailureKind = Literal[
    "grant_dead",  # the code or refresh token will never work again: the person must connect anew
    "denied",  # the person or the provider said no
    "misconfigured",  # the OAuth client or the app's facts are wrong: the operator must act
    "temporary",  # worth another try later
]
MAX_TOKEN_LIFE_S = 10 * 365 * 86_400
_KINDS: Mapping[str, OAuthFailureKind] = {
    "invalid_grant": "grant_dead",  # RFC 6749, 5.2
    "bad_verification_code": "grant_dead",  # GitHub
    "bad_refresh_token": "grant_dead",  # GitHub
    "invalid_code": "grant_dead",  # Slack
    "access_denied": "denied",  # RFC 6749, 4.1.2.1
    "server_error": "temporary",
    "temporarily_unavailable": "temporary",
}
_SENTENCES: Mapping[OAuthFailureKind, str] = {
    "grant_dead": "The provider no longer accepts this authorization. Connect the account again.",
    "denied": "Access was denied at the provider. Connect again and allow access.",
    "misconfigured": "The provider refuses this installation's OAuth client. Ask the operator to check it.",
    "temporary": "The provider cannot answer right now. Try again in a few minutes.",
}
_CODE = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_TOKEN = re.compile(r"[\x21-\x7e]{1,16384}")
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,500}")  # RFC 6749, 3.3


@dataclass(frozen=True, slots=True)
class OAuthFailure:
    """An OAuth step that failed. `error_code` is the provider's own, or None; `sentence` may be shown.

    `status` is that of the answer; None where none came.
    """

    kind: OAuthFailureKind
    sentence: str
    error_code: str | None = None
    retry_after_s: int | None = None
    status: int | None = None


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


def failure_for(
    code: str | None, retry_after_s: int | None = None, codes: Mapping[str, OAuthFailureKind] | None = None
) -> OAuthFailure:
    """The failure for an `error` code of a provider, as in a callback or a token answer; unknown: misconfigured.

    `codes` are what an app declares of its provider's own codes; they come before the general ones.
    """
    known = code if code is not None and _CODE.fullmatch(code) else None
    kind = {**_KINDS, **(codes or {})}.get(known or "", "misconfigured")
    sentence = _SENTENCES[kind]
    if known and kind == "misconfigured":
        sentence = f"The provider answered “{known}”. Ask the operator to check the app's OAuth client."
    return OAuthFailure(kind, sentence, known, retry_after_s)


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
    if refusal := _refusal(outcome, answer, codes):
        return refusal
    if answer is None:
        return _unusable("The provider's token answer is neither JSON nor a form.", outcome.status)
    nested = at_path(answer, token_at)
    held = nested if isinstance(nested, dict) else {}
    return _token(held if strict or "access_token" in held else answer, answer)


def read_refusal(
    outcome: Response | Failure, codes: Mapping[str, OAuthFailureKind] | None = None
) -> OAuthFailure | None:
    """Whether an endpoint that answers with no token (RFC 7009, 2.2) refused; None when it did not."""
    if isinstance(outcome, Failure):
        return transport_failure(outcome)
    return _refusal(outcome, _members(outcome), codes)


def transport_failure(failure: Failure) -> OAuthFailure:
    """A failure of the network seen from OAuth: an address that may not be reached is a matter for the operator."""
    fixed = failure.kind in ("refused_by_guard", "redirect_refused", "tls")
    return OAuthFailure("misconfigured" if fixed else "temporary", failure.sentence)


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


def _refusal(
    response: Response, answer: dict[str, Any] | None, codes: Mapping[str, OAuthFailureKind] | None
) -> OAuthFailure | None:
    code, status = _code(answer), response.status
    if status >= 500 or status in (408, 429):
        return OAuthFailure("temporary", _SENTENCES["temporary"], code, response.retry_after_s, status)
    if code is not None or (answer is not None and answer.get("ok") is False):
        return replace(failure_for(code, response.retry_after_s, codes), status=status)
    if response.ok:
        return None
    sentence = f"The provider answered with status {status}. Ask the operator to check the app's OAuth client."
    return OAuthFailure("misconfigured", sentence, status=status)


def _code(answer: dict[str, Any] | None) -> str | None:
    """RFC 6749 has a string; some providers nest an object with a `code` or `type`."""
    error = answer.get("error") if answer else None
    if isinstance(error, dict):
        error = error.get("code") or error.get("type") or "error"
    return str(error) if error else None


def _token(held: dict[str, Any], answer: dict[str, Any]) -> TokenResult | OAuthFailure:
    access, refresh, kind = (held.get(name) for name in ("access_token", "refresh_token", "token_type"))
    if not usable(access):
        return _unusable("The provider's answer holds no usable access token.")
    return TokenResult(
        access,
        refresh if usable(refresh) else None,
        seconds(held.get("expires_in")) or _until(held.get("expires_at")),
        _scopes(held.get("scope")),
        kind if isinstance(kind, str) else "bearer",
        answer,
    )


def _until(end: Any) -> int | None:
    """Seconds until ``end``, a time that some providers tell (Square); None for none."""
    try:
        return seconds((parse_iso(end) - now()) / SECOND)
    except (TypeError, ValueError):
        return None


def usable(token: Any) -> TypeGuard[str]:
    """Whether ``token`` is one that a request can carry."""
    return isinstance(token, str) and _TOKEN.fullmatch(token) is not None


def seconds(value: Any) -> int | None:
    """Whole seconds from a number or digits; nothing sensible (absent, zero, negative, text) is None."""
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


def _unusable(sentence: str, status: int = 200) -> OAuthFailure:
    kind: OAuthFailureKind = "temporary" if status < 300 else "misconfigured"
    return OAuthFailure(kind, f"{sentence} Try again later; if it stays so, ask the operator to check the app.")
