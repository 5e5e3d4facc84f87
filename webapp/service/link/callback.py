"""The OAuth callback: what a provider answered becomes an account or a named ending.

``state`` must be known, unused, in time and bound to this browser by its cookie; ``iss`` is checked (RFC 9207). The
outcome is committed before anything is shown, and shown at an address of its own, so that the code leaves the URL and
a reload repeats nothing.
"""

import logging
import re
import unicodedata

from flask import Blueprint, Response, request

from webapp.errors import NotFound, PatchbayError
from webapp.service.domain.accounts import attempts, connecting, provider, provider_clients
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.attempts import Attempt
from webapp.service.domain.base.failures import (
    AttemptUnknown,
    Cancelled,
    ConnectFailed,
    NoClient,
    ProviderDown,
    RejectedByProvider,
)
from webapp.service.domain.base.service import Service
from webapp.service.link import outcomes, visit
from webapp.service.link.answers import see_other
from webapp.service.link.starts import BINDING_PATH, binding_cookie, redirect_uri
from webapp.service.outbound import oauth
from webapp.service.outbound.oauth import Provider
from webapp.service.outbound.tokens import OAuthFailure

log = logging.getLogger(__name__)
MAX_WORDS = 200


def route(blueprint: Blueprint, service: Service) -> None:
    """Add the routes of this module to ``blueprint``."""

    @blueprint.get("/connect/oauth/callback")
    def callback() -> Response:
        attempt = _returning(service)
        if attempt.status == "started":
            attempt = finish(service, attempts.claim_sign_in(service, attempt, _binding(attempt)))
            return outcomes.leave(service, attempt) or _ending_page(attempt)
        if attempt.status == "exchanging" or attempt.error_code == attempts.TIMED_OUT:
            return _ending_page(attempt)  # the same answer sent twice waits for the first; a late one reads why
        raise AttemptUnknown

    @blueprint.get("/connect/oauth/ended/<attempt_id>")
    def ended(attempt_id: str) -> Response:
        attempt = attempts.by_id(service, attempt_id)
        if attempt is None or not attempts.is_bound(attempt, _binding(attempt)):
            raise AttemptUnknown
        _recognize(service, attempt)
        return outcomes.show_in_window(service, attempt)


def finish(service: Service, attempt: Attempt) -> Attempt:
    """Exchange the code and connect; whatever happens is written into the attempt."""
    try:
        _connect(service, attempt)
    except ConnectFailed as error:
        return attempts.fail(service, attempt, error)
    except NotFound as error:
        return attempts.fail(service, attempt, RejectedByProvider(error.message))
    except PatchbayError as error:
        attempts.fail(service, attempt, error)
        raise
    except Exception:
        log.exception("Connecting after the callback failed.")
        return attempts.fail(service, attempt, PatchbayError("The connection could not be finished."))
    return attempts.reread(service, attempt)


def _connect(service: Service, attempt: Attempt) -> Account:
    app = service.app(attempt.app)
    client = provider_clients.choose(service.store, attempt.project_id, app.slug, attempt.oauth_app_id)
    if client is None:
        raise NoClient
    sealed = attempts.unsealed(service, attempt)
    fields = sealed.get("fields", {})
    asked = provider.oauth_provider(service, app, client, fields)
    result = oauth.exchange_code(
        service.client_for(app),
        asked,
        code=_code(asked),
        redirect_uri=redirect_uri(service),
        verifier=sealed["verifier"],
    )
    if isinstance(result, OAuthFailure):
        raise _rejected(result)
    return connecting.connect_with_grant(
        service,
        attempts.token_of(service.store, attempt),
        app,
        client,
        result,
        requested=attempt.scopes,
        profile=attempt.scope_profile,
        fields=fields,
        account_id=attempt.account_id,
        on_commit=attempts.record_connected(attempt),
    )


def _code(asked: Provider) -> str:
    """The code of an answer that may be trusted to be this provider's. Raises :class:`ConnectFailed` kinds."""
    failure = oauth.check_issuer(asked, request.args.get("iss"))
    if failure is not None:
        raise RejectedByProvider(failure.sentence)
    error = request.args.get("error")
    if error == "access_denied":
        raise Cancelled
    if error is not None:
        raise RejectedByProvider(_in_their_words(error, request.args.get("error_description", "")))
    code = request.args.get("code", "")
    if not code or len(request.args.getlist("code")) != 1:  # RFC 6749 section 3.1: no parameter twice
        raise RejectedByProvider("The provider sent you back without an answer.")
    return code


def _rejected(failure: OAuthFailure) -> ConnectFailed:
    return ProviderDown(failure.sentence) if failure.kind == "temporary" else RejectedByProvider(failure.sentence)


def _in_their_words(error: str, description: str) -> str:
    """The provider's own words, on one line, shortened and marked as a quotation; pages escape them."""
    text = description or error
    text = "".join(" " if unicodedata.category(one)[0] in "CZ" else one for one in text)
    text = re.sub(r" +", " ", text).strip()
    if len(text) > MAX_WORDS:
        text = f"{text[:MAX_WORDS].rstrip()}…"
    return f"The provider refused the connection and says: “{text}”"


def _returning(service: Service) -> Attempt:
    """The attempt that this browser started. Raises :class:`AttemptUnknown`."""
    states = request.args.getlist("state")
    attempt = attempts.by_state(service, states[0]) if len(states) == 1 else None
    if attempt is None or not attempts.is_bound(attempt, _binding(attempt)):
        raise AttemptUnknown
    _recognize(service, attempt)
    return attempt


def _recognize(service: Service, attempt: Attempt) -> None:
    """Let the page name the product, now that the browser has proved that the sign-in is its own."""
    visit.of_attempt(service, attempts.token_of(service.store, attempt), attempt.session_id)


def _binding(attempt: Attempt) -> str | None:
    return request.cookies.get(binding_cookie(attempt))


def _ending_page(attempt: Attempt) -> Response:
    return see_other(f"{BINDING_PATH}/ended/{attempt.id}")
