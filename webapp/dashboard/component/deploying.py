"""Deploying a trigger from the page of its component, once; and redeploying one that is being edited."""

import secrets
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, flash, make_response, request, url_for
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models.components import Kind
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.client.transport import ServiceDown
from webapp.dashboard.component import deploy_form, drafts, schedule_words, values
from webapp.dashboard.component import desk as desks
from webapp.dashboard.component.deploy_form import DeployForm
from webapp.dashboard.component.desk import Desk
from webapp.dashboard.component.page import Said, context, renewed, whole
from webapp.dashboard.component.runs import at_fields
from webapp.dashboard.dashboard import dashboard, person
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.htmx import fragment, go, wants_fragment
from webapp.dashboard.problems import Problem
from webapp.dashboard.trigger.index import changed
from webapp.errors import Invalid, PatchbayError, Throttled, Unauthorized
from webapp.kit.translation import gettext, ngettext
from webapp.kit.translation import lazy as _

blueprint = Blueprint("deploying", __name__, url_prefix="/apps/<slug>/<any(actions, triggers):kind>/<component:key>")

_UNSURE = _("The service did not answer in time. Look at your triggers first: it may be there already.")


@blueprint.post("/deployment")
def deploy(slug: str, kind: Kind, key: str) -> AnyResponse:
    """Deploy it, or redeploy the trigger that is edited, unless something is missing."""
    desk, problem = renewed(_trigger(kind, slug, key))
    desk.save()
    form = deploy_form.of(desk)
    given, errors = desk.values()
    errors |= form.problems()
    if problem or errors:
        return _refused(desk, errors, problem or _count(errors))
    board, once = dashboard(), request.form.get("once", "")[:100] or secrets.token_urlsafe(16)
    if not drafts.claim_run(board.store, board.clock, person().id, once):
        flash(gettext("This was sent already and is not sent twice."), "ok")
        return go(url_for("dashboard.triggers.index"))
    try:
        trigger = _sent(desk, given, form)
    except (Throttled, Unauthorized):
        raise
    except ServiceDown:
        return _refused(desk, {}, _UNSURE)
    except PatchbayError as error:
        errors = at_fields(desk, error) if isinstance(error, Invalid) else {}
        return _refused(desk, errors, _count(errors) if errors else error.message)
    return _done(desk, trigger)


@blueprint.post("/schedule/<path:name>")
def schedule(slug: str, kind: Kind, key: str, name: str) -> AnyResponse:
    """The schedule that is filled in, in words."""
    desk = _trigger(kind, slug, key)
    prop = desk.find(name)
    try:
        value = values.read(prop, desk.fields)
        said, bad = schedule_words.in_words(None if value is values.ABSENT else value), False
    except Problem as problem:
        said, bad = str(problem), True
    if not wants_fragment():
        return whole(desk, Said())
    return make_response(fragment("dashboard/components/_schedule.html", said=said, bad=bad))


def _trigger(kind: Kind, slug: str, key: str) -> Desk:
    """The desk of a trigger; actions are not deployed."""
    if kind != "triggers":
        raise NoPage
    return desks.posted(kind, slug, key)


def _sent(desk: Desk, given: Mapping[str, Any], form: DeployForm) -> Trigger:
    if desk.trigger:
        return client().update(desk.trigger.id, **deploy_form.changes(desk, given, form))
    body: dict[str, Any] = {
        "id": desk.component.key,
        "configured_props": dict(given),
        "emit_on_deploy": form.emit,
    }
    body |= {"dynamic_props_id": desk.dynamic.id} if desk.dynamic.id else {}
    body |= {"webhook_url": form.url} if form.url else {}
    body |= {"name": form.name} if form.name else {}
    trigger = client().deploy(body)
    if form.url and trigger.signing_key:
        kept = (gettext("Deployed. This is the signing key of its address"), trigger.signing_key)
        dashboard().shown_once.put(f"{person().id} {trigger.id}", kept)
    return _named(trigger, form.name)


def _named(trigger: Trigger, name: str) -> Trigger:
    """The specification's deploy takes no name: where ours was ignored it is given afterwards."""
    if not name or name == trigger.name:
        return trigger
    try:
        return client().update(trigger.id, name=name)
    except PatchbayError as error:
        flash(gettext("It is deployed, but not renamed. {reason}").format(reason=error.message), "bad")
        return trigger


def _done(desk: Desk, trigger: Trigger) -> AnyResponse:
    drafts.drop(dashboard().store, person().id, desk.draft)
    changed()
    sentence = gettext("“{name}” is redeployed.")
    if not desk.trigger:
        sentence = gettext("“{name}” is deployed and watches from now on.")
    flash(sentence.format(name=trigger.name), "ok")
    return go(url_for("dashboard.trigger.show", trigger_id=trigger.id))


def _refused(desk: Desk, errors: Mapping[str, str], sentence: str) -> Response:
    said = Said(errors=errors, trouble=sentence)
    if not wants_fragment():
        return whole(desk, said, 422)
    return make_response(fragment("dashboard/components/_refused.html", **context(desk, said)), 422)


def _count(errors: Mapping[str, str]) -> str:
    sentence = ngettext("One field needs you first.", "{count} fields need you first.", len(errors))
    return sentence.format(count=len(errors))
