"""Deleting a trigger: the page that asks, and says what ends with it, and the deletion itself.

When what it set up at the app cannot be taken down, the page says so and offers to delete it anyway.
"""

from flask import Blueprint, Response, flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.dashboard import forget_triggers
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.pages import go
from webapp.dashboard.trigger import frame as frames
from webapp.dashboard.trigger.frame import Frame
from webapp.dashboard.trigger.triggers import template_helpers
from webapp.errors import NotFound, PatchbayError, Throttled, Unauthorized
from webapp.kit.translation import gettext, translated

# What the service says, with its advice at the end.
_NOT_DELETED = (
    "It was not deleted, because it could not be unsubscribed: {failure_sentence} "
    "Try again, or delete it with ignore_hook_errors=true."
)
blueprint = Blueprint("deletion", __name__, url_prefix="/triggers/<trigger_id>/deletion")


@blueprint.get("")
def page(trigger_id: str) -> AnyResponse:
    """Ask before deleting, and say what ends."""
    return _ask(frames.load(trigger_id))


@blueprint.post("")
def delete(trigger_id: str) -> AnyResponse:
    """Delete it; when what it set up elsewhere cannot be taken down, say so and offer to go on anyway."""
    frame, anyway = frames.load(trigger_id), bool(request.form.get("anyway"))
    try:
        client().delete(trigger_id, ignore_hook_errors=anyway)
    except (Throttled, Unauthorized, NotFound):
        raise
    except PatchbayError as error:
        return _ask(frame, trouble=_why(error.message))
    forget_triggers()
    flash(gettext("“{name}” is deleted.").format(name=frame.trigger.name), "ok")
    return go(url_for("dashboard.triggers.index"))


def _ask(frame: Frame, trouble: str = "") -> Response:
    context = {"frame": frame, "trigger": frame.trigger, "trouble": trouble, **template_helpers()}
    return make_response(render_template("dashboard/trigger/deletion.html", **context), 422 if trouble else 200)


def _why(sentence: str) -> str:
    """Why it was not deleted, without the advice for programs: the page has a button for that."""
    advice = translated(_NOT_DELETED).partition("{failure_sentence}")[2].strip()
    return sentence.removesuffix(advice).rstrip()
