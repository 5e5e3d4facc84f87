"""Build → API & keys: how a product's own servers talk to the service."""

from flask import render_template

from webapp.dashboard.build.keys import clients, frame, webhooks

blueprint = frame.blueprint


@blueprint.get("")
def page() -> str:
    """The page."""
    parts = clients.context() | webhooks.context()
    return render_template("dashboard/build/keys/page.html", secret=frame.shown_now(), **parts)
