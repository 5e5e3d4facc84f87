"""Build → App setup: a project's own OAuth clients, apps that people wait for, and presets.

The parts of the page are modules of their own, which share its blueprint and its questions.
"""

from typing import Any

from flask import render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import menu
from webapp.dashboard.client.build.app_overrides import AppOverrides
from webapp.dashboard.client.build.oauth_apps import OAuthApps
from webapp.dashboard.dashboard import app_of, dashboard, viewer
from webapp.dashboard.pages import go
from webapp.people import setup_requests

blueprint = menu.blueprint("apps")


@blueprint.get("")
def page() -> str:
    """The page."""
    client = viewer().client
    return render_template(
        "dashboard/build/apps/page.html",
        clients=OAuthApps(client).list(),
        overrides=AppOverrides(client).list(),
        wanted=_wanted(),
    )


def _wanted() -> list[tuple[str, str, int]]:
    """The slugs and names of apps that people asked for, and how many did."""
    counts = setup_requests.counts(dashboard().store, viewer().client.project_id)
    apps = [(app_of(slug), count) for slug, count in counts.items()]
    return [(app.slug, app.name, count) for app, count in apps if app is not None and not app.ready]


def question(**context: Any) -> str:
    """A question before a step, as a page; a script shows it in a dialog."""
    return render_template(
        "dashboard/build/apps/question.html", back_url=url_for("dashboard.build_apps.page"), **context
    )


def back(anchor: str = "") -> AnyResponse:
    """To the page, at one of its parts."""
    return go(url_for("dashboard.build_apps.page", _anchor=anchor or None))
