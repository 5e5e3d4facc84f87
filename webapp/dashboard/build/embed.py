"""Build → Embed: tries the Connect Link as one of your users, shows the code for it, and checks a page of yours.

Each action responds with the page, whose state is in its address, except for the token of its preview: that is in the
browser's signed form cookie, so only the person who created it can see it, and no process stores it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from flask import Response, abort, g, make_response, render_template, request, session, url_for
from pydantic import StringConstraints
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import embed_snippets, menu
from webapp.dashboard.build.embed_snippets import Facts, snippets
from webapp.dashboard.client.accounts import AppFilter
from webapp.dashboard.client.build.embedding import EmbedCheck, EmbedClient, RefusedOrigin, Validity
from webapp.dashboard.client.models.accounts import App
from webapp.dashboard.dashboard import dashboard, if_up, known_apps, offers, viewer
from webapp.dashboard.pages import ListQuery, among, at_most, fragment, go
from webapp.errors import Invalid
from webapp.kit.origins import checked_origin
from webapp.kit.translation import gettext
from webapp.kit.translation import lazy as _

WAYS: Mapping[str, str] = {
    "link": _("Hosted link"),
    "window": _("Window"),
    "page": _("In the page"),
    "portal": _("Portal"),
    "server": _("Server"),
    "clients": _("Existing clients"),
}
SHOWN: Mapping[str, str] = {"link": _("Link"), "portal": _("Portal")}
SIZES: Mapping[str, tuple[str, str]] = {"desktop": (_("Desktop"), "screen"), "phone": (_("Phone"), "phone")}
FIRST_USER = "user-42"
_KEY = "embed"
Text = Annotated[str, StringConstraints(strip_whitespace=True), at_most(2_000)]
_AT_ONCE, _MOST_APPS = 100, 1_000  # of a request, and in the list
_MOST_REFUSED = 3
blueprint = menu.blueprint("embed")
# Where the API's fields stand in the form.
_FIELDS: Mapping[str, str] = {
    "external_user_id": "user",
    "app_id": "app",
    "allowed_origins": "another",
    "success_redirect_uri": "success",
    "error_redirect_uri": "error",
}


class EmbedQuery(ListQuery):
    """The form and the switches. ``origins`` are separated by spaces, which none of them holds."""

    user: Annotated[str, StringConstraints(strip_whitespace=True), at_most(250)] = FIRST_USER
    app: Annotated[str, StringConstraints(pattern=r"^[\w-]{0,100}$")] = ""
    origins: Annotated[str, at_most(6_000)] = ""
    success: Text = ""
    error: Text = ""
    way: Annotated[str, among(WAYS)] = "link"
    shown: Annotated[str, among(SHOWN)] = "link"
    size: Annotated[str, among(SIZES)] = "desktop"

    @classmethod
    def of_form(cls, form: Mapping[str, str], shown: "EmbedQuery") -> "EmbedQuery":
        """``shown``, as the form has it now."""
        named = {name: form[name] for name in ("user", "app", "origins", "success", "error") if name in form}
        return cls.model_validate(shown.model_dump() | named)

    @property
    def listed(self) -> list[str]:
        """The origins, each once."""
        return list(dict.fromkeys(self.origins.split()))

    def with_origins(self, origins: list[str]) -> "EmbedQuery":
        """The same with other origins."""
        return self.model_copy(update={"origins": " ".join(dict.fromkeys(origins))})

    def address(self, part: str = "", endpoint: str = "page", **changes: str) -> str:
        """The page as it is shown, with ``changes``, at its ``part``; or another address below it."""
        anchor = f"#{part}" if part else ""
        return url_for(f"dashboard.build_embed.{endpoint}") + self.query_string(**changes) + anchor

    def token_body(self) -> dict[str, Any]:
        """The body of the API's request. The dashboard's own origin is allowed, too, for the preview."""
        body = {
            "external_user_id": self.user,
            "app_id": self.app,
            "success_redirect_uri": self.success,
            "error_redirect_uri": self.error,
        }
        own = dashboard().settings.public_url
        return {name: value for name, value in body.items() if value} | {"allowed_origins": [*self.listed, own]}


@dataclass(frozen=True, slots=True)
class Token:
    """The token of the preview, and where its Connect Link opens."""

    token: str
    link_url: str

    def preview(self, query: EmbedQuery) -> str:
        """The URL of the preview's frame: the Connect Link, or the portal, which is always the dashboard's own."""
        portal = f"{dashboard().settings.public_url}/portal?token={self.token}"
        return portal if query.shown == "portal" else self.link(query.app)

    def link(self, app: str) -> str:
        """The address of the Connect Link, for ``app`` or for a choice of apps."""
        return self.link_url + (f"&app={app}" if app else "")


def save_token(token: str, link_url: str) -> None:
    """Store ``token`` in this person's browser, to show it from now on."""
    session[_KEY] = [viewer().key, token, link_url]


def saved_token() -> Token | None:
    """The token that this person made last."""
    match session.get(_KEY):
        case [owner, str(token), str(link_url)] if owner == viewer().key:
            return Token(token, link_url)
    return None


def show(
    query: EmbedQuery,
    errors: Mapping[str, str] | None = None,
    *,
    another: str = "",
    url: str = "",
    verdict: EmbedCheck | None = None,
    code: int = 200,
) -> Response:
    """The page. ``another`` is an origin that could not be added, ``verdict`` is about the page at ``url``."""
    token = saved_token()
    if token:
        g.frame_src = "{0.scheme}://{0.netloc}".format(urlsplit(token.preview(query)))
    way = query.way
    page = render_template(
        "dashboard/build/embed/page.html",
        query=query,
        errors=errors or {},
        another=another,
        app_choices=_app_choices(query.app),
        token=token,
        shown=SHOWN,
        sizes=SIZES,
        ways=[
            {"label": label, "url": query.address("ways", way=name), "current": name == way}
            for name, label in WAYS.items()
        ],
        snippets=snippets(way, _facts(query)),
        client_id_name=embed_snippets.ID,
        client_secret_name=embed_snippets.SECRET,
        example=dashboard().settings.example_url,
        checks=offers("embed_check", _can_check),
        refused=_refused(query),
        url=url or (query.listed or [""])[0],
        verdict=verdict,
        **_state(token),
    )
    return make_response(page, code)


def token_state(query: EmbedQuery) -> str | None:
    """Whether the token of the preview is used by now; None where there is none."""
    token = saved_token()
    return fragment("dashboard/build/embed/_token_state.html", query=query, **_state(token)) if token else None


def _state(token: Token | None) -> dict[str, Any]:
    """The state of the token: whether it is used, and its expiry."""
    validity = if_up(lambda: _validity(token)) if token else None
    return {"validity": validity, "waiting": bool(validity and validity.success and validity.link_used is False)}


def _validity(token: Token) -> Validity:
    return EmbedClient(viewer().client).validity(token.token)


def _refused(query: EmbedQuery) -> list[RefusedOrigin]:
    """The last pages that were refused, but for those that are allowed by now."""
    refused = if_up(EmbedClient(viewer().client).refused_origins) or ()
    return [row for row in refused if row.origin not in query.listed][:_MOST_REFUSED]


def _can_check() -> EmbedCheck | None:
    return EmbedClient(viewer().client).check_page(dashboard().settings.public_url, (), "HTTP/1.1 200 OK")


def _app_choices(chosen: str) -> list[tuple[str, str]]:
    """The apps that can be connected, those that are ready first, and leaving it to the user."""
    apps = [app for app in if_up(_every_app) or () if app.auth_type != "none"]
    apps.sort(key=lambda app: not app.ready)
    choices = [("", gettext("Let the user choose")), *((app.slug, _name(app)) for app in apps)]
    return choices if chosen in dict(choices) else [*choices, (chosen, chosen)]


def _every_app() -> list[App]:
    apps, after = list[App](), ""
    while len(apps) < _MOST_APPS:
        page = known_apps(AppFilter(sort_key="name", sort_direction="asc"), limit=_AT_ONCE, after=after)
        apps += page.items
        if not (after := page.end_cursor):
            break
    return apps


def _name(app: App) -> str:
    return app.name if app.ready else gettext("{app} (needs setup)").format(app=app.name)


def _facts(query: EmbedQuery) -> Facts:
    client = viewer().client
    return Facts(
        base_url=dashboard().settings.connect_base,
        project_id=client.project_id,
        environment=client.environment,
        body={name: value for name, value in query.token_body().items() if name != "allowed_origins"}
        | ({"allowed_origins": query.listed} if query.listed else {}),
        app=query.app,
    )


@blueprint.get("")
def page() -> Response:
    """The page."""
    return show(EmbedQuery.of_request())


@blueprint.post("/token")
def make_token() -> AnyResponse:
    """Make a token for the user in the form, which the preview shows from then on."""
    query = EmbedQuery.of_form(request.form, EmbedQuery.of_request())
    another = request.form.get("another", "").strip()
    try:
        query = _with(query, another)
        save_token(*EmbedClient(viewer().client).make_token(query.token_body()))
    except Invalid as error:
        return show(query, _errors(error), another=another, code=422)
    return go(query.address("preview"))


@blueprint.get("/token")
def token_now() -> str:
    """Whether the token is used by now."""
    return token_state(EmbedQuery.of_request()) or abort(404)


@blueprint.post("/origins")
def change_origins() -> AnyResponse:
    """Add an origin to the form, or take one away."""
    query, form = EmbedQuery.of_form(request.form, EmbedQuery.of_request()), request.form
    if "remove" in form:
        return go(
            query.with_origins([origin for origin in query.listed if origin != form["remove"]]).address("origins")
        )
    another = form.get("another", "").strip()
    try:
        return go(_with(query, another).address("origins"))
    except Invalid as error:
        return show(query, _errors(error), another=another, code=422)


@blueprint.post("/check")
def check() -> Response:
    """Look at a page: can it show the Connect Link?"""
    query, form = EmbedQuery.of_request(), request.form
    url, printed = form.get("url", "").strip(), form.get("printed", "").strip()
    try:
        verdict = EmbedClient(viewer().client).check_page(url, query.listed, printed) or abort(404)
    except Invalid as error:
        return show(query, _errors(error), url=url, code=422)
    return show(query, url=url, verdict=verdict)


def _with(query: EmbedQuery, another: str) -> EmbedQuery:
    """``query`` with one more origin, if there is one. Raises :class:`Invalid`."""
    try:
        return query.with_origins([*query.listed, checked_origin(another)]) if another else query
    except ValueError as error:
        raise Invalid.of("allowed_origins", str(error)) from error


def _errors(error: Invalid) -> Mapping[str, str]:
    """The sentences of ``error``, by the field of the form that each is about."""
    return {_FIELDS.get(detail.field, detail.field): detail.message for detail in error.details} or {"user": str(error)}
