"""The frame around every tab of a trigger's page: its state, problems, targets and last 24 hours.

:func:`load` reads it, :func:`tab_page` renders a tab in it. :mod:`.news` updates the parts that may change while the
page is open; it compares :meth:`Frame.digest`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from flask import Response, make_response, render_template

from webapp.dashboard.client.models.accounts import Account, App
from webapp.dashboard.client.models.deliveries import Day, Endpoint, Workflow
from webapp.dashboard.client.models.logs import LogPage
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.client.transport import Params
from webapp.dashboard.dashboard import app_of, dashboard, viewer
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.pages import address, fragment, wants_fragment
from webapp.dashboard.trigger.triggers import accounts_of, template_helpers
from webapp.kit.translation import gettext, pgettext
from webapp.kit.translation import lazy as _

TABS: Mapping[str, str] = {
    "events": _("Events"),
    "deliveries": _("Deliveries"),
    "logs": _("Logs"),
    "configuration": _("Configuration"),
}
EXTENDED_TABS = ("deliveries", "logs")


@dataclass(frozen=True, slots=True)
class Frame:
    """A trigger with the facts that its page shows. ``day`` is ``None`` if the service keeps no count.

    ``logs`` are the newest of the list that the page shows, if they were read with it.
    """

    trigger: Trigger
    app: App | None
    accounts: tuple[Account, ...]
    endpoints: tuple[Endpoint, ...]
    workflows: tuple[Workflow, ...]
    day: Day | None
    logs: LogPage | None = None

    @property
    def extended(self) -> bool:
        """Whether the service has our extensions: deliveries, logs, test events, and the count of a day."""
        return self.day is not None

    @property
    def state(self) -> str:
        """Its state as a word of :data:`webapp.dashboard.words.SHOWN_STATES`: its own, or its targets'."""
        if self.trigger.state != "active":
            return self.trigger.state
        states = {place.state for place in (*self.endpoints, *self.workflows)}
        if "deactivated" in states:
            return "stopped"
        return "retrying" if self.trigger.last_error or "penalty" in states else "active"

    @property
    def may_be_edited(self) -> bool:
        """Whether the viewer may change it by the form of its component, which a removed one does not have."""
        scopes = ("connect:triggers:*", "connect:deployed_triggers:write")
        has_form = self.trigger.app and (self.trigger.available or self.trigger.newest_version)
        return bool(has_form) and all(viewer().may(scope) for scope in scopes)

    @property
    def learning(self) -> tuple[str, str]:
        """How it is fired: a heading, and a text for one without a schedule."""
        native = {
            "http": (gettext("Notified by"), gettext("Requests to its address")),
            "timer": (pgettext("trigger", "Runs"), ""),
            "email": (gettext("Notified by"), gettext("Mail to its address")),
        }
        sentence = gettext("{app} notifies it at once").format(app=self.app.name if self.app else gettext("The app"))
        instant = (gettext("Notified by"), sentence)
        return native.get(self.trigger.emitter) or (
            instant if self.trigger.instant or self.trigger.notified else (gettext("Checks"), "")
        )

    @property
    def why_not_notified(self) -> str:
        """The link to why it only polls on its schedule, although its app could notify it."""
        sentence = gettext("Why {app} does not notify it at once")
        return sentence.format(app=self.app.name if self.app else gettext("the app"))

    @property
    def failing(self) -> list[Endpoint]:
        """Addresses that a person should know of."""
        return [endpoint for endpoint in self.endpoints if endpoint.failing]

    @property
    def destinations(self) -> int:
        """To how many addresses and workflows its events go, without the project's own webhook."""
        return len(self.endpoints) + len(self.workflows)

    def digest(self) -> str:
        """Changes whenever something does that the page shows around its rows, but when it runs next."""
        trigger = self.trigger
        versions = (trigger.version, trigger.newest_version)
        shown = (trigger.state, trigger.switched_off, trigger.waits, trigger.last_error, versions)
        around = [each and each.model_dump() for each in (*self.endpoints, *self.workflows, self.day)]
        return hashlib.sha256(repr((shown, around)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def load(trigger_id: str, newest: Params = MappingProxyType({})) -> Frame:
    """The trigger and everything around it, and with ``newest`` the logs of a list.

    Raises :class:`webapp.errors.NotFound`.
    """
    view = client().view(trigger_id, newest)
    app, accounts = app_of(view.trigger.app), accounts_of(view.trigger)
    return Frame(view.trigger, app, accounts, view.webhooks, view.workflows, view.stats, view.logs)


def tab_page(frame: Frame, tab: str, part: str, *, swapped: str = "", url: str | None = None, **more: Any) -> Response:
    """The page with ``part`` in its panel; for htmx only that part, or what is ``swapped`` in it."""
    context = context_of(frame, tab) | more
    if wants_fragment():
        response = make_response(fragment(swapped or part, **context))
        if url:
            response.headers["HX-Push-Url"] = url
        return response
    context |= {"part": part, "new_key": _new_key(frame.trigger), "poll_url": news_url(frame)}
    return make_response(render_template("dashboard/trigger/show.html", **context))


def news_url(frame: Frame) -> str:
    """Where the page asks what has changed around its lists since ``frame`` was drawn."""
    path = address("dashboard.trigger.around", trigger_id=frame.trigger.id)
    return f"{path}?{urlencode({'around': frame.digest(), 'next': frame.trigger.next_run_at or ''})}"


def context_of(frame: Frame, tab: str) -> dict[str, Any]:
    """The context of the page and of each of its parts."""
    trigger_id = frame.trigger.id
    configuration = address("dashboard.trigger.configuration", trigger_id=trigger_id)
    tabs = [
        {"label": label, "current": name == tab,
         "url": configuration if name == "configuration"
         else address("dashboard.trigger.show", trigger_id=trigger_id, tab=name)}
        for name, label in TABS.items()
        if frame.extended or name not in EXTENDED_TABS
    ]  # fmt: skip
    return {
        "frame": frame,
        "trigger": frame.trigger,
        "tab": tab,
        "tabs": tabs,
        "may_see_keys": viewer().may_build,
        "revealed": {},
        **template_helpers(),
    }


def _new_key(trigger: Trigger) -> tuple[str, str]:
    """A signing key that was just made, for the first look at the page: a sentence and the key."""
    secrets, name = dashboard().one_time_secrets, f"{viewer().key} {trigger.id}"
    sentence_and_key = secrets.get(name)
    if sentence_and_key is None:
        return "", ""
    secrets.drop(name)
    return sentence_and_key
