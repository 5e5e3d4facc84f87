"""The targets of a trigger's events: its webhook URLs with their signing keys, and workflows of the project.

A signing key is only in the response to a person who requests it and whose role may see it. Workflows are for the roles
that can open Build.
"""

from flask import Blueprint, abort, flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.build.workflows import NamedWorkflow, Workflows
from webapp.dashboard.client.models.deliveries import Endpoint
from webapp.dashboard.dashboard import dashboard, forget_triggers, viewer
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.pages import fragment, go, wants_fragment
from webapp.dashboard.trigger import frame as frames
from webapp.dashboard.trigger.frame import Frame
from webapp.dashboard.trigger.triggers import template_helpers
from webapp.errors import Invalid
from webapp.kit.translation import gettext

blueprint = Blueprint("webhooks", __name__, url_prefix="/triggers/<trigger_id>/webhooks")
workflows = Blueprint("trigger_workflows", __name__, url_prefix="/triggers/<trigger_id>/workflows")


@blueprint.post("")
def add(trigger_id: str) -> AnyResponse:
    """Have events sent to one more URL."""
    frame, url = frames.load(trigger_id), request.form.get("url", "").strip()
    try:
        _check(frame, url)
        client().set_urls(trigger_id, [*(endpoint.url for endpoint in frame.endpoints), url])
    except Invalid as error:
        why = error.details[0].message if error.details else error.message
        return _destinations(frame, 422, url=url, error=why)
    return _changed(trigger_id, gettext("Events go to {url} too.").format(url=url))


@blueprint.get("/<endpoint_id>/removal")
def removal_page(trigger_id: str, endpoint_id: str) -> str:
    """Ask before an address is forgotten with its key."""
    frame, endpoint = _of(trigger_id, endpoint_id)
    return _question(
        frame, endpoint, "removal",
        heading=gettext("Remove this webhook URL?"), button=gettext("Remove"), tone="danger", text=gettext(
            "{url} receives nothing more from “{trigger}”, not even pending deliveries, and its signing key is "
            "deleted. What was sent stays in the list of deliveries."
        ).format(
            url=_shown(endpoint), trigger=frame.trigger.title
        ),
    )  # fmt: skip


@blueprint.post("/<endpoint_id>/removal")
def remove(trigger_id: str, endpoint_id: str) -> AnyResponse:
    """Remove one URL."""
    frame, endpoint = _of(trigger_id, endpoint_id)
    client().set_urls(trigger_id, [other.url for other in frame.endpoints if other.id != endpoint.id])
    forget_triggers()
    flash(gettext("{url} is removed.").format(url=_shown(endpoint)), "ok")
    return _back(trigger_id)


@blueprint.post("/<endpoint_id>/reset")
def reset(trigger_id: str, endpoint_id: str) -> AnyResponse:
    """Enable an address that failed or was switched off."""
    _, endpoint = _of(trigger_id, endpoint_id)
    client().reset(trigger_id, endpoint.id)
    return _changed(trigger_id, gettext("Deliveries to {url} resume.").format(url=_shown(endpoint)))


@blueprint.post("/<endpoint_id>/key")
def reveal(trigger_id: str, endpoint_id: str) -> AnyResponse:
    """Show the signing key, if the person's role may see it."""
    frame, endpoint = _allowed(trigger_id, endpoint_id)
    return _with_key(frame, endpoint, client().signing_key(trigger_id, endpoint.id))


@blueprint.get("/<endpoint_id>/rotation")
def rotation_page(trigger_id: str, endpoint_id: str) -> str:
    """Ask for confirmation before the key is replaced."""
    frame, endpoint = _allowed(trigger_id, endpoint_id)
    heading, button = gettext("Create a new signing key?"), gettext("Create a new key")
    return _question(
        frame, endpoint, "rotation", heading=heading, button=button, tone="", text=gettext(
            "From then on, deliveries to {url} are signed with the new key. The receiver refuses them until you use "
            "the new key there."
        ).format(url=endpoint.url),
    )  # fmt: skip


@blueprint.post("/<endpoint_id>/rotation")
def rotate(trigger_id: str, endpoint_id: str) -> AnyResponse:
    """Make a new key; the page that follows shows it once."""
    frame, endpoint = _allowed(trigger_id, endpoint_id)
    sentence = gettext("This is the new signing key for {url}").format(url=endpoint.url)
    key = client().rotate_key(trigger_id, endpoint.id)
    dashboard().one_time_secrets.put(f"{viewer().key} {frame.trigger.id}", sentence, key)
    return _back(trigger_id)


def _check(frame: Frame, url: str) -> None:
    if not url.lower().startswith(("http://", "https://")):
        raise Invalid(gettext("Write the whole address, beginning with https:// or http://."))
    if any(endpoint.url == url for endpoint in frame.endpoints):
        raise Invalid(gettext("Events go there already."))


def _of(trigger_id: str, endpoint_id: str) -> tuple[Frame, Endpoint]:
    """The trigger as its owner has it, and one of its addresses."""
    frame = frames.load(trigger_id)
    endpoint = next((endpoint for endpoint in frame.endpoints if endpoint.id == endpoint_id), None)
    return (frame, endpoint) if endpoint else abort(404)


def _shown(endpoint: Endpoint) -> str:
    """Its address, as far as the person may see it."""
    return endpoint.url if viewer().may_build else endpoint.masked


def _allowed(trigger_id: str, endpoint_id: str) -> tuple[Frame, Endpoint]:
    if not viewer().may_build:
        abort(403)
    return _of(trigger_id, endpoint_id)


def _with_key(frame: Frame, endpoint: Endpoint, key: str) -> AnyResponse:
    context = frames.context_of(frame, "events") | {"revealed": {endpoint.id: key}}
    if wants_fragment():
        return make_response(fragment("dashboard/trigger/_place.html", place=endpoint, **context))
    return make_response(render_template("dashboard/trigger/key.html", place=endpoint, **context))


def _changed(trigger_id: str, sentence: str) -> AnyResponse:
    """The updated targets, with a message; without JavaScript a redirect to the trigger's page."""
    forget_triggers()
    if not wants_fragment():
        flash(sentence, "ok")
        return _back(trigger_id)
    return _destinations(frames.load(trigger_id), sentence=sentence)


def _destinations(frame: Frame, code: int = 200, *, sentence: str = "", url: str = "", error: str = "") -> AnyResponse:
    """The updated targets; without JavaScript the page with a refused address."""
    context = frames.context_of(frame, "events") | {"sentence": sentence, "url": url, "error": error}
    if wants_fragment():
        return make_response(fragment("dashboard/trigger/_places_changed.html", **context), code)
    return make_response(render_template("dashboard/trigger/address.html", **context), code)


def _question(frame: Frame, endpoint: Endpoint, verb: str, *, heading: str, text: str, button: str, tone: str) -> str:
    return render_template(
        "dashboard/trigger/question.html", trigger=frame.trigger, heading=heading, text=text, button=button, tone=tone,
        confirm_url=url_for(f"dashboard.webhooks.{'remove' if verb == 'removal' else 'rotate'}",
                            trigger_id=frame.trigger.id, endpoint_id=endpoint.id),
        **template_helpers(),
    )  # fmt: skip


def _back(trigger_id: str) -> AnyResponse:
    return go(url_for("dashboard.trigger.show", trigger_id=trigger_id))


@workflows.get("")
def page(trigger_id: str) -> str:
    """The choice."""
    choices, frame = _choices(), frames.load(trigger_id)
    return render_template(
        "dashboard/trigger/workflows.html", trigger=frame.trigger, choices=choices,
        chosen={workflow.id for workflow in frame.workflows}, **template_helpers(),
    )  # fmt: skip


@workflows.post("")
def save(trigger_id: str) -> AnyResponse:
    """Set the ticked workflows."""
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
