"""Pausing a trigger and resuming it: the switch, and what stands around it as it is from then on."""

from flask import Blueprint, flash, make_response, request
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.dashboard import forget_triggers
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.pages import fragment, go, wants_fragment
from webapp.dashboard.return_paths import page_before
from webapp.dashboard.trigger import frame as frames
from webapp.dashboard.trigger.triggers import template_helpers
from webapp.errors import NotFound, PatchbayError
from webapp.kit.translation import gettext

blueprint = Blueprint("pausing", __name__, url_prefix="/triggers/<trigger_id>/pause")


@blueprint.route("", methods=["POST", "DELETE"])
def pause(trigger_id: str) -> AnyResponse:
    """Pause it, or with DELETE resume it; a form without JavaScript says ``resume``."""
    resume = request.method == "DELETE" or bool(request.form.get("resume"))
    before = client().find(trigger_id)
    try:
        trigger = client().update(trigger_id, active=resume)
    except NotFound:
        raise
    except PatchbayError as error:
        sentence = gettext("“{name}” could not be paused. {reason}")
        if resume:
            sentence = gettext("“{name}” could not be resumed. {reason}")
        return _toggled(before, sentence.format(name=before.name, reason=error.message), "bad")
    sentence = gettext("“{name}” is active again.") if resume else gettext("“{name}” is paused; nothing is sent.")
    return _toggled(trigger, sentence.format(name=trigger.name), "ok")


def _toggled(trigger: Trigger, sentence: str, tone: str) -> AnyResponse:
    """Its switch as it is now, and what stands around it; the page of one trigger asks for more of that."""
    forget_triggers()
    if not wants_fragment():
        flash(sentence, tone)
        return go(page_before())
    frame = frames.load(trigger.id) if request.args.get("whole") else None
    trigger = frame.trigger if frame else trigger
    context = {"trigger": trigger, "frame": frame, "sentence": sentence, "tone": tone, **template_helpers()}
    return make_response(fragment("dashboard/triggers/_toggled.html", **context))
