"""Signing in by OAuth 1.0a: temporary credentials before the person leaves, and the token for them afterwards.

They are sealed in the attempt. The address to come back to bears the attempt's ``state``, which a provider keeps
(RFC 5849 section 2.1), so that a sign-in is bound to its browser as one by OAuth 2.0 is.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from webapp.kit.crypto import same
from webapp.service.catalog.app import App
from webapp.service.domain.accounts import provider, starting
from webapp.service.domain.accounts.starting import SignInStart
from webapp.service.domain.base.service import Service
from webapp.service.outbound import oauth1
from webapp.service.outbound.oauth import WRONG_ISSUER, OAuthFailure, Provider, TokenResult
from webapp.service.outbound.oauth1 import Temporary


def begin(
    service: Service, app: App, oauth_provider: Provider, redirect_uri: str, started: SignInStart
) -> str | OAuthFailure:
    """Where to send the person. Raises :class:`webapp.service.domain.base.failures.AttemptUnknown`."""
    callback = f"{redirect_uri}?{urlencode({'state': started.state})}"
    temporary = oauth1.begin(service.client_for(app), oauth_provider, callback)
    if isinstance(temporary, OAuthFailure):
        return provider.naming_failure(temporary, app)
    starting.add(service, started, temporary=asdict(temporary))
    return oauth1.authorization_url(oauth_provider, temporary, started.attempt.scopes)


def exchange(
    service: Service, app: App, oauth_provider: Provider, sealed: Mapping[str, Any], token: str, verifier: str
) -> TokenResult | OAuthFailure:
    """The token for what is ``sealed`` in the attempt, if the answer is about it: it names it by ``token``."""
    temporary = Temporary(**sealed["temporary"])
    if not same(temporary.token, token):
        return OAuthFailure("denied", WRONG_ISSUER)
    return oauth1.exchange(service.client_for(app), oauth_provider, temporary, verifier)
