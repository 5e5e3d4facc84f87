"""One entry of the logs, in words: how it ended, what that means and what to do next, what was asked and what came
back, code that does it again, and the pages of what it belongs to.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from flask import url_for
from markupsafe import Markup
from pydantic import Field

from webapp.dashboard.client.models.deliveries import Attempt
from webapp.dashboard.client.models.lenient import Lenient
from webapp.dashboard.client.models.logs import LogEntry
from webapp.dashboard.client.models.runs import Observation
from webapp.dashboard.component.snippets import snippets
from webapp.dashboard.dashboard import dashboard, has_logs, if_up, known_accounts, known_triggers, viewer
from webapp.dashboard.rich import json_html, json_is_cut
from webapp.dashboard.words import KIND_TONES as CHANGE_TONES
from webapp.dashboard.words import KINDS as CHANGES
from webapp.dashboard.words import VERDICTS
from webapp.kit.translation import count_of, gettext, lazy_pgettext, translated
from webapp.kit.translation import lazy as _

Address = Callable[..., str]
MAX_SHOWN = 100_000  # characters of a request or a response
MAX_LINES = 200  # of a run's log
MOST_SENT = 20  # deliveries below an event
# A kind: what its chip and its rows are called.
KINDS: Mapping[str, tuple[str, str]] = {
    "run": (lazy_pgettext("log entries", "Runs"), _("Run")),
    "api_call": (_("API calls"), _("API call")),
    "event": (_("Events"), _("Event")),
    "delivery": (_("Deliveries"), _("Delivery")),
    "account": (_("Changes"), _("Account")),
    "agent": (_("Agents"), _("Agent")),
}
STATUSES: Mapping[str, str] = {"failed": _("Failed"), "waiting": _("Waiting"), "succeeded": _("Succeeded")}
TONES: Mapping[str, str] = {"failed": "bad", "waiting": "warn", "succeeded": "ok"}
# What an outcome is called that a status does not say.
OUTCOMES: Mapping[str, str] = {
    "running": _("Running"),
    "unknown": _("Interrupted"),
    "approved": _("Allowed"),
    "used": _("Allowed"),
    "refused": _("Refused"),
    "expired": _("Expired"),
    "emit": _("Emitted"),
    "unanswered": _("No answer"),
    "delivered": _("Delivered"),
}
# Why a trigger ran.
CAUSES: Mapping[str, str] = {
    "timer": _("Checked"),
    "request": _("Request"),
    "deploy": _("Started"),
    "activate": _("Switched on"),
    "deactivate": _("Switched off"),
    "renew": _("Subscribed"),
    "email": _("Mail"),
}
_NO_STEP = ""
_STEP_OF_TRIGGER = _("Look at its values and its account.")  # nobody runs it again but its schedule and its app
# By kind, and its outcome or else its status: what it means, and what to do next.
MEANINGS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("run", "waiting"): (_("It is still running."), _NO_STEP),
    ("run", "unknown"): ("{why}", _("Look in the app whether it was done before you run it again.")),
    ("run", "failed"): ("{why}", _("Change its values or its account, and run it again.")),
    ("delivery", "failed"): (
        _("The receiver did not accept the event, and there is no further attempt: {why}"),
        _("Repair the receiver, then resend the delivery."),
    ),
    ("delivery", "put_off"): ("", _("It is sent as soon as its webhook works again.")),
    ("delivery", "waiting"): (_("The event is on its way."), _("It is retried automatically.")),
    ("delivery", "succeeded"): (_("The receiver accepted the event."), _NO_STEP),
    ("agent", "waiting"): (_("{agent} asks whether it may do this."), _("Allow or refuse it under Agents.")),
    ("agent", "refused"): (_("{agent} was not allowed to do this."), _NO_STEP),
    ("agent", "expired"): (_("{agent} asked, and nobody answered in time."), _("The agent can ask again.")),
    ("agent", "failed"): ("{why}", _("Look at its values and its account.")),
    ("account", "failed"): ("{title}", _("Open the account or trigger to see what it needs.")),
}


def kind_of(entry: LogEntry) -> str:
    """What the kind of a row is called: a change is one of an account or of a trigger."""
    if entry.kind == "account" and entry.trigger_id:
        return gettext("Trigger")
    return KINDS[entry.kind][1] if entry.kind in KINDS else entry.kind


def title_of(entry: LogEntry) -> str:
    """What an entry is about; the project's id, which is the same in the addresses of all calls, is left out."""
    title = entry.title
    if entry.kind == "api_call":
        title = title.replace(f"/v1/connect/{viewer().client.project_id}/", "/v1/connect/…/")
    words = " · ".join(translated(part) for part in title.split(" · "))
    return words or gettext("Event")


def outcome_of(entry: LogEntry) -> str:
    """How an entry ended, in a word."""
    if entry.kind == "account":
        return CHANGES.get(entry.outcome, entry.outcome.replace("_", " ").capitalize())
    if entry.kind == "agent" and entry.status == "waiting" and not entry.took_ms:
        return gettext("Waits for you")
    if entry.outcome.isdigit():
        return entry.outcome
    if _is_on_its_way(entry):
        return VERDICTS["retrying" if entry.attempt else "waiting"][0]
    return OUTCOMES.get(entry.outcome) or STATUSES.get(entry.status, entry.status)


def tone_of(entry: LogEntry) -> str:
    """The tone of that word."""
    if entry.kind == "account":
        return CHANGE_TONES.get(entry.outcome, "" if entry.status == "succeeded" else "bad")
    if _is_on_its_way(entry):
        return VERDICTS["retrying" if entry.attempt else "waiting"][1]
    if entry.outcome == "unknown":
        return "warn"
    return TONES.get(entry.status, "")


def cause_of(entry: LogEntry) -> str:
    """Why a trigger ran; "" for anything else."""
    return str(CAUSES.get(entry.outcome, entry.outcome.capitalize())) if entry.of_trigger else ""


def came_of(entry: LogEntry) -> str:
    """What came of it, in a sentence: of a trigger's run how many events, of a run its summary, of a failure why."""
    if entry.emitted is not None and entry.status == "succeeded":
        return count_of(entry.emitted, "{count} event", "{count} events")
    return translated(entry.text)


def _is_on_its_way(entry: LogEntry) -> bool:
    """Whether it is tried by itself; a delivery to a webhook that fails all the time is put off instead."""
    return entry.kind == "delivery" and entry.status == "waiting" and entry.outcome != "put_off"


@dataclass(frozen=True, slots=True)
class Link:
    """A way on from an entry."""

    label: str
    url: str


def opened(entry: LogEntry, address: Address, *, of_project: bool) -> dict[str, Any]:
    """The context of an opened entry, of a person's own logs or of a project's, whose pages have an ``address``.

    What its row or the head of its page says is not said again below.
    """
    meaning, step = meaning_of(entry)
    request, response = _request(entry), _response(entry)
    observed = _Observed.model_validate(dict(entry.response)).lines
    lines = [line for line in observed if line.text != entry.text or line.detail]
    return {
        "meaning": "" if meaning in _said_above(entry) else meaning,
        "step": step,
        "request_text": _shown(request),
        "response_text": _shown(response),
        "is_cut": any(_is_cut(each) for each in (request, response)),
        "lines": lines,
        "most": MAX_LINES,
        "series": list(series(entry.attempts)),
        "payload_url": _payload_url(entry, of_project=of_project),
        "further": _links(entry, address, of_project=of_project),
        "repeats": _repeats(entry, of_project=of_project),
        "snippets": _snippets(entry),
        "ids": _ids(entry, of_project=of_project),
    }


def _said_above(entry: LogEntry) -> set[str]:
    return {entry.title, title_of(entry), entry.text, came_of(entry)}


def _ids(entry: LogEntry, *, of_project: bool) -> list[tuple[str, str]]:
    """What the entry is found by, with labels."""
    labelled = (
        (gettext("ID"), entry.id),
        (gettext("External user"), entry.user if of_project else ""),
        (gettext("Request ID"), entry.request_id),
        (gettext("Client") if entry.caller_type == "client" else gettext("Caller"), entry.caller),
    )
    return [(label, value) for label, value in labelled if value]


@dataclass(frozen=True, slots=True)
class Series:
    """Attempts of a delivery that followed each other and ended alike, oldest first. ``first`` and ``last`` are their
    numbers.
    """

    first: int
    attempts: tuple[Attempt, ...]

    @property
    def last(self) -> int:
        """The number of the latest."""
        return self.first + len(self.attempts) - 1

    @property
    def latest(self) -> Attempt:
        """The latest, whose answer stands for all that are equal to it."""
        return self.attempts[-1]

    @property
    def numbered(self) -> list[tuple[int, Attempt, bool]]:
        """Each with its number, and whether its answer differs from the latest's."""
        told = _answer(self.latest)
        return [(number, each, _answer(each) != told) for number, each in enumerate(self.attempts, self.first)]


def series(attempts: Iterable[Attempt]) -> Iterator[Series]:
    """``attempts``, oldest first, with those together whose status, failure and sentence are equal."""
    number = 1
    for _reason, alike in groupby(attempts, key=lambda each: (each.code, each.failure, each.error)):
        together = tuple(alike)
        number = together[0].number or number
        yield Series(number, together)
        number += len(together)


def _answer(attempt: Attempt) -> tuple[dict[str, Any], str]:
    """What was answered, without its time."""
    return {name: value for name, value in attempt.headers.items() if name.lower() != "date"}, attempt.body


class _Observed(Lenient):
    """What a run logged."""

    lines: tuple[Observation, ...] = Field(default=(), alias="os")


def _run_url(view: str, entry: LogEntry) -> str:
    """A page of a run of an action, beside the page of the action."""
    key, run_id = entry.component_key, entry.id
    return url_for(f"dashboard.runs.{view}", slug=entry.app, kind="actions", key=key, run_id=run_id)


def meaning_of(entry: LogEntry) -> tuple[str, str]:
    """What an entry means, and what to do next; the latter is "" where there is nothing to do."""
    if entry.kind == "api_call" and entry.status == "failed":
        return entry.text, _step_of_status(entry.outcome)
    keys = ((entry.kind, entry.outcome), (entry.kind, entry.status))
    known = next((MEANINGS[key] for key in keys if key in MEANINGS), None)
    if known is None:
        return came_of(entry), ""
    meaning, step = known
    if entry.of_trigger and entry.status == "failed":
        step = _STEP_OF_TRIGGER
    return meaning.format(why=entry.text or entry.outcome, agent=entry.agent, title=entry.title), str(step)


def _step_of_status(status: str) -> str:
    """What to do about a call of the API that was answered by ``status``."""
    steps = {
        "401": gettext("Create a new token; this one has expired or was revoked."),
        "403": gettext("Use a token with the scope that the sentence names."),
        "404": gettext("Check the id: it is absent, or belongs to another user, project or environment."),
        "429": gettext("Wait for as long as Retry-After says; Build → API & keys shows the limits."),
    }
    if status.startswith("5"):
        return gettext("Try again. If it keeps failing, look for its request ID in the service’s log.")
    return steps.get(status, gettext("Fix what the message names, then send it again."))


def _request(entry: LogEntry) -> Any:
    if entry.kind == "api_call":
        body = entry.request.get("body")
        head = f"{entry.request.get('method', '')} {entry.request.get('address', '')}"
        return head if body is None else Markup("{}\n\n{}").format(head, json_html(body, MAX_SHOWN))
    if entry.kind == "delivery" and entry.request:
        headers = entry.request.get("headers") or {}
        lines = "\n".join(f"{name}: {value}" for name, value in headers.items())
        return f"POST {entry.request.get('url') or ''}\n{lines}\n\n{entry.request.get('body') or ''}"
    return {name: value for name, value in entry.request.items() if value} or None


def _response(entry: LogEntry) -> Any:
    if entry.kind == "api_call":
        return f"{entry.response.get('status', '')}\n\n{entry.response.get('error') or ''}".strip()
    if entry.kind == "event":
        return entry.response.get("event")
    return {name: value for name, value in entry.response.items() if value and name != "os"} or None


def _shown(value: Any) -> str:
    if isinstance(value, Markup):
        return value
    return value[:MAX_SHOWN] if isinstance(value, str) else "" if value is None else json_html(value, MAX_SHOWN)


def _is_cut(value: Any) -> bool:
    return len(value) > MAX_SHOWN if isinstance(value, str) else json_is_cut(value, MAX_SHOWN)


def _payload_url(entry: LogEntry, *, of_project: bool) -> str:
    """Where the whole payload of an event is downloaded; "" where it is not."""
    if entry.kind != "event" or of_project or not entry.trigger_id:
        return ""
    return url_for("dashboard.trigger.payload", trigger_id=entry.trigger_id, event_id=entry.id)


@dataclass(frozen=True, slots=True)
class Repeat:
    """A button that does something again with what an entry has: its label and where it posts to.

    One with ``asks`` leads to a question first.
    """

    label: str
    url: str
    asks: bool = False
    in_place: bool = False


def _repeats(entry: LogEntry, *, of_project: bool) -> list[Repeat]:
    """What can be done again with one's own entry, as far as it may be."""
    if of_project:
        return []
    if entry.kind == "delivery" and entry.trigger_id and viewer().may("connect:deployed_triggers:write"):
        label = gettext("Retry now") if entry.status == "waiting" else gettext("Resend")
        url = url_for("dashboard.deliveries.resend", trigger_id=entry.trigger_id, delivery_id=entry.id)
        return [Repeat(label, url, in_place=True)]
    if entry.component_key and entry.app and entry.id.startswith("run_"):
        return [
            Repeat(gettext("Use these values"), _run_url("values", entry)),
            Repeat(gettext("Run again"), _run_url("again_page", entry), asks=True),
        ]
    return []


def _links(entry: LogEntry, address: Address, *, of_project: bool) -> list[Link]:
    """The pages of what the entry belongs to: those that exist for this viewer, and else their other entries."""
    links = list[Link]()
    key, app = entry.component_key, entry.app
    if key and app and entry.id.startswith("run_") and not of_project:
        links.append(Link(gettext("Open run"), _run_url("past", entry)))
    trigger, account = entry.trigger_id, entry.account_id
    triggers = if_up(known_triggers) if trigger else None
    if triggers and any(each.id == trigger for each in triggers.items):
        links.append(Link(gettext("Open trigger"), url_for("dashboard.trigger.show", trigger_id=trigger)))
    accounts = if_up(known_accounts) if account else None
    if accounts and accounts.find(account):
        links.append(Link(gettext("Open account"), url_for("dashboard.account.show", account_id=account)))
    if entry.kind == "agent" and not of_project and viewer().may("connect:agents:read"):
        links.append(Link(gettext("Open agents"), url_for("dashboard.agents.index")))
    for label, subject in (
        (gettext("Logs of this trigger"), trigger),
        (gettext("Logs of this account"), account),
        (gettext("The event and its deliveries"), entry.event_id if entry.kind == "delivery" else ""),
        (gettext("Logs of this action"), key if entry.kind == "run" and not trigger else ""),
    ):
        if subject and has_logs():
            links.append(Link(label, address(id=subject)))
    if of_project and entry.user:
        links.append(Link(gettext("Logs of this user"), address(user=entry.user)))
    return links


def _snippets(entry: LogEntry) -> list[tuple[str, str]]:
    """Code that does the same again; empty where there is nothing to do."""
    client, base = viewer().client, dashboard().settings.connect_base
    user = {"external_user_id": entry.user} if entry.user else {}
    trigger = client.path("deployed-triggers", entry.trigger_id) if entry.trigger_id else ""
    prefix, body = entry.id.partition("_")[0], None
    match prefix:
        case "call":
            method, path = str(entry.request.get("method", "GET")), str(entry.request.get("address", ""))
            return snippets(base + path, client.environment, entry.request.get("body"), method)
        case "run" | "apr":
            method, path = "POST", client.path("actions", "run")
            body = {"id": entry.component_key, **user, "configured_props": entry.request.get("configured_props") or {}}
        case "dlv" if trigger:
            method, path = "POST", f"{trigger}/deliveries/{entry.id}/resend?{urlencode(user)}"
        case "evt" if trigger:
            method, path = "GET", f"{trigger}/events?{urlencode(user | {'event_id': entry.id})}"
        case "tr" if trigger:
            method, path = "GET", f"{trigger}/logs?{urlencode(user)}"
        case _:
            return []
    return snippets(base + path, client.environment, body, method)
