"""Connects accounts: each route creates a Connect Link and redirects to it, and the link returns here.

The page of the link, and everything with the provider, is left to the Connect service.
"""

import re
from urllib.parse import urlencode

from flask import Blueprint, flash, redirect, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import scene
from webapp.dashboard.dashboard import forget_accounts, public_url, service
from webapp.dashboard.pages import go
from webapp.kit.translation import gettext

blueprint = Blueprint("connections", __name__)

_ACCOUNT_ID = re.compile(r"apn_[a-zA-Z0-9]+")  # contract "Accounts"


@blueprint.post("/apps/<slug>/connect")
def create(slug: str) -> AnyResponse:
    """Redirect to a new Connect Link for this app."""
    app = service().app(slug)
    return _to_link(url_for("dashboard.apps.show", slug=app.slug), app.slug)


@blueprint.post("/accounts/<account_id>/reconnection")
def renew(account_id: str) -> AnyResponse:
    """Redirect to a new Connect Link for an existing account; the service refuses another identity."""
    account = service().account(account_id)
    back = url_for("dashboard.account.show", account_id=account.id)
    return _to_link(back, account.app.slug, account.id)


@blueprint.get("/accounts/connected")
def done() -> AnyResponse:
    """The page to which the Connect Link returns after a success: redirect to the account."""
    account_id = request.args.get("account_id", "")
    if not _ACCOUNT_ID.fullmatch(account_id):
        forget_accounts()
        return go(url_for("dashboard.accounts.index"))
    scene.return_to(account_id)
    forget_accounts()
    account = service().account(account_id)
    sentence = gettext("{account} is connected.")
    if account.identity and account.identity != account.title:
        sentence = gettext("{account} is connected as {identity}.")
    flash(sentence.format(account=account.title, identity=account.identity), "connected")
    return go(url_for("dashboard.account.show", account_id=account.id))


def _to_link(back: str, app: str, account_id: str = "") -> AnyResponse:
    """Redirect to a new Connect Link, which returns to ``back`` after a failure."""
    done = f"{url_for('dashboard.connections.done')}?{urlencode(scene.parameters())}"
    url = service().link(success=public_url(done), error=public_url(back), app=app, account_id=account_id)
    return redirect(url, 303)
