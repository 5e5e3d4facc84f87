"""The pages of the Connect Link: the address that opens it, the choice of an app, and the app's own page."""

from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

from flask import Blueprint, Response, request

from webapp.errors import NotFound
from webapp.kit import cursors
from webapp.kit.clock import HOUR, SECOND
from webapp.service.catalog.app import App
from webapp.service.catalog.search import Subset
from webapp.service.domain.access import link_sessions
from webapp.service.domain.access.connect_tokens import ConnectToken
from webapp.service.domain.access.link_sessions import LinkSession
from webapp.service.domain.accounts import attempts, connections, fields, oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.attempts import Attempt
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.base.failures import LinkUsed
from webapp.service.domain.base.service import Service
from webapp.service.link import endings, forms, framing, outcome_page, redirects, visit
from webapp.service.link.access_choices import addition_of, choices
from webapp.service.link.endings import Ended
from webapp.service.link.responses import ended, page, see_other
from webapp.service.link.visit import Visit
from webapp.service.outbound.templates import fill_url
from webapp.settings import Settings

COOKIE_KEPT_PAST_EXPIRY = HOUR  # so that a page that is left open says "expired" and not "lost"
APPS_SHOWN = 60
MAX_SEARCH = 100


def route(blueprint: Blueprint, service: Service) -> None:
    """Add the routes of this module to ``blueprint``."""

    @blueprint.get("/_static/connect.html")
    def opened() -> Response:
        if elsewhere := _canonical(service.settings):
            return elsewhere
        raw, token, parameters = visit.arriving(service, request)
        if framing.is_framed(token, parameters.get("connectLink", "")):
            return show(service, visit.framed(service, raw, token, parameters))
        return begin(service, token, parameters)

    @blueprint.get("/_static/connect/<handle>")
    def of_session(handle: str) -> Response:
        return show(service, visit.of_session(service, request, handle))

    @blueprint.post("/_static/connect")
    def of_form() -> Response:
        return show(service, visit.of_form(service, request))


def begin(service: Service, token: ConnectToken, parameters: Mapping[str, str]) -> Response:
    """Redirect to a new top-level page for ``token``, whose address and cookie stand for it."""
    session, secret = link_sessions.create(service, token, parameters)
    return _with_cookie(service, session, secret)


def show(service: Service, current: Visit) -> Response:
    """The page for ``current``: an outcome, a choice of apps, or an app."""
    if current.token.linked_by is not None and not current.of_portal:
        return _used(service, current)
    if request.values.get("cancelled"):
        return ended(service, endings.CANCELLED, endings.CANCELLED.sentence)
    last = _last_attempt(service, current)
    if last is not None and (last.status == "connected" or _under_way(last)):
        return outcome_page.show(service, last)
    account = _account(service, current)
    slug = account.app if account else current.app
    if slug is None or request.values.get("choose"):
        return _show_choice(service, current)
    try:
        app = forms.chosen_way(service, current, service.app(slug), account)
        why_not = _why_not(service, current, app)
    except NotFound as error:
        raise Ended(endings.NO_SUCH_APP) from error
    if app.auth_type == "none":
        return ended(service, endings.NO_ACCOUNT_NEEDED, why_not or "", app=app)
    if why_not:
        return _no_client(service, app)
    return _show_app(service, current, app, account, last=last)


def _show_choice(service: Service, current: Visit) -> Response:
    """The page number ``page`` of the apps that match ``q``, or the last page."""
    q = request.values.get("q", "").strip()[:MAX_SEARCH]
    clients = oauth_apps.apps_with_client(service.store, current.project.id)
    rows = [
        (app, ready)
        for ready in (True, False)
        for app in _matching(service, q, Subset(ready=ready, clients=clients))
        if app.auth_type != "none"
    ]
    last = max(0, len(rows) - 1) // APPS_SHOWN + 1
    number = min(max(1, request.values.get("page", 1, type=int)), last)
    shown = rows[(number - 1) * APPS_SHOWN : number * APPS_SHOWN]
    return page(service, "link/choose.html", q=q, apps=shown, number=number, last=last)


def _matching(service: Service, q: str, subset: Subset) -> list[App]:
    window, apps = cursors.Window(limit=cursors.MAX_LIMIT), list[App]()
    while True:
        matches = service.catalog.search(q=q or None, subset=subset, window=window)
        apps += matches.items
        if not matches.end_cursor:
            return apps
        window = cursors.Window(limit=cursors.MAX_LIMIT, after=matches.end_cursor)


def _show_app(
    service: Service, current: Visit, app: App, account: Account | None, *, last: Attempt | None = None
) -> Response:
    """The page on which a person connects ``app``, with a new attempt."""
    if app.auth_type == "keys" or any(field.name not in current.preset for field in forms.client_fields(current, app)):
        return forms.show(service, current, app, account)
    wanted = forms.attempt_request(service, current, app, account, fields.checked(app.spec.fields, current.preset))
    _, secret = attempts.create(service, current.token, wanted)
    return show_start(service, current, app, account, secret, values=wanted.fields, last=last)


def show_start(
    service: Service,
    current: Visit,
    app: App,
    account: Account | None,
    secret: str,
    *,
    values: Mapping[str, str],
    last: Attempt | None = None,
    client: OAuthApp | None = None,
) -> Response:
    """The page with the button that leads to the provider. ``values`` fill its address; ``client`` is the one that the
    connection uses."""
    return page(
        service,
        "link/oauth.html",
        app=app,
        account=account,
        secret=secret,
        choices=choices(service, current, app, account, client),
        addition=addition_of(service, current, app, account, client),
        provider_host=redirects.host_of(
            fill_url(app.oauth.authorize_url or app.oauth.issuer or "", values) if app.oauth else None
        ),
        last=last if last is not None and last.status == "failed" else None,
        can_choose="picked" in current.parameters,
        other_way=forms.other_way(service, current, app),
    )


def _why_not(service: Service, current: Visit, app: App) -> str | None:
    """Why ``app`` cannot be connected here, or None. Raises :class:`NotFound` for an unknown OAuth client."""
    if forms.asks_for_client(current, app):
        return None
    return connections.unavailable_reason(
        service, app, current.project.id, current.oauth_app_id, user_id=current.token.user.id
    )


def _account(service: Service, current: Visit) -> Account | None:
    """The visitor's account to reconnect, if any. Raises :class:`Ended`."""
    if current.account_id is None:
        return None
    account = visit.account_of(service, current.token, current.account_id)
    if current.override is not None and current.override.app != account.app:
        raise Ended(endings.NO_SUCH_OVERRIDE)
    return account


def _used(service: Service, current: Visit) -> Response:
    """The outcome of a used link, for the browser that used it.

    That is the browser with its session's cookie, or a frame, which has none and shows the same token again. Raises
    :class:`LinkUsed` for others.
    """
    attempt = attempts.by_id(service, current.token.linked_by or "")
    if attempt is None:
        raise LinkUsed
    finished_here = visit.holds(service, request, attempt.session_id) if attempt.session_id else current.framed
    if not finished_here:
        raise LinkUsed
    return outcome_page.show(service, attempt)


def _last_attempt(service: Service, current: Visit) -> Attempt | None:
    """The last attempt of this page, so that closing or reloading it loses nothing."""
    if current.session is None or request.values.get("again"):
        return None
    return attempts.latest(service, "session_id", current.session.id)


def _under_way(attempt: Attempt) -> bool:
    """Whether it continues in another window; a sign-in in this tab was abandoned by coming back to this page."""
    return attempt.status == "exchanging" or (attempt.status in ("started", "asking") and attempt.mode == "window")


def _no_client(service: Service, app: App) -> Response:
    ending = endings.of_code("no_oauth_client")
    return page(service, "link/no_client.html", status=409, app=app, outcome="error", ending=ending)


def _canonical(settings: Settings) -> Response | None:
    """A redirect from another name of the loopback address to the public one, which cookies and the callback need."""
    if request.host.rpartition(":")[0] in ("", urlsplit(settings.public_url).netloc.rpartition(":")[0]):
        return None
    if not settings.loopback:
        return None
    return see_other(f"{settings.public_url}{request.path}?{urlencode(list(request.args.items(multi=True)))}")


def _with_cookie(service: Service, session: LinkSession, secret: str) -> Response:
    response = see_other(f"{visit.COOKIE_PATH}/{session.id}")
    response.set_cookie(
        visit.cookie_name(service, session.id),
        secret,
        max_age=(session.expires_at - service.clock() + COOKIE_KEPT_PAST_EXPIRY) // SECOND,
        path=visit.COOKIE_PATH,
        secure=service.settings.secure,
        httponly=True,
        samesite="Lax",
    )
    return response
