"""The secret that a client's provider sent for its events: whoever takes it sees it once, to paste it there."""

from typing import NamedTuple

from flask import flash, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build.apps.frame import blueprint
from webapp.dashboard.client.build.oauth_apps import OAuthApps
from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.pages import go
from webapp.errors import Conflict
from webapp.kit.translation import gettext


class Sent(NamedTuple):
    """A secret that was just taken, and the sentence about it."""

    sentence: str
    text: str


@blueprint.post("/<oauth_app_id>/events-secret")
def take_events_secret(oauth_app_id: str) -> AnyResponse:
    """Let it sign; the page that follows shows it."""
    clients = OAuthApps(viewer().client)
    known = clients.get(oauth_app_id)
    try:
        secret = clients.take_events_secret(oauth_app_id)
    except Conflict as error:
        flash(error.message, "bad")
        return _back(oauth_app_id)
    sentence = gettext("Paste this at {app} now; nobody can see it again.").format(app=known.app_name)
    dashboard().shown_once.put(_name(oauth_app_id), sentence, secret)
    return _back(oauth_app_id)


@blueprint.post("/<oauth_app_id>/events-secret/kept")
def keep_events_secret(oauth_app_id: str) -> AnyResponse:
    """The person pasted it: show it no more."""
    dashboard().shown_once.drop(_name(oauth_app_id))
    return _back(oauth_app_id)


def shown_now(oauth_app_id: str) -> Sent | None:
    """What is to be shown on the page of a client now; a reload shows it again."""
    kept = dashboard().shown_once.get(_name(oauth_app_id))
    return Sent(*kept) if kept else None


def _back(oauth_app_id: str) -> AnyResponse:
    return go(url_for("dashboard.build_apps.client", oauth_app_id=oauth_app_id, _anchor="events"))


def _name(oauth_app_id: str) -> str:
    return f"{viewer().key} {oauth_app_id}"
