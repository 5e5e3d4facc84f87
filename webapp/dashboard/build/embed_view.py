"""How the Embed page is drawn: its form, the preview with its token, the code, and what was found out about a page."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from flask import Response, g, make_response, render_template

from webapp.dashboard.build import embed_snippets
from webapp.dashboard.build.embed_snippets import Facts, snippets
from webapp.dashboard.build.embed_state import SHOWN, SIZES, WAYS, EmbedQuery, Token, kept
from webapp.dashboard.client.accounts import AppFilter
from webapp.dashboard.client.build.embedding import EmbedClient
from webapp.dashboard.client.models.accounts import App
from webapp.dashboard.client.models.embedding import EmbedCheck, RefusedOrigin, Validity
from webapp.dashboard.dashboard import dashboard, if_up, known_apps, offers, viewer
from webapp.dashboard.pages import fragment
from webapp.kit.translation import gettext

_AT_ONCE, _MOST_APPS = 100, 1_000  # of a request, and in the list
_MOST_REFUSED = 3


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
    token = kept()
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
    token = kept()
    return fragment("dashboard/build/embed/_token_state.html", query=query, **_state(token)) if token else None


def _state(token: Token | None) -> dict[str, Any]:
    """What is known of the token: whether it is used, and until when it works."""
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
