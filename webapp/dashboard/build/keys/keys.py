"""Build → API & keys: access of a product's servers to the service, in sections with an address each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import abort, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build.keys import clients, frame, limits, usage, webhooks
from webapp.dashboard.dashboard import dashboard, offers
from webapp.dashboard.gate import person
from webapp.dashboard.pages import go
from webapp.kit.translation import lazy as _
from webapp.people import api_keys, users

blueprint = frame.blueprint


def _user_keys() -> dict[str, Any]:
    """The context of user API keys: whether the person has one, and for owners who else has."""
    store, me = dashboard().store, person()
    others = [(users.by_id(store, user_id), at) for user_id, at in api_keys.holders(store) if me.role == "owner"]
    return {
        "own_key_given_at": api_keys.created_at(store, me.id),
        "key_holders": [(user, at) for user, at in others if user and user.id != me.id],
    }


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its label, its context, and its template.

    One with ``asks`` is left out if the Connect service does not offer what that reads.
    """

    label: str
    context: Callable[[], dict[str, Any]]
    template: str
    asks: Callable[[], object] | None = None


SECTIONS: Mapping[str, Section] = {
    "clients": Section(_("OAuth clients"), clients.context, "_clients"),
    "api-keys": Section(_("User API keys"), _user_keys, "_user_keys"),
    "webhooks": Section(_("Webhooks"), webhooks.context, "_webhooks"),
    "limits": Section(_("Rate limits"), limits.context, "_rate_limits", limits.read),
    "usage": Section(_("Usage"), usage.context, "_usage", usage.read),
    "calls": Section(_("Calls"), usage.calls_context, "_calls"),
}
"""By the last part of their addresses, in the order of the tabs."""


@blueprint.get("")
def page() -> AnyResponse:
    """Lead to the first section, and links to calls from before they had an address of their own to these."""
    section = "calls" if request.args.keys() & {"calls", "page"} else next(iter(SECTIONS))
    query = request.query_string.decode("ascii", "ignore")
    return go(f"{frame.url_of(section)}{'?' + query if query and section == 'calls' else ''}")


@blueprint.get("/<section>")
def section(section: str) -> str:
    """One section."""
    shown = {name: each for name, each in SECTIONS.items() if each.asks is None or offers(f"keys {name}", each.asks)}
    if section not in shown:
        abort(404)
    return render_template(
        "dashboard/build/keys/page.html",
        section=section,
        sections={name: each.label for name, each in shown.items()},
        part=f"dashboard/build/keys/{shown[section].template}.html",
        section_url=frame.url_of,
        secret=frame.shown_now(),
        **shown[section].context(),
    )
