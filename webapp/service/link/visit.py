"""The visit of a Connect Link page: its token, its parameters, and what authenticates the visitor.

A framed page cannot rely on cookies: its Connect token travels in a hidden field, and is credential and CSRF proof at
once. A top-level page has moved its token out of the URL: a link session replaces it, and a proof derived
from the session's id goes with its forms. A page inside a portal has neither token nor cookie: its session's secret
follows its id in the address, after a dot.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flask import Request, g

from webapp.errors import NotFound
from webapp.kit import translation
from webapp.kit.crypto import same
from webapp.service.domain.access import connect_tokens, link_sessions
from webapp.service.domain.access.connect_tokens import ConnectToken
from webapp.service.domain.access.link_sessions import FAILURE, SUCCESS, LinkSession
from webapp.service.domain.accounts import accounts, app_overrides
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.app_overrides import AppOverride
from webapp.service.domain.base.failures import LinkExpired
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Project
from webapp.service.link import framing
from webapp.service.link.endings import (
    COOKIE_GONE,
    NO_SUCH_ACCOUNT,
    NO_SUCH_OVERRIDE,
    TOKEN_MISSING,
    TOKEN_UNKNOWN,
    Ended,
)

COOKIE_PATH = "/_static/connect"
PARAMETERS = (
    "app",
    "oauthAppId",
    "accountId",
    "hideClose",
    "oauthScopeProfile",
    "connectLink",
    "appOverrideId",
    "customOauthClient",
    "authType",  # ours: keys or oauth, for an app that is connected by either
    "theme",
    "display",  # where embed.js shows it: iframe, popup or redirect
    "returnTo",  # the page that opened it, for the way back
    "language",  # ours: a BCP 47 tag, instead of what the browser asks for
    "action",  # ours: the key of an action, whose scopes are asked for besides when an account is reconnected
    "picked",  # ours: the app was chosen here, and can be chosen again
)
MAX_PARAMETER, MAX_ADDRESS = 300, 2000


@dataclass(frozen=True, slots=True)
class Visit:
    """One visitor's page. ``raw_token`` is set on framed pages, ``session`` on top-level ones and inside a portal, with
    the ``handle`` that names it; the callback's have neither when they were started from a frame."""

    token: ConnectToken
    project: Project
    parameters: Mapping[str, str]
    raw_token: str | None = field(default=None, repr=False)
    session: LinkSession | None = None
    handle: str = field(default="", repr=False)
    proof: str = field(default="", repr=False)
    override: AppOverride | None = None

    @property
    def framed(self) -> bool:
        """Whether the page works without cookies."""
        return self.raw_token is not None

    @property
    def embedded(self) -> bool:
        """Whether a page of the product waits for it: around the frame, or behind the window that it opened."""
        return self.framed or (self.session is not None and self.parameters.get("display") == "popup")

    @property
    def theme(self) -> str:
        """The product's choice: light, dark, or auto for the browser's."""
        theme = self.parameters.get("theme", "")
        return theme if theme in ("light", "dark") else "auto"

    @property
    def app(self) -> str | None:
        """The slug of the app that the link, its app override or the token names."""
        return self.parameters.get("app") or (self.override.app if self.override else self.token.app)

    @property
    def oauth_app_id(self) -> str | None:
        """The OAuth client that the link or its app override names, or the token presets for its own app."""
        preset = self.token.oauth_app_id if self.token.app in (None, self.app) else None
        return self.parameters.get("oauthAppId") or (self.override and self.override.oauth_app_id) or preset

    @property
    def preset(self) -> Mapping[str, str]:
        """The values of fields that the app override presets, which the visitor is not asked for."""
        return self.override.fields if self.override else {}

    @property
    def account_id(self) -> str | None:
        """The account to reconnect."""
        return self.parameters.get("accountId")

    @property
    def closable(self) -> bool:
        """Whether the page shows a close button."""
        return self.parameters.get("hideClose", "").lower() not in ("true", "1")

    @property
    def of_portal(self) -> bool:
        """Whether a portal opened the page: its token's link is not used up, and the way back leads into the portal."""
        return self.session is not None and self.session.of_portal

    @property
    def success_uri(self) -> str | None:
        """The URL to redirect to after a success."""
        return self.parameters.get(SUCCESS) or self.token.success_redirect_uri

    @property
    def error_uri(self) -> str | None:
        """The URL to redirect to after a failure."""
        return self.parameters.get(FAILURE) or self.token.error_redirect_uri

    @property
    def url(self) -> str:
        """The URL of this visit's page: fetched with GET by a session, with POST and the hidden fields when framed."""
        return f"{COOKIE_PATH}/{self.handle}" if self.session else COOKIE_PATH

    @property
    def hidden(self) -> dict[str, str]:
        """The fields that prove this visit in a form that posts."""
        if self.session is None:
            return {**self.parameters, "token": self.raw_token or ""}
        return {"session": self.handle, "proof": self.proof}


def cookie_name(service: Service, session_id: str) -> str:
    """The cookie of one link session; each page has its own, so that two links do not disturb each other."""
    return f"{service.settings.path_cookie}patchbay_link_{session_id}"


def arriving(service: Service, request: Request) -> tuple[str, ConnectToken, dict[str, str]]:
    """The raw token, the token and the parameters of a link that is opened.

    Raises :class:`Ended` for a missing or unknown token and for a stranger's frame, :class:`LinkExpired`.
    """
    raw = request.args.get("token", "")
    token = _token(service, request, raw)
    return raw, token, _parameters(request.args)


def framed(service: Service, raw: str, token: ConnectToken, parameters: Mapping[str, str]) -> Visit:
    """The visit of a page that keeps its token."""
    return _remembered(service, token, parameters, raw_token=raw, override=_override(service, token, parameters))


def of_session(service: Service, request: Request, handle: str, *, late: bool = False) -> Visit:
    """The visit of a top-level page, by its cookie, or of a portal's, by its whole ``handle``.

    Raises :class:`Ended`, :class:`LinkExpired`.
    """
    session = _session(service, request, handle)
    token = connect_tokens.by_hash(service.store, session.token_hash) if session else None
    if session is None or token is None:
        raise Ended(COOKIE_GONE)
    narrowed = {name: value for name, value in _parameters(request.args).items() if name in ("app", "picked")}
    narrowed |= {name: value for name, value in _parameters(request.values).items() if name == "authType"}
    parameters = {**session.parameters, **narrowed}
    proof, override = session_proof(service, handle), _override(service, token, parameters)
    visit = _remembered(service, token, parameters, session=session, handle=handle, proof=proof, override=override)
    if token.expires_at <= service.clock() and not late:
        raise LinkExpired
    return visit


def holds(service: Service, request: Request, session_id: str) -> bool:
    """Whether this browser has the cookie of the session ``session_id``."""
    cookie = request.cookies.get(cookie_name(service, session_id))
    return link_sessions.find(service.store, session_id, cookie) is not None


def _session(service: Service, request: Request, handle: str) -> LinkSession | None:
    """The session of ``handle``, with the secret of its cookie, or with the one that follows its id."""
    session_id, dot, secret = handle.partition(".")
    return link_sessions.find(
        service.store, session_id, secret if dot else request.cookies.get(cookie_name(service, session_id))
    )


def of_form(service: Service, request: Request, *, late: bool = False) -> Visit:
    """The visit of a posted form; with ``late``, its token may have expired, to ask for the outcome.

    Raises :class:`Ended`, :class:`LinkExpired`.
    """
    handle = request.form.get("session")
    if handle:
        if not same(request.form.get("proof", ""), session_proof(service, handle)):
            raise Ended(COOKIE_GONE)
        return of_session(service, request, handle, late=late)
    raw = request.form.get("token", "")
    token = _token(service, request, raw, late=late)
    return framed(service, raw, token, _parameters(request.form))


def of_attempt(service: Service, token: ConnectToken, session_id: str | None) -> Visit:
    """The visit of a sign-in that returned to the browser in which it was started."""
    session = link_sessions.by_id(service.store, session_id) if session_id else None
    handle = session.id if session else ""
    return _remembered(service, token, session.parameters if session else {}, session=session, handle=handle)


def account_of(service: Service, token: ConnectToken, account_id: str) -> Account:
    """An account of the visitor. Raises :class:`Ended` if it does not exist or is another user's."""
    try:
        return accounts.get(service.store, token.scene, account_id, user=token.user)
    except NotFound as error:
        raise Ended(NO_SUCH_ACCOUNT) from error


def session_proof(service: Service, handle: str) -> str:
    """The CSRF proof that a form of this session carries."""
    key = service.keys.derive("link-forms")
    return hmac.new(key, handle.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def _remembered(service: Service, token: ConnectToken, parameters: Mapping[str, str], **more: Any) -> Visit:
    """The visit of this request; ``g`` keeps it, so that endings can name the product."""
    if app := service.catalog.app(parameters.get("app", "")):
        parameters = {**parameters, "app": app.slug}
    if language := parameters.get("language"):
        translation.choose(language, None, service.settings.language)
    g.visit = visit = Visit(token, projects.get(service.store, token.scene.project_id), parameters, **more)
    return visit


def _token(service: Service, request: Request, raw: str, *, late: bool = False) -> ConnectToken:
    if not raw:
        raise Ended(TOKEN_MISSING)
    token = connect_tokens.recall(service.store, raw)
    if token is None:
        raise Ended(TOKEN_UNKNOWN)
    is_framed = request.method == "POST" or framing.is_framed(token, request.args.get("connectLink", ""))
    _remembered(service, token, {}, raw_token=raw if is_framed else None)
    framing.admit(service, token)
    if token.expires_at <= service.clock() and not late:
        raise LinkExpired
    return token


def _override(service: Service, token: ConnectToken, parameters: Mapping[str, str]) -> AppOverride | None:
    """The app override that the link names. Raises :class:`Ended` if it does not exist or is for another app."""
    override_id = parameters.get("appOverrideId")
    if not override_id:
        return None
    try:
        override = app_overrides.get(service.store, token.scene.project_id, override_id)
    except NotFound as error:
        raise Ended(NO_SUCH_OVERRIDE) from error
    app = service.catalog.app(parameters["app"]) if "app" in parameters else None
    if app is not None and app.slug != override.app:
        raise Ended(NO_SUCH_OVERRIDE)
    return override


def _parameters(query: Mapping[str, str]) -> dict[str, str]:
    parameters = {name: query.get(name, "").strip() for name in PARAMETERS}
    longest = {"returnTo": MAX_ADDRESS}
    return {name: value[: longest.get(name, MAX_PARAMETER)] for name, value in parameters.items() if value}
