"""Asks a provider whether it knows an OAuth client, without a sign-in.

Its token endpoint gets a code that it never issued. It refuses the client (``invalid_client``) or, since it must
authenticate the client first, the code (``invalid_grant``, RFC 6749 section 5.2). A refused code proves something only
if a wrong secret is refused otherwise, so a second request is made with a wrong one. Other behaviour of a provider is
declared in its app's facts; if the result is unclear, the verdict says so. Nothing is written.
"""

import secrets as random
from dataclasses import dataclass, replace
from typing import Literal

from webapp.service.catalog.app import App
from webapp.service.catalog.spec import ClientCheck
from webapp.service.domain.accounts import provider
from webapp.service.domain.base.service import Service
from webapp.service.outbound import oauth
from webapp.service.outbound.oauth import Provider, TokenResult
from webapp.service.outbound.oauth_failures import UNKNOWN_CLIENT, OAuthFailure
from webapp.service.outbound.templates import TemplateError

Verdict = Literal["known", "unknown", "redirect_uri", "unchecked"]
DEADLINE_S = 8.0  # of each of the two requests
_REDIRECT_URI_CODES = frozenset({"redirect_uri_mismatch", "invalid_redirect_uri", "bad_redirect_uri"})
_RFC = "https://www.rfc-editor.org/rfc/rfc6749#section-5.2"


@dataclass(frozen=True, slots=True)
class ClientVerdict:
    """Whether the provider knows the client, as a word and a sentence.

    ``redirect_uri``: it knows the client, but not this installation's redirect URI.
    """

    verdict: Verdict
    sentence: str

    @property
    def refused(self) -> bool:
        """Whether the provider refuses all connections with the client."""
        return self.verdict in ("unknown", "redirect_uri")


def is_possible(app: App) -> bool:
    """Whether the provider of ``app`` can be asked: its answers are clear, and its address is the same for all
    accounts.
    """
    if app.oauth is None or (app.oauth.check and not app.oauth.check.possible):
        return False
    try:
        return app.is_discovered or bool(app.provider("", None, _defaults(app)))
    except TemplateError:
        return False


def check(service: Service, app: App, client_id: str, client_secret: str | None, redirect_uri: str) -> ClientVerdict:
    """Ask the provider of ``app``, whose addresses are filled with the defaults of their fields."""
    declaration, name = (app.oauth and app.oauth.check) or ClientCheck(source=_RFC), app.provider_name
    if not declaration.possible:
        return _unchecked(f"{name} checks a client only when somebody signs in.")
    defaults = _defaults(app)
    try:
        discovered = provider.endpoints(service, app, defaults) if app.is_discovered else None
        oauth_provider = app.provider(client_id, client_secret, defaults, discovered=discovered)
    except TemplateError:
        return _unchecked(f"{name} has a different address for each account.")
    answer = _exchange_random_code(service, app, replace(oauth_provider, deadline_s=DEADLINE_S), redirect_uri)
    return _verdict(service, app, declaration, oauth_provider, redirect_uri, answer)


def _defaults(app: App) -> dict[str, str]:
    return {field.name: field.default for field in app.spec.fields if field.default}


def _verdict(
    service: Service,
    app: App,
    declaration: ClientCheck,
    oauth_provider: Provider,
    redirect_uri: str,
    answer: TokenResult | OAuthFailure,
) -> ClientVerdict:
    name, note = app.provider_name, app.client_note
    if isinstance(answer, TokenResult):
        return _unchecked(f"{name} accepts any authorization code, so its response proves nothing.")
    if _is_unknown(answer, declaration):
        words = note.id_name or "client ID", note.secret_name or "client secret"
        return ClientVerdict("unknown", f"{name} does not know this client. Compare the {words[0]} and the {words[1]}.")
    if answer.error_code in _REDIRECT_URI_CODES.union(declaration.redirect_uri_codes):
        sentence = (
            f"{name} knows this client, but not the redirect URI. Register the redirect URI there exactly as shown."
        )
        return ClientVerdict("redirect_uri", sentence)
    if answer.kind == "temporary" or answer.status is None:
        return _unchecked(f"{name} cannot be reached right now.")
    if answer.kind != "grant_dead":
        return _unchecked(f"{name}'s response does not show whether it knows the client.")
    if oauth_provider.client_secret is None or _tells_secrets_apart(
        service, app, declaration, oauth_provider, redirect_uri
    ):
        return ClientVerdict("known", f"{name} knows this client.")
    return _unchecked(f"{name} checks the client secret only when somebody signs in.")


def _tells_secrets_apart(
    service: Service, app: App, declaration: ClientCheck, oauth_provider: Provider, redirect_uri: str
) -> bool:
    wrong = replace(oauth_provider, client_secret=random.token_urlsafe(24), deadline_s=DEADLINE_S)
    answer = _exchange_random_code(service, app, wrong, redirect_uri)
    return isinstance(answer, OAuthFailure) and _is_unknown(answer, declaration)


def _exchange_random_code(
    service: Service, app: App, oauth_provider: Provider, redirect_uri: str
) -> TokenResult | OAuthFailure:
    code, verifier = random.token_urlsafe(24), random.token_urlsafe(32)
    return oauth.exchange_code(
        service.client_for(app), oauth_provider, code=code, redirect_uri=redirect_uri, verifier=verifier
    )


def _is_unknown(answer: OAuthFailure, declaration: ClientCheck) -> bool:
    codes, statuses = UNKNOWN_CLIENT.union(declaration.unknown_codes), {401, *declaration.unknown_statuses}
    return answer.error_code in codes or (answer.status in statuses and answer.kind != "grant_dead")


def _unchecked(why: str) -> ClientVerdict:
    return ClientVerdict("unchecked", f"The client could not be checked. {why}")
