"""The way back from a provider by OAuth 1.0a (RFC 5849 section 2.2), whose answer names what it is about."""

from collections.abc import Mapping
from typing import Any

from flask import request

from webapp.service.catalog.app import App
from webapp.service.domain.accounts import attempts
from webapp.service.domain.base.failures import Cancelled, RejectedByProvider
from webapp.service.domain.base.service import Service
from webapp.service.outbound.oauth import OAuthFailure, Provider, TokenResult


def exchange(
    service: Service, app: App, oauth_provider: Provider, sealed: Mapping[str, Any]
) -> TokenResult | OAuthFailure:
    """The token that the answer allows. Raises :class:`Cancelled`, :class:`RejectedByProvider`."""
    if "denied" in request.args:  # as most providers say no, which the standard leaves open
        raise Cancelled
    token, verifier = (request.args.getlist(name) for name in ("oauth_token", "oauth_verifier"))
    if len(token) != 1 or len(verifier) != 1 or not verifier[0]:
        raise RejectedByProvider(f"{app.name} sent you back without an answer.")
    return attempts.exchange_signed(service, app, oauth_provider, sealed, token[0], verifier[0])
