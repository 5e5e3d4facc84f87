"""What the parts of "Integrations" share: the blueprint, the client, and the way back."""

from flask import request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build.page import blueprint as build_blueprint
from webapp.dashboard.client.build.pieces import PieceClient
from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.pages import go
from webapp.dashboard.shared.changes import APPS
from webapp.kit.translation import lazy as _

blueprint = build_blueprint("integrations")
MOST_HOSTS = 20_000  # characters
AWAY = _("npm’s registry does not answer this machine now. Check its way there, or try again in a moment.")


def pieces() -> PieceClient:
    """The integrations, of the installation as a whole."""
    return PieceClient(viewer().client)


def changed() -> None:
    """The catalog is another one now."""
    dashboard().changes.add(APPS)
    dashboard().forget_apps()


def back(anchor: str = "") -> AnyResponse:
    """To the page, at one of its parts."""
    return go(url_for("dashboard.build_integrations.page", _anchor=anchor or None))


def to(piece_id: str, anchor: str = "") -> AnyResponse:
    """To the page of one integration."""
    return go(url_for("dashboard.build_integrations.show", piece_id=piece_id, _anchor=anchor or None))


def version() -> str:
    """The version that a form's page showed."""
    return request.form.get("version", "")[:100]


def hosts() -> str:
    """The hosts of a form, as they were written: one on each line."""
    return request.form.get("hosts", "")[:MOST_HOSTS]
