"""The checklist of a new installation, for developers and owners: its steps, and which of them are done.

A step is done when something shows that it was: the audit, which is kept for ever, and else the API and the logins. So
progress survives a restart, and what is deleted later stays done. Only a step that nothing tells of is marked by hand.
Each person hides the checklist from Apps, and shows it again, for themselves.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, abort, flash, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import menu
from webapp.dashboard.client.build import usage
from webapp.dashboard.client.build.clients import Clients
from webapp.dashboard.client.connect import ConnectClient, object_of
from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.gate import person
from webapp.dashboard.pages import go
from webapp.errors import PatchbayError
from webapp.kit.clock import DAY, SECOND
from webapp.kit.translation import gettext
from webapp.kit.translation import lazy as _
from webapp.people import checklist, invitations, users

blueprint = Blueprint("checklist", __name__, url_prefix="/checklist")
ENVIRONMENTS = ("development", "production")
USAGE_DAYS = 365
NEXT = 3  # steps on Apps


@dataclass(frozen=True, slots=True)
class Step:
    """A step: what to do, why, where, how it is known to be done, and who may do it.

    One that is ``by_hand`` can also be marked as done. ``without_sandbox`` takes the place of ``gist`` where none runs.
    """

    glyph: str
    label: str
    gist: str
    url: Callable[[], str]
    is_done: Callable[[], bool]
    roles: tuple[str, ...] = menu.DEVELOPERS
    by_hand: bool = False
    without_sandbox: str = ""

    @property
    def why(self) -> str:
        """Its gist, which is another where no sandbox runs."""
        return self.gist if dashboard().settings.sandbox or not self.without_sandbox else self.without_sandbox


def _page(endpoint: str, **values: Any) -> Callable[[], str]:
    return lambda: url_for(f"dashboard.{endpoint}", **values)


def _of_sandbox(endpoint: str, **values: Any) -> Callable[[], str]:
    """A page of the sandbox's app, or the list of apps where there is no sandbox."""

    def url() -> str:
        if dashboard().settings.sandbox:
            return url_for(f"dashboard.{endpoint}", slug="sandbox", **values)
        return url_for("dashboard.apps.index")

    return url


def _audited(noun: str) -> Callable[[], bool]:
    """Whether the audit has anything about a ``noun`` in this project, in either environment."""

    def is_done() -> bool:
        entries = (client.audit({"noun": noun}, limit=1) for client in _scenes())
        return any(page is not None and page.items for page in entries)

    return is_done


def _ran() -> bool:
    """Whether an action was run: one is kept, or counted in the last year."""
    kept = (client.as_project("GET", client.path("runs"), params={"limit": 1}) for client in _scenes())
    if any(object_of(page).get("data") for page in kept):
        return True
    now = dashboard().clock()
    counted = usage.hours(viewer().client, (now - USAGE_DAYS * DAY) // SECOND, now // SECOND + 1)
    return any(hour.runs for hour in counted or ())


def _embedded() -> bool:
    """Whether a server of the product has called the API."""
    own = dashboard().settings.connect_client_id
    known = Clients(viewer().client).list()
    return any(client.last_used is not None for client in (known.items if known else ()) if client.id != own)


def _scenes() -> Iterable[ConnectClient]:
    client = viewer().client
    chosen = client.project_id if viewer().in_chosen_project else ""
    return (client.within(chosen, environment) for environment in ENVIRONMENTS)


STEPS: Mapping[str, Step] = {
    "account": Step(
        "accounts",
        _("Connect a first account"),
        _("“Sandbox Tasks” is part of Patchbay: it needs no account anywhere."),
        _of_sandbox("apps.show"),
        _audited("account"),
        without_sandbox=_("Choose an app that you have an account with."),
    ),
    "action": Step(
        "play",
        _("Run an action"),
        _("Fill in a form, run it, and copy the same call as code."),
        _of_sandbox("components.index", kind="actions"),
        _ran,
    ),
    "trigger": Step(
        "triggers",
        _("Deploy a trigger"),
        _("Get an event at a webhook URL whenever something happens in an app."),
        _of_sandbox("components.index", kind="triggers"),
        _audited("trigger"),
    ),
    "client": Step(
        "key",
        _("Create an OAuth client"),
        _("Your server signs in to the API with its client ID and secret."),
        _page("build_keys.section", section="clients"),
        _audited("client"),
    ),
    "embed": Step(
        "embed",
        _("Embed the Connect Link"),
        _("Your server creates Connect tokens, your pages open the Link. Done with your server’s first call."),
        _page("build_embed.page"),
        _embedded,
    ),
    "oauth_app": Step(
        "apps",
        _("Add an app’s OAuth client"),
        _("People sign in to GitHub, Google or Slack with a client that you register there."),
        _page("build_apps.page"),
        _audited("oauth_app"),
        menu.OWNERS,
    ),
    "people": Step(
        "people",
        _("Invite a colleague"),
        _("Send a link, and choose a role."),
        _page("build_people.page"),
        lambda: bool(invitations.list_open(dashboard().store)) or len(users.all_users(dashboard().store)) > 1,
        menu.OWNERS,
    ),
    "key": Step(
        "shield",
        _("Back up the instance key"),
        _("Without it nobody can read the credentials in a backup. Keep it in another place than the backups."),
        lambda: "/docs/operate#keys-and-backups",
        lambda: dashboard().settings.secret_key is not None,
        menu.OWNERS,
        by_hand=True,
    ),
}


@dataclass(frozen=True, slots=True)
class Progress:
    """The steps of a person's role by name, and the names of those that are done."""

    steps: Mapping[str, Step]
    done: frozenset[str]

    @property
    def next(self) -> list[Step]:
        """The first steps that are not done."""
        return [step for name, step in self.steps.items() if name not in self.done][:NEXT]


def read() -> Progress:
    """The progress now. A step whose service does not answer counts as not done."""
    steps = {name: step for name, step in STEPS.items() if viewer().role in step.roles}
    marked = checklist.marked(dashboard().store)
    return Progress(steps, frozenset(name for name in steps if _is_done(name, marked)))


def _is_done(name: str, marked: frozenset[str]) -> bool:
    step = STEPS[name]
    if step.by_hand and name in marked:
        return True
    kept, key = dashboard().done_steps, viewer().here(f"{viewer().role} {name}")
    if kept.get(key):
        return True
    try:
        return step.is_done() and kept.put(key, True)
    except PatchbayError:
        return False


def on_apps() -> Progress | None:
    """What Apps shows of it: nothing to members, to those who hid it, and when everything is done."""
    if not viewer().may_build or checklist.is_hidden(dashboard().store, person().id):
        return None
    progress = read()
    return progress if progress.next else None


@blueprint.before_request
def check() -> None:
    """Members have no checklist."""
    if not viewer().may_build:
        abort(404)


@blueprint.get("")
def page() -> str:
    """All steps."""
    hidden = checklist.is_hidden(dashboard().store, person().id)
    return render_template(
        "dashboard/build/checklist/page.html",
        progress=read(),
        hidden=hidden,
        example=dashboard().settings.example_url,
    )


@blueprint.post("/hidden")
def hide() -> AnyResponse:
    """Hide it from Apps, for this person."""
    checklist.mark(dashboard().store, dashboard().clock, person().id, checklist.HIDDEN)
    flash(gettext("The checklist is hidden. Settings lead to it."), "ok")
    return go(url_for("dashboard.apps.index"))


@blueprint.post("/shown")
def show() -> AnyResponse:
    """Show it on Apps again."""
    checklist.unmark(dashboard().store, checklist.HIDDEN, user_id=person().id)
    return go(url_for("dashboard.checklist.page"))


@blueprint.post("/steps/<name>")
def set_step(name: str) -> AnyResponse:
    """Mark a step as done, or as not done, of which nothing else tells."""
    step = STEPS.get(name)
    if step is None or not step.by_hand or viewer().role not in step.roles:
        abort(404)
    if request.form.get("done"):
        checklist.mark(dashboard().store, dashboard().clock, person().id, name)
    else:
        checklist.unmark(dashboard().store, name)
    return go(url_for("dashboard.checklist.page"))
