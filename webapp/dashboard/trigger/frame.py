"""What stands around every tab of a trigger's page: its state, what is wrong, where it delivers, the last 24 hours.

:func:`look` gathers it, :func:`shown` draws a tab in it. The parts that may change while somebody looks are renewed by
:mod:`.news`, which compares :meth:`Frame.digest`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask import Response, make_response, render_template, url_for

from webapp.dashboard.client.models.accounts import Account, App
from webapp.dashboard.client.models.deliveries import Day
from webapp.dashboard.client.models.triggers import Endpoint, Trigger, Workflow
from webapp.dashboard.component import drawing
from webapp.dashboard.dashboard import dashboard, may_see_keys, person
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.htmx import fragment, wants_fragment
from webapp.dashboard.trigger.index import accounts_of, app_of, drawn_with
from webapp.errors import PatchbayError
from webapp.kit.translation import lazy as _

TABS: Mapping[str, str] = {
    "events": _("Events"),
    "deliveries": _("Deliveries"),
    "logs": _("Logs"),
    "configuration": _("Configuration"),
}


@dataclass(frozen=True, slots=True)
class Frame:
    """A trigger with what a page says about it. ``day`` is ``None`` where the service keeps no count."""

    trigger: Trigger
    app: App | None
    accounts: tuple[Account, ...]
    endpoints: tuple[Endpoint, ...]
    workflows: tuple[Workflow, ...]
    day: Day | None

    @property
    def failing(self) -> list[Endpoint]:
        """Addresses that a person should know of."""
        return [one for one in self.endpoints if one.failing]

    @property
    def places(self) -> int:
        """To how many places its events go, without the project's own webhook."""
        return len(self.endpoints) + len(self.workflows)

    def digest(self, *more: object) -> str:
        """Changes whenever something does that the page shows around its rows, or in ``more``."""
        one = self.trigger
        told = (one.state, one.switched_off, one.waits, one.last_error, self.endpoints, self.workflows, self.day, more)
        return hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def look(trigger_id: str) -> Frame:
    """The trigger and everything around it. Raises :class:`webapp.errors.NotFound`."""
    api = client()
    trigger = api.find(trigger_id)
    try:
        day = api.day(trigger_id)
    except PatchbayError:
        day = None
    return Frame(
        trigger=trigger,
        app=app_of(trigger.app),
        accounts=accounts_of(trigger),
        endpoints=tuple(api.endpoints(trigger_id)),
        workflows=tuple(api.workflows(trigger_id)),
        day=day,
    )


def shown(frame: Frame, tab: str, part: str, *, code: int = 200, url: str | None = None, **more: Any) -> Response:
    """The page with ``part`` in its panel; for htmx that part alone."""
    context = context_of(frame, tab) | more
    if wants_fragment():
        response = make_response(fragment(f"dashboard/trigger/{part}", **context), code)
        if url:
            response.headers["HX-Push-Url"] = url
        return response
    context |= {"part": f"dashboard/trigger/{part}", "new_key": _once(frame.trigger)}
    page = render_template("dashboard/trigger/show.html", **context)
    return make_response(page, code)


def context_of(frame: Frame, tab: str) -> dict[str, Any]:
    """What the page and each of its parts are drawn from."""
    trigger_id = frame.trigger.id
    ends = {"events": "trigger.show", "deliveries": "deliveries.index"}
    tabs = [
        {"label": label, "current": name == tab,
         "url": url_for(f"dashboard.{ends.get(name, f'trigger.{name}')}", trigger_id=trigger_id)}
        for name, label in TABS.items()
    ]  # fmt: skip
    return {
        "frame": frame,
        "trigger": frame.trigger,
        "tab": tab,
        "tabs": tabs,
        "json_html": drawing.json_html,
        "may_see_keys": may_see_keys(),
        "revealed": {},
        "news": None,
        **drawn_with(),
    }


def _once(trigger: Trigger) -> tuple[str, str]:
    """A signing key that was just made, for the first look at the page: a sentence and the key."""
    kept, name = dashboard().shown_once, f"{person().id} {trigger.id}"
    found = kept.get(name) or ("", "")
    kept.drop(name)
    return found
