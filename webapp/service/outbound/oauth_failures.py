"""What a failed step of OAuth means: whether the grant is dead, the provider said no, or another try may help.

Decided by the code and status of the provider's answer (RFC 6749, 4.1.2.1 and 5.2), or by how the network failed. To
read a token out of any other answer is left to :mod:`oauth`. Sentences never repeat a provider's text except its error
code.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from webapp.service.outbound.failures import Failure
from webapp.service.outbound.responses import Response

OAuthFailureKind = Literal[
    "grant_dead",  # the code or refresh token will never work again: the person must connect anew
    "denied",  # the person or the provider said no
    "misconfigured",  # the OAuth client or the app's facts are wrong: the operator must act
    "temporary",  # worth another try later
]
_KIND_OF_CODE: Mapping[str, OAuthFailureKind] = {
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
UNKNOWN_CLIENT = frozenset({"invalid_client", "invalid_client_id", "unauthorized_client"})
"""Codes with which providers refuse a client that they do not know (RFC 6749, 5.2)."""
_ERROR_CODE = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


@dataclass(frozen=True, slots=True)
class OAuthFailure:
    """An OAuth step that failed. `error_code` is the provider's own, or None; `sentence` may be shown.

    `status` is that of the response; None without one.
    """

    kind: OAuthFailureKind
    sentence: str
    error_code: str | None = None
    retry_after_s: int | None = None
    status: int | None = None


def failure_for(
    code: str | None, retry_after_s: int | None = None, codes: Mapping[str, OAuthFailureKind] | None = None
) -> OAuthFailure:
    """The failure for an `error` code of a provider, as in a callback or a token answer; unknown: misconfigured.

    `codes` are what an app declares of its provider's own codes; they come before the general ones.
    """
    known = code if code is not None and _ERROR_CODE.fullmatch(code) else None
    kind = {**_KIND_OF_CODE, **(codes or {})}.get(known or "", "misconfigured")
    sentence = _SENTENCES[kind]
    if known and kind == "misconfigured":
        sentence = f"The provider answered “{known}”. Ask the operator to check the app's OAuth client."
    return OAuthFailure(kind, sentence, known, retry_after_s)


def transport_failure(failure: Failure) -> OAuthFailure:
    """A failure of the network seen from OAuth: an address that may not be reached is a matter for the operator."""
    fixed = failure.kind in ("refused_by_guard", "redirect_refused", "tls")
    return OAuthFailure("misconfigured" if fixed else "temporary", failure.sentence)


def refusal(
    response: Response, answer: dict[str, Any] | None, codes: Mapping[str, OAuthFailureKind] | None
) -> OAuthFailure | None:
    """The failure that ``response`` is, whose members are ``answer``; None if it is none, though perhaps no token."""
    code, status = _code(answer), response.status
    if status >= 500 or status in (408, 429):
        return OAuthFailure("temporary", _SENTENCES["temporary"], code, response.retry_after_s, status)
    if code is not None or (answer is not None and answer.get("ok") is False):
        return replace(failure_for(code, response.retry_after_s, codes), status=status)
    if response.ok:
        return None
    sentence = f"The provider answered with status {status}. Ask the operator to check the app's OAuth client."
    return OAuthFailure("misconfigured", sentence, status=status)


def unusable(sentence: str, status: int = 200) -> OAuthFailure:
    """The failure of an answer with ``status`` that says no code, but holds nothing to use either."""
    kind: OAuthFailureKind = "temporary" if status < 300 else "misconfigured"
    return OAuthFailure(kind, f"{sentence} Try again later; if it keeps happening, ask the operator to check the app.")


def _code(answer: dict[str, Any] | None) -> str | None:
    """RFC 6749 has a string; some providers nest an object with a `code` or `type`."""
    error = answer.get("error") if answer else None
    if isinstance(error, dict):
        error = error.get("code") or error.get("type") or "error"
    return str(error) if error else None
