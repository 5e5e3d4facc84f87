"""Signing in at an OpenID provider: authorization code with PKCE, state and nonce (OpenID Connect Core section 3.1).

Who begins a sign-in keeps its :class:`Attempt` and gives it back with the provider's answer. Everything goes through
the outbound guard.
"""

import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from webapp.kit.clock import Clock
from webapp.kit.crypto import same
from webapp.kit.translation import gettext
from webapp.kit.translation import lazy as _
from webapp.people.oidc import claims, id_tokens
from webapp.people.oidc.claims import Claims, NotSignedIn
from webapp.people.oidc.metadata import Metadata, Source, Unreachable, get_json
from webapp.service.outbound import oauth
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.oauth import OAuthFailure, TokenResult
from webapp.settings import Settings

log = logging.getLogger(__name__)
_AWAY = _("{name} cannot be reached right now. Try again in a few minutes.")
_DIFFERENT = _("That answer belongs to another sign-in, or came too late. Sign in again.")
_UNUSABLE = _("{name} answered with something that cannot be used. Try again; if it stays so, tell an owner.")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A sign-in that was begun, which one browser keeps."""

    state: str
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)


class OpenIdProvider:
    """The provider of the settings, which has an issuer. Threads may share one."""

    def __init__(self, outbound: OutboundClient, settings: Settings, clock: Clock) -> None:
        self.issuer, self.name = settings.oidc_issuer or "", settings.oidc_name
        self.redirect_uri = f"{settings.public_url}/sign-in/oidc/callback"
        self._outbound, self._settings, self._clock = outbound, settings, clock
        self._source = Source(outbound, clock, self.issuer)

    def begin(self) -> tuple[Attempt, str]:
        """An attempt, and the address to send the browser to. Raises :class:`NotSignedIn`."""
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
        """Who signed in, by the parameters with which the browser came back. Raises :class:`NotSignedIn`."""
        metadata = self._metadata()
        client = self._client(metadata)
        if not same(answer.get("state", ""), attempt.state) or oauth.check_issuer(client, answer.get("iss")):
            raise self._refusal("the answer is of another sign-in", _DIFFERENT)
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
            raise self._refusal(f"the code was refused: {token.error_code or token.sentence}", _UNUSABLE)
        return self._claims(metadata, token, attempt)

    def sign_out_url(self) -> str | None:
        """Where people end what they have at the provider (OpenID Connect RP-Initiated Logout 1.0), if it says so."""
        try:
            url = self._source.metadata().url("end_session_endpoint")
        except Unreachable:
            return None
        query = {
            "client_id": self._settings.oidc_client_id,
            "post_logout_redirect_uri": f"{self._settings.public_url}/sign-in",
        }
        return f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(query)}" if url else None

    def _claims(self, metadata: Metadata, token: TokenResult, attempt: Attempt) -> Claims:
        try:
            signed = self._verified(metadata, str(token.raw.get("id_token") or ""), attempt.nonce)
            return claims.read(self.issuer, {**self._userinfo(metadata, token, signed), **signed}, self._groups)
        except id_tokens.BadToken as error:
            raise self._refusal(f"its ID token is not valid: {error}", _UNUSABLE) from error
        except Unreachable as error:
            raise self._refusal(str(error), _AWAY) from error

    def _verified(self, metadata: Metadata, token: str, nonce: str) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "issuer": self.issuer,
            "client_id": self._settings.oidc_client_id,
            "nonce": nonce,
            "supported": metadata.names("id_token_signing_alg_values_supported", ("RS256",)),
            "now": self._clock(),
        }
        try:
            return id_tokens.verify(token, self._source.keys(), **facts)
        except id_tokens.UnknownKey:  # the provider may have new ones
            return id_tokens.verify(token, self._source.keys(newer=True), **facts)

    def _userinfo(self, metadata: Metadata, token: TokenResult, signed: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the provider says beside the ID token, where that lacks something (section 5.3)."""
        url, wanted = metadata.url("userinfo_endpoint"), {"email", "email_verified"}
        if self._settings.oidc_roles:
            wanted.add(self._groups)
        if url is None or wanted <= set(signed):
            return {}
        facts = get_json(self._outbound, url, Authorization=f"Bearer {token.access_token}")
        if facts.get("sub") != signed["sub"]:
            raise id_tokens.BadToken("the userinfo answer is about somebody else")
        return facts

    @property
    def _groups(self) -> str:
        return self._settings.oidc_groups_claim

    def _metadata(self) -> Metadata:
        try:
            return self._source.metadata()
        except Unreachable as error:
            raise self._refusal(str(error), _AWAY) from error

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
        return self._refusal(f"it answered {error!r:.80}", _UNUSABLE)

    def _refusal(self, why: str, sentence: str) -> NotSignedIn:
        log.warning("Nobody is signed in by %s: %s", self.issuer, why)
        return NotSignedIn(sentence.format(name=self.name))
