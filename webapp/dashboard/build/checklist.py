"""The checklist of a new installation, for developers and owners: its steps, and which of them are done.

A step is done when something shows that it was: one call of the API, and the logins. The API knows it from the audit,
which is kept for ever, so progress survives a restart, and what is deleted later stays done. Only a step that nothing
shows is marked by hand.
Each person hides the checklist from Apps, and shows it again, for themselves.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, abort, flash, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.build import projects
from webapp.dashboard.client.build.projects import ProjectProgress
from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.gate import person
from webapp.dashboard.pages import address, go
from webapp.errors import PatchbayError
from webapp.kit.translation import gettext
from webapp.kit.translation import lazy as _
from webapp.people import checklist, invitations, roles, users

blueprint = Blueprint("checklist", __name__, url_prefix="/checklist")
NEXT = 3  # steps on Apps


@dataclass(frozen=True, slots=True)
class Step:
    """A step: what to do, why, where, how it is known to be done, and who may do it.

    Without ``is_done``, the field of its name in :class:`ProjectProgress` says so. One that is ``by_hand`` can also be
    marked as done. ``without_sandbox`` takes the place of ``gist`` where none runs.
    """

    glyph: str
    label: str
    gist: str
    url: Callable[[], str]
    is_done: Callable[[], bool] | None = None
    roles: tuple[str, ...] = roles.DEVELOPERS
    by_hand: bool = False
    without_sandbox: str = ""

    @property
    def why(self) -> str:
        """Its gist, which is another where no sandbox runs."""
        return self.gist if dashboard().settings.sandbox or not self.without_sandbox else self.without_sandbox


def _page(endpoint: str, **values: Any) -> Callable[[], str]:
    return lambda: address(f"dashboard.{endpoint}", **values)


def _of_sandbox(endpoint: str, **values: Any) -> Callable[[], str]:
    """A page of the sandbox's app, or the list of apps where there is no sandbox."""

    def url() -> str:
        if dashboard().settings.sandbox:
            return address(f"dashboard.{endpoint}", slug="sandbox", **values)
        return address("dashboard.apps.index")

    return url


STEPS: Mapping[str, Step] = {
    "account": Step(
        "accounts",
        _("Connect a first account"),
        _("“Sandbox Tasks” is part of Patchbay: it needs no account anywhere."),
        _of_sandbox("apps.show"),
        without_sandbox=_("Choose an app that you have an account with."),
    ),
    "action": Step(
        "play",
        _("Run an action"),
        _("Fill in a form, run it, and copy the same call as code."),
        _of_sandbox("components.index", kind="actions"),
    ),
    "trigger": Step(
        "triggers",
        _("Deploy a trigger"),
        _("Get an event at a webhook URL whenever something happens in an app."),
        _of_sandbox("components.index", kind="triggers"),
    ),
    "client": Step(
        "key",
        _("Create an OAuth client"),
        _("Your server signs in to the API with its client ID and secret."),
        _page("build_keys.section", section="clients"),
    ),
    "embed": Step(
        "embed",
        _("Embed the Connect Link"),
        _("Your server creates Connect tokens, your pages open the Link. Done with your server’s first call."),
        _page("build_embed.page"),
    ),
    "oauth_app": Step(
        "apps",
        _("Add an app’s OAuth client"),
        _("People sign in to GitHub, Google or Slack with a client that you register there."),
        _page("build_apps.page"),
        roles=roles.OWNERS,
    ),
    "people": Step(
        "people",
        _("Invite a colleague"),
        _("Send a link, and choose a role."),
        _page("build_people.page"),
        lambda: bool(invitations.list_open(dashboard().store)) or len(users.all_users(dashboard().store)) > 1,
        roles.OWNERS,
    ),
    "key": Step(
        "shield",
        _("Back up the instance key"),
        _("Without it nobody can read the credentials in a backup. Keep it in another place than the backups."),
        lambda: "/docs/operate#keys-and-backups",
        lambda: dashboard().settings.secret_key is not None,
        roles.OWNERS,
        by_hand=True,
    ),
}


@dataclass(frozen=True, slots=True)
class Progress:
    """The steps of a person's role by name, and the names of those that are done: ``seen`` to be, or marked."""

    steps: Mapping[str, Step]
    seen: frozenset[str]
    done: frozenset[str]

    @property
    def next(self) -> list[Step]:
        """The first steps that are not done."""
        return [step for name, step in self.steps.items() if name not in self.done][:NEXT]


def read(*, fresh: bool = True) -> Progress:
    """The progress now, or unless ``fresh`` a few seconds ago: what was done in this dashboard since then counts.

    A step whose service does not answer counts as not done.
    """
    steps = {name: step for name, step in STEPS.items() if viewer().role in step.roles}
    kept, seen = dashboard().done_steps, set[str]()
    for name in steps:
        if kept.get(viewer().here(name)):
            seen.add(name)
    told = _told(fresh) if any(step.is_done is None for name, step in steps.items() if name not in seen) else None
    for name in steps.keys() - seen:
        is_done = steps[name].is_done
        if is_done() if is_done else getattr(told, name):
            kept.put(viewer().here(name), True)
            seen.add(name)
    marked = {name for name in checklist.marked(dashboard().store) if name in steps and steps[name].by_hand}
    return Progress(steps, frozenset(seen), frozenset(seen | marked))


def _told(fresh: bool) -> ProjectProgress:
    kept, key = dashboard().progress, viewer().here("progress")
    try:
        return (None if fresh else kept.get(key)) or kept.put(key, projects.progress(viewer().client))
    except PatchbayError:
        return ProjectProgress()


def on_apps() -> Progress | None:
    """What Apps shows of it: nothing to members, to those who hid it, and when everything is done."""
    if not viewer().may_build or checklist.is_hidden(dashboard().store, person().id):
        return None
    progress = read(fresh=False)
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
