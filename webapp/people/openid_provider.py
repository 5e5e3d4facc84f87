"""Sign-in with an OpenID provider: authorization code with PKCE, state and nonce (OpenID Connect Core section 3.1).

The caller of :meth:`OpenIdProvider.begin` stores the :class:`Attempt` and passes it to :meth:`OpenIdProvider.finish`
with the provider's answer, which gives verified :class:`Claims`. Every request goes through the outbound guard. The
provider's metadata (OpenID Connect Discovery 1.0 section 4) and keys are cached, and signatures verified, by
:mod:`webapp.service.outbound.id_tokens`. Authlib, which validates the claims of ID tokens, is imported on first use.
Which user the claims belong to is left to :mod:`webapp.people.single_sign_on`.
"""

import logging
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from webapp.errors import Forbidden
from webapp.kit.clock import SECOND, Clock
from webapp.kit.crypto import same
from webapp.kit.translation import gettext
from webapp.kit.translation import lazy as _
from webapp.service.outbound import id_tokens, oauth
from webapp.service.outbound.bodies import at_path
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.id_tokens import LEEWAY_S, BadIdToken, PublishedObject, Unreachable, fetched_json
from webapp.service.outbound.oauth import TokenResult
from webapp.service.outbound.oauth_failures import OAuthFailure
from webapp.settings import Settings

log = logging.getLogger(__name__)
_UNREACHABLE = _("{name} cannot be reached right now. Try again in a few minutes.")
_OTHER_SIGN_IN = _("That answer belongs to another sign-in, or came too late. Sign in again.")
_BAD_ANSWER = _("{name} gave an answer that cannot be used. Try again; if it keeps happening, tell an owner.")
MAX_GROUPS = 2_000
KEYS_APART = 10 * SECOND
_REQUIRED = ("authorization_endpoint", "token_endpoint", "jwks_uri")
# Asymmetric signatures only: never "none", and never a secret that both sides know.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
MAX_SUBJECT = 255  # section 2


class NotSignedIn(Forbidden):
    """The sign-in did not succeed."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The secrets of one sign-in that was begun; the browser's session stores them."""

    state: str
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Claims:
    """The verified claims about a person: the provider's subject, the e-mail address and the groups."""

    issuer: str
    subject: str
    email: str
    email_verified: bool
    groups: frozenset[str]


@dataclass(frozen=True, slots=True)
class Metadata:
    """The provider's metadata."""

    facts: Mapping[str, Any]

    def url(self, name: str) -> str | None:
        """The URL of the endpoint ``name``, or None."""
        value = self.facts.get(name)
        return value if isinstance(value, str) else None

    def names(self, name: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """The list ``name``, or ``default`` where it is missing."""
        value = self.facts.get(name, default)
        return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else default


class OpenIdProvider:
    """The provider that the settings configure. Safe to share between threads."""

    def __init__(self, outbound: OutboundClient, settings: Settings, clock: Clock) -> None:
        self.issuer, self.name = settings.oidc_issuer or "", settings.oidc_name
        self.redirect_uri = f"{settings.public_url}/sign-in/oidc/callback"
        self._outbound, self._settings, self._clock = outbound, settings, clock
        self._discovery = Discovery(outbound, clock, self.issuer)

    def begin(self) -> tuple[Attempt, str]:
        """A new attempt, and the URL to redirect the browser to. Raises :class:`NotSignedIn`."""
        attempt = Attempt(*(secrets.token_urlsafe(32) for _ in range(3)))
        url = oauth.authorization_url(
            self._client(self._metadata()),
            redirect_uri=self.redirect_uri,
            state=attempt.state,
            verifier=attempt.verifier,
            scopes=self._settings.oidc_scopes,
            extra={"nonce": attempt.nonce},
        )
        return attempt, url

    def finish(self, attempt: Attempt, answer: Mapping[str, str]) -> Claims:
        """The claims of the person who signed in; ``answer`` is the callback's query. Raises :class:`NotSignedIn`."""
        metadata = self._metadata()
        client = self._client(metadata)
        if not same(answer.get("state", ""), attempt.state) or oauth.check_issuer(client, answer.get("iss")):
            raise self._refusal("the answer is of another sign-in", _OTHER_SIGN_IN)
        if "code" not in answer:
            raise self._no_code(answer.get("error"))
        token = oauth.exchange_code(
            self._outbound,
            client,
            code=answer["code"],
            redirect_uri=self.redirect_uri,
            verifier=attempt.verifier,
        )
        if isinstance(token, OAuthFailure):
            raise self._refusal(f"the code was refused: {token.error_code or token.sentence}", _BAD_ANSWER)
        return self._claims(metadata, token, attempt)

    def sign_out_url(self) -> str | None:
        """The URL that ends the provider's session (OpenID Connect RP-Initiated Logout 1.0), or None."""
        try:
            url = self._discovery.metadata().url("end_session_endpoint")
        except Unreachable:
            return None
        query = {
            "client_id": self._settings.oidc_client_id,
            "post_logout_redirect_uri": f"{self._settings.public_url}/sign-in",
        }
        return f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(query)}" if url else None

    def _claims(self, metadata: Metadata, token: TokenResult, attempt: Attempt) -> Claims:
        try:
            signed = self._verified(metadata, token, attempt.nonce)
            return read_claims(self.issuer, {**self._userinfo(metadata, token, signed), **signed}, self._groups)
        except BadIdToken as error:
            raise self._refusal(f"its ID token is not valid: {error}", _BAD_ANSWER) from error
        except Unreachable as error:
            raise self._refusal(str(error), _UNREACHABLE) from error

    def _verified(self, metadata: Metadata, token: TokenResult, nonce: str) -> dict[str, Any]:
        id_token = str(token.raw.get("id_token") or "")
        return verify_id_token(
            id_token,
            self._discovery.keys,
            issuer=self.issuer,
            client_id=self._settings.oidc_client_id or "",
            nonce=nonce,
            access_token=token.access_token,
            supported=metadata.names("id_token_signing_alg_values_supported", ("RS256",)),
            now=self._clock(),
        )

    def _userinfo(self, metadata: Metadata, token: TokenResult, signed: Mapping[str, Any]) -> Mapping[str, Any]:
        """The userinfo claims (section 5.3); empty where the ID token lacks none of the claims that are needed."""
        url, wanted = metadata.url("userinfo_endpoint"), {"email", "email_verified"}
        if self._settings.oidc_roles:
            wanted.add(self._groups)
        if url is None or wanted <= set(signed):
            return {}
        facts = fetched_json(self._outbound, url, Authorization=f"Bearer {token.access_token}")
        if facts.get("sub") != signed["sub"]:
            raise BadIdToken("the userinfo answer is about somebody else")
        return facts

    @property
    def _groups(self) -> str:
        return self._settings.oidc_groups_claim

    def _metadata(self) -> Metadata:
        try:
            return self._discovery.metadata()
        except Unreachable as error:
            raise self._refusal(str(error), _UNREACHABLE) from error

    def _client(self, metadata: Metadata) -> oauth.Provider:
        methods = metadata.names("token_endpoint_auth_methods_supported", ("client_secret_basic",))
        return oauth.Provider(
            authorize_url=metadata.url("authorization_endpoint") or "",
            token_url=metadata.url("token_endpoint") or "",
            client_id=self._settings.oidc_client_id or "",
            client_secret=self._settings.oidc_client_secret,
            issuer=self.issuer,
            iss_required=metadata.facts.get("authorization_response_iss_parameter_supported") is True,
            token_auth_method="client_secret_basic" if "client_secret_basic" in methods else "client_secret_post",
        )

    def _no_code(self, error: str | None) -> NotSignedIn:
        if error in ("access_denied", "login_required", "interaction_required", "consent_required"):
            return NotSignedIn(gettext("You did not sign in at {name}. Try again.").format(name=self.name))
        return self._refusal(f"it answered {error!r:.80}", _BAD_ANSWER)

    def _refusal(self, why: str, sentence: str) -> NotSignedIn:
        log.warning("The sign-in with %s failed: %s", self.issuer, why)
        return NotSignedIn(sentence.format(name=self.name))


@dataclass
class Discovery:
    """Fetches and caches a provider's metadata and keys. Safe to share between threads.

    Metadata is accepted only if its issuer is the configured one, and its URLs use https wherever the issuer's does.
    """

    outbound: OutboundClient
    clock: Clock
    issuer: str
    _metadata: PublishedObject = field(default_factory=PublishedObject)
    _keys: PublishedObject = field(default_factory=lambda: PublishedObject(KEYS_APART))

    def metadata(self) -> Metadata:
        """The provider's metadata. Raises :class:`Unreachable`."""
        return Metadata(self._metadata.current(self._read, self.clock))

    def keys(self, *, newer: bool = False) -> Mapping[str, Any]:
        """The key set; ``newer`` fetches it again unless that was just done. Raises :class:`Unreachable`."""
        url = self.metadata().url("jwks_uri") or ""
        return self._keys.current(lambda: fetched_json(self.outbound, url), self.clock, newer=newer)

    def _read(self) -> Mapping[str, Any]:
        facts = fetched_json(self.outbound, self.issuer.rstrip("/") + "/.well-known/openid-configuration")
        self._check(facts)
        return facts

    def _check(self, facts: Mapping[str, Any]) -> None:
        if facts.get("issuer") != self.issuer:
            raise Unreachable(f"it calls itself {facts.get('issuer')!r}")
        for name in (*_REQUIRED, "userinfo_endpoint", "end_session_endpoint"):
            url = facts.get(name)
            if url is None and name not in _REQUIRED:
                continue
            safe = ("https",) if self.issuer.startswith("https:") else ("https", "http")
            if not isinstance(url, str) or urlsplit(url).scheme not in safe:
                raise Unreachable(f"its {name} is no safe address")


def verify_id_token(
    token: str,
    keys: id_tokens.Keys,
    *,
    issuer: str,
    client_id: str,
    nonce: str,
    access_token: str,
    supported: Collection[str],
    now: int,
) -> dict[str, Any]:
    """The claims of the ID token, validated by Authlib (section 3.1.3.7). Raises :class:`BadIdToken`.

    ``keys`` gives the provider's key set (RFC 7517), ``access_token`` came with the ID token, and ``now`` is in epoch
    milliseconds. Authlib would also accept any algorithm that the provider supports, even none, any subject, and
    a token for another audience that names this client as its party; these are refused here.
    """
    from authlib.oidc.core import CodeIDToken

    def validated(claims: dict[str, Any], header: dict[str, Any]) -> dict[str, Any]:
        options = {"iss": {"essential": True, "value": issuer}, "aud": {"essential": True, "value": client_id}}
        params = {"nonce": nonce, "client_id": client_id, "access_token": access_token}
        id_token = CodeIDToken(claims, header, options, params)
        id_token.validate(now=now // SECOND, leeway=LEEWAY_S)
        return dict(id_token)

    claims = id_tokens.verified(token, keys, [name for name in ALGORITHMS if name in supported], validated)
    if not 0 < len(claims["sub"]) <= MAX_SUBJECT:
        raise BadIdToken("its subject is empty or too long")
    return claims


def read_claims(issuer: str, claims: Mapping[str, Any], groups_claim: str) -> Claims:
    """The :class:`Claims` in the merged claims of the ID token and the userinfo answer."""
    return Claims(
        issuer=issuer,
        subject=str(claims["sub"]),
        email=email if isinstance(email := claims.get("email"), str) else "",
        email_verified=claims.get("email_verified") in (True, "true"),
        groups=_groups(claims, groups_claim),
    )


def _groups(claims: Mapping[str, Any], name: str) -> frozenset[str]:
    """The groups in the claim ``name``, or else at the dotted path ``name``, such as ``realm_access.roles``."""
    value = claims.get(name) if name in claims else at_path(dict(claims), name)
    values = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return frozenset(group for group in values[:MAX_GROUPS] if isinstance(group, str))
