"""Build → API & keys: access of a product's servers to the service, in sections with an address each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import abort, make_response, render_template
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build.keys import calls, clients, limits, sections, usage, webhooks
from webapp.dashboard.dashboard import dashboard, offers
from webapp.dashboard.gate import person
from webapp.dashboard.pages import fragment, go, wants_fragment
from webapp.kit.translation import lazy as _
from webapp.people import api_keys, roles, users

blueprint = sections.blueprint


def _user_keys() -> dict[str, Any]:
    """The context of user API keys: whether the person has one, and for owners who else has."""
    store, me = dashboard().store, person()
    holders = api_keys.holders(store) if roles.may_see_key_holders(me.role) else ()
    others = [(users.by_id(store, user_id), at) for user_id, at in holders]
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
    context: Callable[..., dict[str, Any]]
    template: str
    asks: Callable[[], object] | None = None


SECTIONS: Mapping[str, Section] = {
    "clients": Section(_("OAuth clients"), clients.context, "_clients"),
    "api-keys": Section(_("User API keys"), _user_keys, "_user_keys"),
    "webhooks": Section(_("Webhooks"), webhooks.context, "_webhooks"),
    "limits": Section(_("Rate limits"), limits.context, "_rate_limits", limits.read),
    "usage": Section(_("Usage"), usage.context, "_usage", usage.read),
    "calls": Section(_("Calls"), calls.context, "_calls"),
}
"""By the last part of their addresses, in the order of the tabs."""


@blueprint.get("")
def page() -> AnyResponse:
    """Lead to the first section."""
    return go(sections.url_of(next(iter(SECTIONS))))


@blueprint.get("/calls", endpoint="calls", defaults={"source": "logs"})
@blueprint.get("/calls/<any(pages):source>", endpoint="calls")
def show_calls(source: str) -> AnyResponse:
    """The section of calls; for htmx only the results."""
    context = _context("calls", source)
    if wants_fragment():
        response = make_response(fragment("dashboard/logs/_results.html", **context))
        response.headers["HX-Push-Url"] = context["query"].url()
        return response
    return make_response(render_template("dashboard/build/keys/page.html", **context))


@blueprint.get("/<section>")
def section(section: str) -> str:
    """One section."""
    return render_template("dashboard/build/keys/page.html", **_context(section))


def _context(section: str, *of_section: str) -> dict[str, Any]:
    """The context of the page of a section, which may be told more ``of_section``."""
    shown = {name: each for name, each in SECTIONS.items() if each.asks is None or offers(f"keys {name}", each.asks)}
    if section not in shown:
        abort(404)
    return {
        "section": section,
        "sections": {name: each.label for name, each in shown.items()},
        "part": f"dashboard/build/keys/{shown[section].template}.html",
        "section_url": sections.url_of,
        "secret": sections.shown_now(),
        **shown[section].context(*of_section),
    }
