"""Exchanges the fields of an account for a short-lived credential, by one request.

Client credentials (RFC 6749, 4.4), a signed statement for a token (RFC 7523) and a log-in that gives a session are
one thing here: a request with the account's fields, and where its answer holds the credential. Where there is no
request, the signed statement is the credential itself.

Statements are JSON Web Tokens (RFC 7519; RFC 7523, section 2.1). A private key comes as people have it: a PEM file,
whose line breaks a form may have lost or a JSON file written as ``\\n``. What is no key is refused with a sentence
that says what to paste.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlencode

from webapp.service.outbound.bodies import Json, at_path
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.oauth import TokenResult, is_token, whole_seconds
from webapp.service.outbound.oauth_failures import OAuthFailure, transport_failure
from webapp.service.outbound.placements import Placement, apply
from webapp.service.outbound.responses import Response
from webapp.service.outbound.templates import Fields, TemplateError, fields_in, fill, fill_url, host_rule
from webapp.service.outbound.urls import HostRules

Algorithm = Literal["RS256", "ES256", "HS256"]
LIFE_S, SKEW_S = 3600, 10
_MAX_KEY = 8000  # characters of a key, which is one of RSA with 8,192 bits and more; longer ones take seconds to use
_PEM = re.compile(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----(.*?)-----END \1-----", re.DOTALL)
MAX_ANSWER = 256 * 1024
DEADLINE_S = 20.0
ASSERTION = "assertion"
_PASSING = frozenset({408, 425, 429})
_REFUSING = frozenset({400, 401, 403, 422})  # RFC 6749, 5.2, and how log-ins refuse
_NOT_ACCEPTED = "The provider does not accept these credentials. Check them, then connect again."
_TEMPORARY = "The provider cannot answer right now. Try again in a few minutes."
_UNUSABLE = (
    "The provider's answer contains no credential. "
    "Try again later; if it keeps happening, ask the operator to check the app."
)


@dataclass(frozen=True, slots=True)
class AssertionSpec:
    """A JSON Web Token signed with the field ``key``; ``headers`` and ``claims`` are templates."""

    algorithm: Algorithm
    key: str
    headers: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[str, str] = field(default_factory=dict)
    life_s: int = LIFE_S
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
    return sign(spec.algorithm, spec.key, spec.headers, spec.claims, fields, life_s=spec.life_s, hex_key=spec.hex_key)


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
    if not is_token(token):
        refused = isinstance(answer, dict) and (answer.get("error") or answer.get("ok") is False)
        return OAuthFailure(
            "grant_dead" if refused else "temporary", _NOT_ACCEPTED if refused else _UNUSABLE, status=status
        )
    life = whole_seconds(at_path(answer, spec.expires_in)) if spec.expires_in else None
    raw = answer if isinstance(answer, dict) else {}
    return TokenResult(token, None, life or spec.life_s, None, "bearer", raw)


def _filled(templates: Mapping[str, str], values: Fields) -> dict[str, str]:
    return {name: fill(template, values) for name, template in templates.items()}


def sign(
    algorithm: Algorithm,
    key: str,
    headers: Mapping[str, str],
    claims: Mapping[str, str],
    fields: Fields,
    *,
    life_s: int = LIFE_S,
    hex_key: bool = False,
) -> str:
    """A token of ``claims`` with ``iat`` and ``exp``, signed with what stands in the field ``key``.

    ``headers`` and ``claims`` are templates; one whose fields are empty is left out. Raises TemplateError for a key
    that is none, or does not fit the algorithm.
    """
    from joserfc import jwt  # what few apps need is loaded when one does
    from joserfc.errors import JoseError

    now = int(time.time()) - SKEW_S
    header = {"alg": algorithm, "typ": "JWT", **_claims(headers, fields)}
    payload: dict[str, Any] = {**_claims(claims, fields), "iat": now, "exp": now + life_s}
    signing_key = _key(algorithm, key, fields.get(key, ""), hex_key=hex_key)
    try:
        return jwt.encode(header, payload, signing_key, algorithms=[algorithm])
    except (JoseError, ValueError, TypeError, AttributeError):
        raise _wrong_kind(key, algorithm) from None


def pem(text: str) -> str | None:
    """The private key in ``text`` in PEM (RFC 7468) with its line breaks restored; None where there is none."""
    match = _PEM.search(text.replace("\\n", "\n"))
    if match is None or len(match[2]) > _MAX_KEY:
        return None
    body = "".join(match[2].split())
    lines = "\n".join(body[start : start + 64] for start in range(0, len(body), 64))
    return f"-----BEGIN {match[1]}-----\n{lines}\n-----END {match[1]}-----\n"


def _key(algorithm: Algorithm, name: str, text: str, *, hex_key: bool) -> Any:
    from joserfc.jwk import ECKey, OctKey, RSAKey

    if algorithm == "HS256":
        return OctKey.import_key(_secret(name, text, hex_key=hex_key))
    file = pem(text)
    if file is None:
        title = name.replace("_", " ").capitalize()
        raise TemplateError(
            f"{title} is not a private key. Paste the whole text from -----BEGIN PRIVATE KEY----- to "
            "-----END PRIVATE KEY-----."
        )
    kind: Any = {"RS256": RSAKey, "ES256": ECKey}[algorithm]
    try:
        return kind.import_key(file)
    except Exception:
        raise _wrong_kind(name, algorithm) from None


def _secret(name: str, text: str, *, hex_key: bool) -> bytes:
    try:
        secret = bytes.fromhex(text.strip()) if hex_key else text.strip().encode()
    except ValueError:
        secret = b""
    if not secret:
        raise TemplateError(f"{name.replace('_', ' ').capitalize()} is not a key. Copy it again as a whole.")
    return secret


def _wrong_kind(name: str, algorithm: Algorithm) -> TemplateError:
    kinds = {"RS256": "an RSA key", "ES256": "a P-256 key", "HS256": "a secret"}
    title = name.replace("_", " ").capitalize()
    return TemplateError(
        f"{title} cannot be used. It must be {kinds[algorithm]} without a passphrase. Paste all of it, or make another."
    )


def _claims(templates: Mapping[str, str], fields: Fields) -> dict[str, str]:
    named = {name: template for name, template in templates.items() if all(map(fields.get, fields_in(template)))}
    return {name: fill(template, fields) for name, template in named.items()}
