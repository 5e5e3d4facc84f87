"""The Agents page: the address for an assistant, what agents may do, which came in, what waits for a yes, and what they
did. In a portal the same, but for the address."""

from collections.abc import Mapping
from typing import Annotated, Any

from flask import Blueprint, abort, flash, make_response, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.agents import entries, waiting
from webapp.dashboard.agents.hosts import HOSTS, host_of
from webapp.dashboard.client.models.agents import NO_APP, AgentApp, Approval, Counts
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.dashboard import agents, dashboard, if_up, known_accounts
from webapp.dashboard.pages import ListQuery, at_most, fragment, go, page, read_from, wants_fragment
from webapp.errors import Conflict, Forbidden
from webapp.kit.crypto import stable_id
from webapp.kit.translation import gettext, ngettext
from webapp.kit.translation import lazy as _

blueprint = Blueprint("agents", __name__)

NEWEST, PER_PAGE = 8, 30
LEVELS: Mapping[str, str] = {"off": _("Off"), "ask": _("Ask"), "on": _("On")}


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
    """What waits for a yes, for a page that looks again and again; nothing where that is what it shows already."""
    context = _waiting(agents().approvals())
    if request.args.get("known") == context["waiting_mark"]:
        return make_response("", 204)
    return make_response(fragment("dashboard/agents/_waiting.html", announced=True, **context))


@blueprint.get("/agents/waiting/count")
def waiting_count() -> AnyResponse:
    """How many calls wait, for the menu of a page that looks again and again."""
    count = waiting.count(fresh=True)
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
    flash(gettext("Its access is ended."), "ok")
    return go(url_for(".index"))


@blueprint.post("/agents/<agent_id>/let-in")
def let_in(agent_id: str) -> AnyResponse:
    """Let an agent in again."""
    agents().let_in(agent_id)
    flash(gettext("It may come in again."), "ok")
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
        flash(gettext("You said yes. The agent may do it now, once.") if yes else gettext("You refused it."), "ok")
    return go(url_for(".index"))


@blueprint.get("/agents/history")
def history() -> AnyResponse:
    """Everything that agents ran."""
    query = AgentQuery.of_request()
    runs = read_from(query.after, lambda after: agents().runs(limit=PER_PAGE, after=after))
    template = "dashboard/agents/history.html"
    return page(template, template, query=query, runs=runs, entries=entries.of_runs(runs.items))


def counted(counts: Counts) -> str:
    """How many actions of an app have each level, such as ``2 on, 1 asks, 1 off``."""
    parts = (
        gettext("{count} on").format(count=counts.on) if counts.on else "",
        ngettext("{count} asks", "{count} ask", counts.ask).format(count=counts.ask) if counts.ask else "",
        gettext("{count} off").format(count=counts.off) if counts.off else "",
    )
    return ", ".join(part for part in parts if part)


def _apps() -> PageOf[AgentApp]:
    """The apps; there is no such page where the service knows no agents."""
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
    approvals, runs = agents().approvals(), agents().runs(limit=NEWEST)
    return {
        **_waiting(approvals),
        "address": f"{dashboard().settings.connect_base}/mcp",
        "hosts": HOSTS,
        "host": host_of(query.host),
        "agents": agents().agents(),
        "entries": entries.together(runs.items, approvals, NEWEST),
        "entry_count": runs.total,
    }


def _waiting(approvals: tuple[Approval, ...]) -> dict[str, Any]:
    """The calls that wait, and what names this very set of them."""
    known = if_up(known_accounts)
    calls = [waiting.read(approval, known) for approval in waiting.keep(approvals)]
    return {"waiting": calls, "waiting_mark": stable_id("w", *(call.approval.id for call in calls))}
