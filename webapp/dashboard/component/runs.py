"""Running an action from its page, once; and its history: looking at a run, filling its values in, running it again."""

import secrets
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, flash, make_response, render_template, request
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models.components import Kind
from webapp.dashboard.client.models.runs import Outcome
from webapp.dashboard.component import desk as desks
from webapp.dashboard.component import drafts
from webapp.dashboard.component import page as pages
from webapp.dashboard.component.desk import Desk, components
from webapp.dashboard.component.page import Said, address, context, history, renewed, whole
from webapp.dashboard.dashboard import dashboard, person
from webapp.dashboard.htmx import fragment, go, wants_fragment
from webapp.errors import Invalid, PatchbayError
from webapp.kit.translation import gettext, ngettext
from webapp.kit.translation import lazy as _

blueprint = Blueprint("runs", __name__, url_prefix="/apps/<slug>/<any(actions, triggers):kind>/<component:key>/runs")

_TWICE = _("This was sent already and ran once. Its result is in the history below.")


@blueprint.post("")
def create(slug: str, kind: Kind, key: str) -> AnyResponse:
    """Run it, unless something is missing or has to be asked first."""
    desk = _action(desks.posted(kind, slug, key))
    before = desk.props
    desk, problem = renewed(desk)
    desk.save()
    values, errors = desk.values()
    if problem or errors:
        return _refused(desk, errors, problem or _appeared(before, desk, errors))
    if desk.component.effect != "reads" and not request.form.get("confirmed"):
        return _answer(desk, Said(ask=True), 422)
    return _run(desk, values)


@blueprint.get("/<run_id>")
def past(slug: str, kind: Kind, key: str, run_id: str) -> Response:
    """The page with the outcome of an earlier run."""
    desk = _action(desks.opened(kind, slug, key))
    return whole(desk, Said(outcome=components().past(run_id)))


@blueprint.post("/<run_id>/values")
def values(slug: str, kind: Kind, key: str, run_id: str) -> AnyResponse:
    """Fill the values of an earlier run in again."""
    desk = _action(desks.opened(kind, slug, key))
    desk = desks.filled(desk, components().past(run_id).inputs)
    desk, _ = renewed(desk)
    desk = desks.filled(desk, components().past(run_id).inputs)
    desk.save()
    flash(gettext("The values of that run are filled in. Look at them, then run."), "ok")
    return go(address(desk))


@blueprint.get("/<run_id>/again")
def again_page(slug: str, kind: Kind, key: str, run_id: str) -> str:
    """Ask before running the same again, and show with what."""
    desk = _action(desks.opened(kind, slug, key))
    run = components().past(run_id)
    return render_template(
        "dashboard/components/again.html",
        run=run,
        lost=_lost(desk, run.inputs),
        **context(desk),
    )


@blueprint.post("/<run_id>/again")
def again(slug: str, kind: Kind, key: str, run_id: str) -> AnyResponse:
    """Run with exactly the values of that run."""
    desk = _action(desks.opened(kind, slug, key))
    run = components().past(run_id)
    return _run(desk, run.inputs, run.dynamic_id)


def _run(desk: Desk, values: Mapping[str, Any], dynamic_id: str | None = None) -> AnyResponse:
    board = dashboard()
    once = request.form.get("once", "")[:100] or secrets.token_urlsafe(16)
    if not drafts.claim_run(board.store, board.clock, person().id, once):
        return _answer(desk, Said(trouble=_TWICE), 409)
    try:
        outcome = components().run(desk.component, values, desk.dynamic.id if dynamic_id is None else dynamic_id)
    except Invalid as error:
        if errors := at_fields(desk, error):
            return _refused(desk, errors, _appeared(desk.props, desk, errors))
        outcome = Outcome(error=error.message)
    except PatchbayError as error:
        outcome = Outcome(error=error.message)
    return _answer(desk, Said(outcome=outcome))


def at_fields(desk: Desk, error: Invalid) -> dict[str, str]:
    """What the service says of each value, by prop; nothing unless all of it is about fields of this form."""
    said = {detail.field.removeprefix("configured_props."): detail.message for detail in error.details}
    return said if said and said.keys() <= {prop.name for prop in desk.asked} else {}


def _answer(desk: Desk, said: Said, code: int = 200) -> Response:
    """The page, or for htmx what changed: the outcome, and after a refusal the form."""
    if not wants_fragment():
        return whole(desk, said, code)
    if code == 422:
        return make_response(fragment("dashboard/components/_refused.html", **context(desk, said)), code)
    found = history(desk) if said.outcome else {}
    return make_response(fragment("dashboard/components/_ran.html", **context(desk, said), **found), code)


def _refused(desk: Desk, errors: Mapping[str, str], sentence: str) -> Response:
    return _answer(desk, Said(errors=errors, trouble=sentence), 422)


def _appeared(before: tuple[Any, ...], desk: Desk, errors: Mapping[str, str]) -> str:
    """What to do about ``errors``: new fields, or one sentence that counts them."""
    if desk.props != before and (news := pages.changes(before, desk)):
        return gettext("{news} Fill in what is marked, then run.").format(news=news)
    sentence = ngettext("One field needs you before this can run.", "{count} fields need you first.", len(errors))
    return sentence.format(count=len(errors))


def _lost(desk: Desk, inputs: Mapping[str, Any]) -> list[str]:
    """Labels of what was needed for the run and is not kept: secrets."""
    return [prop.label for prop in desk.props if prop.secret and not prop.optional and not inputs.get(prop.name)]


def _action(desk: Desk) -> Desk:
    if desk.component.kind != "actions":
        raise NoPage
    return desk
