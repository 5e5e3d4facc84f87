"""To which of the project's workflows a trigger sends its events, for roles that Build is for."""

from flask import Blueprint, abort, flash, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.build.workflows import NamedWorkflow, Workflows
from webapp.dashboard.dashboard import forget_triggers, viewer
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.pages import go
from webapp.dashboard.trigger import frame as frames
from webapp.dashboard.trigger.triggers import template_helpers
from webapp.kit.translation import gettext

blueprint = Blueprint("trigger_workflows", __name__, url_prefix="/triggers/<trigger_id>/workflows")


@blueprint.get("")
def page(trigger_id: str) -> str:
    """The choice."""
    choices, frame = _choices(), frames.load(trigger_id)
    return render_template(
        "dashboard/trigger/workflows.html", trigger=frame.trigger, choices=choices,
        chosen={workflow.id for workflow in frame.workflows}, **template_helpers(),
    )  # fmt: skip


@blueprint.post("")
def save(trigger_id: str) -> AnyResponse:
    """Send to those that are ticked, and to no other."""
    known = [workflow.id for workflow in _choices()]
    ticked = [workflow_id for workflow_id in known if workflow_id in request.form.getlist("workflow")]
    before = [workflow.id for workflow in client().workflows(trigger_id)]
    client().set_workflows(trigger_id, [*(other for other in before if other not in known), *ticked])
    forget_triggers()
    flash(gettext("The workflows are saved."), "ok")
    return go(url_for("dashboard.trigger.show", trigger_id=trigger_id))


def _choices() -> tuple[NamedWorkflow, ...]:
    """The project's workflows; to other roles and where there are none, this page is not there."""
    workflows = Workflows(viewer().client).list() if viewer().may_build else None
    return workflows.items if workflows is not None else abort(404)
