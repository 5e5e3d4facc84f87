"""Deploys a trigger from the page of its component, or redeploys the trigger that is edited there."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, flash, make_response, url_for
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models.components import Kind
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.client.transport import ServiceDown
from webapp.dashboard.component import drafts, forms, prop_values
from webapp.dashboard.component.forms import ComponentForm, DeployForm, from_request, sent_first_time
from webapp.dashboard.component.prop_values import InvalidValue
from webapp.dashboard.component.rendering import Feedback, errors_in_words, full_page
from webapp.dashboard.component.runs import at_fields, refused
from webapp.dashboard.dashboard import dashboard, forget_triggers, viewer
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.pages import fragment, go, wants_fragment
from webapp.errors import Invalid, PatchbayError, Throttled, Unauthorized
from webapp.kit.translation import gettext
from webapp.kit.translation import lazy as _

blueprint = Blueprint("deploying", __name__, url_prefix="/apps/<slug>/<any(actions, triggers):kind>/<component:key>")

_UNSURE = _("The service did not answer in time. Look at your triggers first: it may be there already.")


@blueprint.post("/deployment")
def deploy(slug: str, kind: Kind, key: str) -> AnyResponse:
    """Deploy the trigger, or redeploy the one that is edited, unless values are missing."""
    form, problem = _trigger(kind, slug, key).renewed()
    form.save()
    deployment = forms.deploy_form(form)
    configured, errors = form.values()
    errors |= deployment.problems()
    if problem or errors:
        return refused(form, errors, problem or errors_in_words(form, errors))
    if not sent_first_time():
        flash(gettext("This was sent already and is not sent twice."), "ok")
        return go(url_for("dashboard.triggers.index"))
    try:
        return _done(form, _sent(form, configured, deployment))
    except PatchbayError as error:
        return _failed(form, error)


@blueprint.post("/schedule/<path:name>")
def schedule(slug: str, kind: Kind, key: str, name: str) -> AnyResponse:
    """The entered schedule in words."""
    form = _trigger(kind, slug, key)
    prop = form.find(name)
    try:
        value = prop_values.read_value(prop, form.data)
        sentence, bad = prop_values.schedule_in_words(None if value is prop_values.ABSENT else value), False
    except InvalidValue as error:
        sentence, bad = str(error), True
    if not wants_fragment():
        return full_page(form, Feedback())
    return make_response(fragment("dashboard/components/_schedule.html", sentence=sentence, bad=bad))


def _trigger(kind: Kind, slug: str, key: str) -> ComponentForm:
    """The posted form of a trigger. Raises :class:`NoPage` for actions, which cannot be deployed."""
    if kind != "triggers":
        raise NoPage
    return from_request(kind, slug, key)


def _sent(form: ComponentForm, configured: Mapping[str, Any], deployment: DeployForm) -> Trigger:
    if form.trigger:
        return client().update(form.trigger.id, **forms.redeployment_body(form, configured, deployment))
    body: dict[str, Any] = {
        "id": form.component.key,
        "configured_props": dict(configured),
        "emit_on_deploy": deployment.emit,
    }
    body |= {"dynamic_props_id": form.dynamic.id} if form.dynamic.id else {}
    body |= {"webhook_url": deployment.url} if deployment.url else {}
    body |= {"name": deployment.name} if deployment.name else {}
    trigger = client().deploy(body)
    if deployment.url and trigger.signing_key:
        sentence = gettext("Trigger is on. Signing key for this webhook:")
        dashboard().one_time_secrets.put(f"{viewer().key} {trigger.id}", sentence, trigger.signing_key)
    return _named(trigger, deployment.name)


def _named(trigger: Trigger, name: str) -> Trigger:
    """Set the trigger's name, if the service ignored it when deploying."""
    if not name or name == trigger.name:
        return trigger
    try:
        return client().update(trigger.id, name=name)
    except PatchbayError as error:
        flash(gettext("Trigger is on, but keeps its old name. {reason}").format(reason=error.message), "bad")
        return trigger


def _done(form: ComponentForm, trigger: Trigger) -> AnyResponse:
    drafts.drop(dashboard().store, viewer().owner, form.draft)
    forget_triggers()
    sentence = gettext("“{name}” is saved.")
    if not form.trigger:
        sentence = gettext("“{name}” is on.")
    flash(sentence.format(name=trigger.title), "ok")
    return go(url_for("dashboard.trigger.show", trigger_id=trigger.id))


def _failed(form: ComponentForm, error: PatchbayError) -> Response:
    """The page with the service's errors at their fields. Errors that concern every page are raised again."""
    if isinstance(error, Throttled | Unauthorized):
        raise error
    if isinstance(error, ServiceDown):
        return refused(form, {}, _UNSURE)
    errors = at_fields(form, error, forms.DEPLOY_FIELDS) if isinstance(error, Invalid) else {}
    return refused(form, errors, errors_in_words(form, errors) if errors else error.message)
