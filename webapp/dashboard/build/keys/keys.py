"""Build → API & keys: access of a product's servers to the service."""

from flask import render_template

from webapp.dashboard.build.keys import clients, frame, limits, usage, webhooks
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.gate import person
from webapp.people import api_keys

blueprint = frame.blueprint


@blueprint.get("")
def page() -> str:
    """The page."""
    parts = clients.context() | webhooks.context() | limits.context() | usage.context() | usage.calls_context()
    own_key_given_at = api_keys.created_at(dashboard().store, person().id)
    return render_template(
        "dashboard/build/keys/page.html", secret=frame.shown_now(), own_key_given_at=own_key_given_at, **parts
    )
