"""The Agents page: the address for an assistant, the permissions of agents, those that signed in, calls that wait
for approval, and the runs of agents. A portal has the same page without the address.

A waiting call is shown in words: the agent, the action, the account and the values.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import orjson
from flask import Blueprint, abort, flash, make_response, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models.agents import NO_APP, AgentApp, Approval, Counts
from webapp.dashboard.client.models.components import Component, Prop, plain
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.client.models.runs import Run
from webapp.dashboard.client.overview import Overview
from webapp.dashboard.dashboard import agents, app_of, dashboard, if_up, known_accounts, known_component, viewer
from webapp.dashboard.pages import ListQuery, at_most, fragment, go, page, read_from, wants_fragment
from webapp.errors import Conflict, Forbidden, PatchbayError
from webapp.kit.clock import iso, parse_iso
from webapp.kit.crypto import stable_id
from webapp.kit.translation import gettext, ngettext, translated
from webapp.kit.translation import lazy as _

_RUN_TONES = {"succeeded": "ok", "failed": "bad"}
MAX_SHOWN = 20_000
MAX_GIST = 120
_TURNING = {code: f"\\u{code:04x}" for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}
blueprint = Blueprint("agents", __name__)
NEWEST, PER_PAGE = 8, 30
LEVELS: Mapping[str, str] = {"off": _("Off"), "ask": _("Ask"), "on": _("On")}


@dataclass(frozen=True, slots=True)
class Host:
    """A kind of program, and what to do with the address in it."""

    name: str
    label: str
    sentence: str


HOSTS = (
    Host(
        "",
        _("Any assistant"),
        _(
            "Paste it where your assistant adds a “connector” or “MCP server”. It opens a page here and asks you once. "
            "No key to keep."
        ),
    ),
    Host(
        "chat",
        _("Desktop chat"),
        _("Look for Connectors in its settings, add a custom one, and paste the address. Then sign in here."),
    ),
    Host(
        "editor",
        _("Code editor"),
        _("Add an HTTP MCP server with this address. The editor opens a page here to sign in."),
    ),
    Host(
        "code",
        _("Your own code"),
        _("Send a Connect token or an access token as the bearer token; nobody has to sign in."),
    ),
)


def host_of(name: str) -> Host:
    """The host of that name, else any."""
    return next((host for host in HOSTS if host.name == name), HOSTS[0])


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """One thing that an agent did, or did not get to do. ``at`` is ISO 8601."""

    at: str
    agent: str
    sentence: str
    tone: str


def entries_of_runs(runs: Iterable[Run]) -> list[AgentEntry]:
    """The runs of agents."""
    return [_of_run(run) for run in runs]


def entries(runs: Iterable[Run], approvals: Iterable[Approval], limit: int) -> list[AgentEntry]:
    """The newest of what agents ran, and of what did not come to it."""
    entries = [*entries_of_runs(runs), *(entry for approval in approvals if (entry := _of_approval(approval)))]
    return sorted(entries, key=lambda entry: entry.at, reverse=True)[:limit]


def _of_run(run: Run) -> AgentEntry:
    tone = _RUN_TONES.get(run.status, "")
    return AgentEntry(_time(run.at), run.agent, run.summary or _name(run.component_key), tone)


def _of_approval(approval: Approval) -> AgentEntry | None:
    if approval.state not in ("refused", "expired"):
        return None
    action = _name(approval.component_key)
    if approval.state == "refused":
        sentence = gettext("You refused: {action}").format(action=action)
    else:
        sentence = gettext("Nobody answered in time: {action}").format(action=action)
    return AgentEntry(approval.decided_at or approval.created_at or "", approval.agent, sentence, "warn")


def _name(key: str) -> str:
    try:
        return translated(known_component("actions", key).name)
    except PatchbayError:
        return key


def _time(at: str | int | None) -> str:
    """A time as services write it: text, or epoch milliseconds."""
    if isinstance(at, int):
        return iso(at)
    try:
        return iso(parse_iso(at or ""))
    except ValueError:
        return ""


@dataclass(frozen=True, slots=True)
class Value:
    """A value by its label."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class WaitingCall:
    """One call, in words. ``destroys``: whether it may delete something."""

    approval: Approval
    action: str
    app: str
    account: str
    values: Sequence[Value]
    destroys: bool

    @property
    def gist(self) -> str:
        """The values in one short line."""
        line = " · ".join(f"{value.label}: {value.text}" for value in self.values)
        return line if len(line) <= MAX_GIST else line[:MAX_GIST].rstrip() + "…"


def _read_waiting(approval: Approval, accounts: Overview | None) -> WaitingCall:
    """``approval`` in words, with the names that its app and action have for them."""
    component = _component(approval.component_key)
    props = {prop.name: prop for prop in component.props} if component else {}
    app = app_of(approval.app)
    return WaitingCall(
        approval,
        action=translated(component.name) if component else approval.component_key,
        app=app.name if app else approval.app,
        account=_accounts(approval, props, accounts),
        values=tuple(_values(approval, props)),
        destroys=component is None or component.effect == "destroys",
    )


def _keep_count(approvals: Sequence[Approval]) -> list[Approval]:
    """Those of ``approvals`` that wait; how many they are is remembered for :func:`count`."""
    calls = [approval for approval in approvals if approval.state == "waiting"]
    dashboard().waiting.put(viewer().key, len(calls))
    return calls


def count_waiting(*, fresh: bool = False) -> int | None:
    """The number of calls that wait for the viewer; unless ``fresh``, None if it was not read recently."""
    return len(_keep_count(agents().approvals())) if fresh else dashboard().waiting.get(viewer().key)


def _component(key: str) -> Component | None:
    try:
        return known_component("actions", key)
    except PatchbayError:
        return None


def _accounts(approval: Approval, props: Mapping[str, Prop], accounts: Overview | None) -> str:
    """The accounts that it works with, by their names."""
    values = [value for name, value in approval.values.items() if _is_account(props.get(name), value)]
    known = [accounts.find(str(value["authProvisionId"])) for value in values] if accounts else []
    return ", ".join(account.title for account in known if account)


def _is_account(prop: Prop | None, value: Any) -> bool:
    """Whether ``value`` chooses an account, and does not just look so."""
    return prop is not None and prop.type == "app" and isinstance(value, dict) and "authProvisionId" in value


def _values(approval: Approval, props: Mapping[str, Prop]) -> list[Value]:
    shown = []
    for name, value in approval.values.items():
        prop = props.get(name)
        label = translated(prop.label) if prop else name
        if name in approval.hidden:
            shown.append(Value(label, gettext("Hidden, as it is secret")))
        elif not _is_account(prop, value) and value not in (None, "", []):
            shown.append(Value(label, _text(value)))
    return shown


def _text(value: Any) -> str:
    """``value`` as text: bidirectional control characters are spelled out, and what is left out is counted."""
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() if isinstance(value, dict | list) else plain(value)
    shown = text[:MAX_SHOWN].translate(_TURNING)
    if len(text) <= MAX_SHOWN:
        return shown
    return gettext("{text}… and {count} more characters").format(text=shown, count=f"{len(text) - MAX_SHOWN:,}")


class AgentQuery(ListQuery):
    """Which app is open, and for which assistant the address is shown."""

    app: Annotated[str, at_most(100)] = ""
    host: Annotated[str, at_most(20)] = ""
    after: Annotated[str, at_most(1_000)] = ""


@blueprint.get("/agents")
def index() -> AnyResponse:
    """The page; for htmx the list of what agents may do, with another app open."""
    query = AgentQuery.of_request()
    apps = _apps()
    template, part = "dashboard/agents/index.html", "dashboard/agents/_apps.html"
    context = _permissions(apps, query.app)
    if not wants_fragment():
        context |= _around(query)
    return page(template, part, url=query.url(), query=query, **context)


@blueprint.get("/agents/waiting")
def waiting_now() -> AnyResponse:
    """The waiting calls, for a page that polls; empty if it shows them already."""
    context = _waiting(agents().approvals())
    if request.args.get("known") == context["waiting_mark"]:
        return make_response("", 204)
    return make_response(fragment("dashboard/agents/_waiting.html", announced=True, **context))


@blueprint.get("/agents/waiting/count")
def waiting_count() -> AnyResponse:
    """The number of waiting calls, for the menu of a page that polls."""
    count = count_waiting(fresh=True)
    return make_response(fragment("dashboard/agents/_count.html", count=count))


@blueprint.post("/agents/permissions")
def permit() -> AnyResponse:
    """Choose what agents may do with an action, or with all of an app."""
    form = request.form
    level = form.get("level", "")
    if level not in (*LEVELS, ""):
        abort(400)
    app, action = form.get("app", ""), form.get("action", "")
    slug = "" if app == NO_APP else app
    agents().permit(level or None, app=slug, action=action)  # type: ignore[arg-type]  # one of the levels
    if wants_fragment():
        return make_response(fragment("dashboard/agents/_apps.html", **_permissions(_apps(), app)))
    return go(url_for(".index", app=app, _anchor=f"app-{app}"))


@blueprint.post("/agents/<agent_id>/end")
def end(agent_id: str) -> AnyResponse:
    """Let an agent in no more."""
    agents().end(agent_id)
    flash(gettext("Its access is revoked."), "ok")
    return go(url_for(".index"))


@blueprint.post("/agents/<agent_id>/let-in")
def let_in(agent_id: str) -> AnyResponse:
    """Let an agent in again."""
    agents().let_in(agent_id)
    flash(gettext("It may connect again."), "ok")
    return go(url_for(".index"))


@blueprint.post("/agents/approvals/<approval_id>")
def decide(approval_id: str) -> AnyResponse:
    """Answer a call that waits."""
    yes = request.form.get("answer") == "yes"
    try:
        agents().decide(approval_id, yes=yes)
    except (Conflict, Forbidden) as error:
        flash(error.message, "bad")
    else:
        flash(gettext("You approved it. The agent may do it now, once.") if yes else gettext("You refused it."), "ok")
    return go(url_for(".index"))


@blueprint.get("/agents/history")
def history() -> AnyResponse:
    """Everything that agents ran."""
    query = AgentQuery.of_request()
    runs = read_from(query.after, lambda after: agents().runs(limit=PER_PAGE, after=after))
    template = "dashboard/agents/history.html"
    return page(template, template, query=query, runs=runs, entries=entries_of_runs(runs.items))


def counted(counts: Counts) -> str:
    """The number of an app's actions with each level, such as ``2 on, 1 asks, 1 off``."""
    parts = (
        gettext("{count} on").format(count=counts.on) if counts.on else "",
        ngettext("{count} asks", "{count} ask", counts.ask).format(count=counts.ask) if counts.ask else "",
        gettext("{count} off").format(count=counts.off) if counts.off else "",
    )
    return ", ".join(part for part in parts if part)


def _apps() -> PageOf[AgentApp]:
    """The apps. Raises an error of a missing page if the service has no agents."""
    apps = agents().apps()
    if apps is None:
        abort(404)
    return apps


def _permissions(apps: PageOf[AgentApp], opened: str) -> dict[str, Any]:
    known = if_up(known_accounts)
    slugs = {app.anchor: app.slug for app in apps.items}
    actions = agents().actions(slugs[opened]) if opened in slugs else ()
    accounts = {slug: known.of_app(slug) for slug in slugs.values()} if known else {}
    return {
        "apps": apps.items,
        "opened": opened,
        "actions": actions,
        "accounts": accounts,
        "levels": LEVELS,
        "counted": counted,
    }


def _around(query: AgentQuery) -> dict[str, Any]:
    approvals = agents().approvals()
    runs = agents().runs(limit=NEWEST) if viewer().may("connect:actions:*") else PageOf[Run]()
    return {
        **_waiting(approvals),
        "address": f"{dashboard().settings.connect_base}/mcp",
        "hosts": HOSTS,
        "host": host_of(query.host),
        "agents": agents().agents(),
        "entries": entries(runs.items, approvals, NEWEST),
        "entry_count": runs.total,
    }


def _waiting(approvals: tuple[Approval, ...]) -> dict[str, Any]:
    """The calls that wait, and what names this very set of them."""
    known = if_up(known_accounts)
    calls = [_read_waiting(approval, known) for approval in _keep_count(approvals)]
    return {"waiting": calls, "waiting_mark": stable_id("w", *(call.approval.id for call in calls))}
