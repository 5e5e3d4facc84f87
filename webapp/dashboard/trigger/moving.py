"""Moving a trigger to another version of its component: it stays on the one that it was started with until then."""

from flask import Blueprint, flash, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.dashboard import forget_triggers
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.pages import go
from webapp.errors import NotFound, PatchbayError, Throttled, Unauthorized
from webapp.kit.translation import gettext, translated

blueprint = Blueprint("moving", __name__, url_prefix="/triggers/<trigger_id>/version")


@blueprint.post("")
def move(trigger_id: str) -> AnyResponse:
    """Have it run with the version that the form names from now on."""
    try:
        trigger = client().update(trigger_id, version=request.form.get("version", "")[:100])
    except (Throttled, Unauthorized, NotFound):
        raise
    except PatchbayError as error:
        flash(gettext("It was not moved. {reason}").format(reason=translated(error.message)), "bad")
    else:
        sentence = gettext("“{name}” runs with version {version} now.")
        flash(sentence.format(name=trigger.name, version=trigger.version), "ok")
    forget_triggers()
    return go(url_for("dashboard.trigger.show", trigger_id=trigger_id))
