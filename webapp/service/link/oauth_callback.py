"""The OAuth callback, to which a provider sends people back: it connects the account or shows why it cannot.

Only the browser that left for the provider may come back (:mod:`.oauth_start` gave it a cookie). OAuth 1.0a (RFC 5849
section 2.2) returns to the same callback.
"""

import logging
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from webapp.errors import NotFound, PatchbayError
from webapp.kit.text import naming, one_line
from webapp.service.catalog.app import App
from webapp.service.domain.accounts import (
    attempts,
    connections,
    provider,
    redirect_uris,
)
from webapp.service.domain.accounts.attempts import Attempt, Undecided
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.base.failures import (
    AttemptUnknown,
    Cancelled,
    ConnectFailed,
    NoClient,
    RejectedByProvider,
)
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import hosted_servers
from webapp.service.link import endings, outcome_page, redirects, visit
from webapp.service.link.oauth_start import COOKIE_PATH, binding_cookie, client_of, rejection
from webapp.service.link.responses import see_other
from webapp.service.outbound import oauth
from webapp.service.outbound.oauth import Provider, TokenResult
from webapp.service.outbound.oauth_failures import UNKNOWN_CLIENT, OAuthFailure

MAX_QUOTE = 200
log = logging.getLogger(__name__)


def route(blueprint: Blueprint, service: Service) -> None:
    """Add the routes of this module to ``blueprint``."""

    @blueprint.get("/connect/oauth/callback")
    @blueprint.get("/connect/oauth/callback/<server>")
    def callback(server: str = "") -> Response:
        attempt = _returning(service)
        try:
            return _answer(service, attempt)
        except Exception:
            _recognize(service, attempt)  # the page that says what went wrong names the product
            raise

    @blueprint.get("/connect/oauth/ended/<attempt_id>")
    def ended(attempt_id: str) -> Response:
        attempt = attempts.by_id(service, attempt_id)
        if attempt is None or not is_own(service, attempt):
            raise AttemptUnknown
        _recognize(service, attempt)
        return outcome_page.show_in_window(service, attempt)


def _answer(service: Service, attempt: Attempt) -> Response:
    if attempt.status == "started":
        attempt = finish(service, attempts.claim_sign_in(service, attempt, _binding(service, attempt)))
        return _back_to_product(service, attempt) or _ending_page(attempt)
    if attempt.status in ("asking", "exchanging") or attempt.error_code in attempts.ENDED_WITHOUT_VISITOR:
        return _ending_page(attempt)  # the same answer sent twice waits for the first; another reads why
    raise AttemptUnknown


def finish(service: Service, attempt: Attempt, answer: Mapping[str, str] | None = None) -> Attempt:
    """Exchange the code and connect, or continue with an ``answer``; the attempt records the outcome."""
    try:
        _connect(service, attempt, answer or {})
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
    return attempts.get(service.store, attempt.id)


def _connect(service: Service, attempt: Attempt, answer: Mapping[str, str]) -> None:
    app, token = service.app(attempt.app).by_sign_in, attempts.token_of(service.store, attempt)
    client = client_of(service, token, attempt)
    if client is None:
        raise NoClient
    sealed = attempts.unsealed(service, attempt)
    fields, answers = sealed.get("fields", {}), {**sealed.get("answers", {}), **answer}
    grant = _grant(service, app, client, attempt, sealed)
    try:
        connected = connections.connect_with_grant(
            service,
            token,
            app,
            client,
            grant,
            requested=attempt.scopes,
            profile=attempt.scope_profile,
            fields=fields,
            account_id=attempt.account_id,
            on_commit=attempts.record_connected(attempt),
            answers=answers,
        )
    except Undecided as undecided:
        kept = attempts.grant_to_json(grant, service.clock())
        attempts.ask(service, attempt, undecided.question, fields=fields, answers=answers, grant=kept)
        return
    hosted_servers.read_tools(service, connected)


def _grant(service: Service, app: App, client: OAuthApp, attempt: Attempt, sealed: Mapping[str, Any]) -> TokenResult:
    """The grant for the code, or the one kept while the person was asked. Raises :class:`ConnectFailed`."""
    if kept := sealed.get("grant"):
        return attempts.grant_from_json(kept, service.clock())
    fields = sealed.get("fields", {})
    oauth_provider = provider.oauth_provider(service, app, client, fields, attempt.scope_profile)
    _check_sender(oauth_provider, app, client)
    if oauth_provider.request_token_url:
        result = _exchange_oauth1(service, app, oauth_provider, sealed)
    else:
        result = oauth.exchange_code(
            service.client_for(app),
            oauth_provider,
            code=_code(app),
            redirect_uri=redirect_uris.of(service, client.callback),
            verifier=sealed["verifier"],
        )
    if isinstance(result, OAuthFailure):
        if client.registered_issuer and result.error_code in UNKNOWN_CLIENT:
            raise RejectedByProvider(f"{app.name} has forgotten this service since you began. Start again.")
        raise rejection(provider.naming_failure(result, app))
    return result


def _exchange_oauth1(
    service: Service, app: App, oauth_provider: Provider, sealed: Mapping[str, Any]
) -> TokenResult | OAuthFailure:
    """The OAuth 1.0a token for the callback's answer. Raises :class:`Cancelled`, :class:`RejectedByProvider`."""
    if "denied" in request.args:  # what most providers send; the standard leaves it open
        raise Cancelled
    token, verifier = (request.args.getlist(name) for name in ("oauth_token", "oauth_verifier"))
    if len(token) != 1 or len(verifier) != 1 or not verifier[0]:
        raise RejectedByProvider(f"{app.name} sent you back without an answer.")
    return attempts.exchange_oauth1(service, app, oauth_provider, sealed, token[0], verifier[0])


def _code(app: App) -> str:
    """The authorization code of the callback. Raises subclasses of :class:`ConnectFailed`."""
    error = request.args.get("error")
    if error == "access_denied":
        raise Cancelled
    if error is not None:
        words = one_line(request.args.get("error_description") or error, MAX_QUOTE)
        raise RejectedByProvider(f"{app.name} refused the connection and says: “{words}”")
    code = request.args.get("code", "")
    if not code or len(request.args.getlist("code")) != 1:  # RFC 6749 section 3.1: no parameter twice
        raise RejectedByProvider(f"{app.name} sent you back without an answer.")
    return code


def _check_sender(oauth_provider: Provider, app: App, client: OAuthApp) -> None:
    """Raise :class:`RejectedByProvider` if the answer may be another provider's (RFC 9207)."""
    if (request.view_args or {}).get("server", "") != client.callback:
        raise RejectedByProvider(oauth.WRONG_ISSUER)
    failure = oauth.check_issuer(oauth_provider, request.args.get("iss"))
    if failure is not None:
        raise RejectedByProvider(naming(failure.sentence, app.name))


def _returning(service: Service) -> Attempt:
    """The attempt that this browser started. Raises :class:`AttemptUnknown`."""
    states = request.args.getlist("state")
    attempt = attempts.by_state(service, states[0]) if len(states) == 1 else None
    if attempt is None or not attempts.is_bound(attempt, _binding(service, attempt)):
        raise AttemptUnknown
    return attempt


def is_own(service: Service, attempt: Attempt) -> bool:
    """Whether this browser started ``attempt``."""
    return attempts.is_bound(attempt, _binding(service, attempt))


def _recognize(service: Service, attempt: Attempt) -> None:
    """Let the page name the product, since the browser has proved that the sign-in is its own."""
    visit.of_attempt(service, attempts.token_of(service.store, attempt), attempt.session_id)


def _binding(service: Service, attempt: Attempt) -> str | None:
    return request.cookies.get(binding_cookie(service.settings, attempt))


def _ending_page(attempt: Attempt) -> Response:
    return see_other(f"{COOKIE_PATH}/ended/{attempt.id}")


def _back_to_product(service: Service, attempt: Attempt) -> Response | None:
    """The way back to the product, for a sign-in in the page's own tab; None when there is none."""
    if attempt.mode != "tab" or attempt.status == "asking":
        return None
    current = visit.of_attempt(service, attempts.token_of(service.store, attempt), attempt.session_id)
    if attempt.status == "connected":
        back = redirects.success(current, attempt.result_account_id or "")
    else:
        back = redirects.failure(current, attempt.error_code or endings.INTERNAL.code)
    return see_other(back) if back else None
