"""Exchanging the fields of an account for a credential that lives for a while, by one request.

Client credentials (RFC 6749, 4.4), a signed statement for a token (RFC 7523) and a log-in that gives a session are one
thing here: a request with the account's fields, and where its answer holds the credential. Where there is no request,
the signed statement is the credential itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from webapp.service.outbound import assertions
from webapp.service.outbound.assertions import Algorithm
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.outcomes import Failure, Json, Response, at_path
from webapp.service.outbound.templates import Fields, Placement, TemplateError, apply, fill, fill_url, host_rule
from webapp.service.outbound.tokens import OAuthFailure, TokenResult, seconds, transport_failure, usable
from webapp.service.outbound.urls import HostRules

MAX_ANSWER = 256 * 1024
DEADLINE_S = 20.0
ASSERTION = "assertion"
_PASSING = frozenset({408, 425, 429})
_REFUSING = frozenset({400, 401, 403, 422})  # RFC 6749, 5.2, and how log-ins refuse
_NOT_ACCEPTED = "The provider does not accept these credentials. Check them, then connect again."
_TEMPORARY = "The provider cannot answer right now. Try again in a few minutes."
_UNUSABLE = (
    "The provider's answer holds no credential. Try again later; if it stays so, ask the operator to check the app."
)


@dataclass(frozen=True, slots=True)
class AssertionSpec:
    """A JSON Web Token signed with the field ``key``; ``headers`` and ``claims`` are templates."""

    algorithm: Algorithm
    key: str
    headers: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[str, str] = field(default_factory=dict)
    life_s: int = assertions.LIFE_S
    hex_key: bool = False


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """How a session begins. ``url``, ``params``, ``headers``, ``form`` and ``json`` are templates, which may hold
    ``{assertion}``. ``token`` and ``expires_in`` are dotted paths in the answer; ``life_s`` is how long the credential
    lives where the answer does not say."""

    url: str
    method: str = "POST"
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] | None = None
    json: Mapping[str, str] | None = None
    placements: tuple[Placement, ...] = ()
    assertion: AssertionSpec | None = None
    token: str = "access_token"  # noqa: S105 - a path
    expires_in: str = "expires_in"
    life_s: int = 3600


def begin(client: OutboundClient, spec: SessionSpec, fields: Fields) -> TokenResult | OAuthFailure:
    """Begin a session with the account's ``fields``. What the provider refuses is dead: the person must mend it."""
    try:
        values = dict(fields)
        if spec.assertion is not None:
            values[ASSERTION] = _assertion(spec.assertion, fields)
        if not spec.url:
            return TokenResult(values[ASSERTION], None, spec.life_s, None, "bearer", {})
        outcome = _ask(client, spec, values)
    except TemplateError as error:
        return OAuthFailure("grant_dead", str(error))
    return transport_failure(outcome) if isinstance(outcome, Failure) else _read(spec, outcome)


def _assertion(spec: AssertionSpec, fields: Fields) -> str:
    return assertions.sign(
        spec.algorithm, spec.key, spec.headers, spec.claims, fields, life_s=spec.life_s, hex_key=spec.hex_key
    )


def _ask(client: OutboundClient, spec: SessionSpec, values: Fields) -> Response | Failure:
    credential, url = apply(spec.placements, values), fill_url(spec.url, values)
    headers = {"Accept": "application/json", **_filled(spec.headers, values), **credential.headers}
    body: dict[str, Any] = {}
    if spec.json is not None:
        body = {"json": {**_filled(spec.json, values), **credential.body}}
    elif spec.form is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        body = {"data": urlencode({**_filled(spec.form, values), **credential.body}).encode()}
    return client.request(
        spec.method,
        url,
        headers=headers,
        params={**_filled(spec.params, values), **credential.params},
        deadline_s=DEADLINE_S,
        max_bytes=MAX_ANSWER,
        allowed_hosts=HostRules.of(host_rule(url)),
        **body,
    )


def _read(spec: SessionSpec, response: Response) -> TokenResult | OAuthFailure:
    status = response.status
    if status >= 500 or status in _PASSING:
        return OAuthFailure("temporary", _TEMPORARY, retry_after_s=response.retry_after_s, status=status)
    if status in _REFUSING:
        return OAuthFailure("grant_dead", _NOT_ACCEPTED, status=status)
    if not response.ok:
        sentence = (
            f"The provider answered with status {status}. Check the address, or ask the operator to check the app."
        )
        return OAuthFailure("misconfigured", sentence, status=status)
    parsed = response.json()
    answer = parsed.value if isinstance(parsed, Json) else None
    token = at_path(answer, spec.token)
    if not usable(token):
        refused = isinstance(answer, dict) and (answer.get("error") or answer.get("ok") is False)
        return OAuthFailure(
            "grant_dead" if refused else "temporary", _NOT_ACCEPTED if refused else _UNUSABLE, status=status
        )
    life = seconds(at_path(answer, spec.expires_in)) if spec.expires_in else None
    raw = answer if isinstance(answer, dict) else {}
    return TokenResult(token, None, life or spec.life_s, None, "bearer", raw)


def _filled(templates: Mapping[str, str], values: Fields) -> dict[str, str]:
    return {name: fill(template, values) for name, template in templates.items()}
