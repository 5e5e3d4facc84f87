"""Build → App setup: a project's own OAuth clients, apps that people wait for, presets, and imported APIs."""

from flask import render_template

from webapp.dashboard.build.apps import clients, frame, imports, overrides
from webapp.dashboard.client.build.app_overrides import AppOverrides
from webapp.dashboard.client.build.imported_apps import ImportedApps
from webapp.dashboard.client.build.oauth_apps import OAuthApps
from webapp.dashboard.dashboard import app_of, dashboard, viewer
from webapp.people import setup_requests

blueprint = frame.blueprint
__all__ = ["blueprint", "clients", "imports", "overrides"]


@blueprint.get("")
def page() -> str:
    """The page."""
    client = viewer().client
    return render_template(
        "dashboard/build/apps/page.html",
        clients=OAuthApps(client).list(),
        overrides=AppOverrides(client).list(),
        imports=ImportedApps(client).list(),
        wanted=_wanted(),
    )


def _wanted() -> list[tuple[str, str, int]]:
    """The slugs and names of apps that people asked for, and how many did."""
    counts = setup_requests.counts(dashboard().store, viewer().client.project_id)
    apps = [(app_of(slug), count) for slug, count in counts.items()]
    return [(app.slug, app.name, count) for app, count in apps if app is not None and not app.ready]
