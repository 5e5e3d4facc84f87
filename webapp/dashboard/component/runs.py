"""Runs an action from its page, and shows its history: a run can be viewed, restored to the form and repeated."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from flask import Blueprint, Response, flash, render_template, request
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import logs
from webapp.dashboard.client.models.components import Kind
from webapp.dashboard.client.models.runs import Outcome
from webapp.dashboard.component import results
from webapp.dashboard.component.component import changes
from webapp.dashboard.component.forms import ComponentForm, from_draft, from_request, sent_first_time
from webapp.dashboard.component.rendering import (
    Feedback,
    address,
    choose_columns,
    context,
    errors_in_words,
    full_page,
    history,
    newest,
    part,
    place_of,
    result_context,
)
from webapp.dashboard.dashboard import components, known_accounts
from webapp.dashboard.pages import go, wants_fragment
from webapp.errors import Invalid, PatchbayError
from webapp.kit.translation import gettext
from webapp.kit.translation import lazy as _

blueprint = Blueprint("runs", __name__, url_prefix="/apps/<slug>/<any(actions, triggers):kind>/<component:key>/runs")

LARGE_RESULT = 200_000  # bytes as JSON; the history keeps a little more with the rest of a run
_TWICE = _("This was sent already and ran once. Its result is in the history below.")


@blueprint.post("")
def create(slug: str, kind: Kind, key: str) -> AnyResponse:
    """Run the action, unless values are missing or the person must confirm it first."""
    form = _action(from_request(kind, slug, key))
    before = form.props
    form, problem = form.renewed()
    form.save()
    values, errors = form.values()
    if problem or errors:
        return refused(form, errors, problem or _appeared(before, form, errors))
    if form.component.effect != "reads" and not request.form.get("confirmed"):
        return part("_asked.html", form) if wants_fragment() else full_page(form, Feedback(confirm=True), 422)
    return _run(form, values)


@blueprint.get("/<run_id>")
def past(slug: str, kind: Kind, key: str, run_id: str) -> Response:
    """The page with the result of an earlier run."""
    form = _action(from_draft(kind, slug, key))
    return full_page(form, Feedback(outcome=components().past(run_id)))


@blueprint.get("/entries/<entry_id>")
def entry(slug: str, kind: Kind, key: str, entry_id: str) -> AnyResponse:
    """What a row of the earlier runs opens, or its page."""
    return logs.show_entry(place_of(_action(from_draft(kind, slug, key))), entry_id)


@blueprint.get("/news")
def news(slug: str, kind: Kind, key: str) -> AnyResponse:
    """What is new among the earlier runs since the page was rendered; an open page polls every few seconds."""
    return logs.show_news(place_of(_action(from_draft(kind, slug, key))))


@blueprint.post("/<run_id>/values")
def values(slug: str, kind: Kind, key: str, run_id: str) -> AnyResponse:
    """Fill in the values of an earlier run."""
    form = _action(from_draft(kind, slug, key))
    inputs = components().past(run_id).inputs
    form, _ = form.filled(inputs).renewed()
    form = form.filled(inputs)
    form.save()
    flash(gettext("The values of that run are filled in. Check them, then run."), "ok")
    return go(address(form))


@blueprint.post("/<run_id>/columns")
def columns(slug: str, kind: Kind, key: str, run_id: str) -> AnyResponse:
    """Remember the columns of the component's results, and show the result with them."""
    form = _action(from_draft(kind, slug, key))
    run = components().past(run_id)
    choose_columns(form, request.form.getlist("column")[: results.MAX_COLUMNS])
    file_id = request.form.get("whole", "")
    if not wants_fragment() and not file_id:
        return go(address(form, "past", run_id=run_id) + "#result")
    if file_id:
        run = run.model_copy(update={"result": components().stashed_json(file_id)})
    feedback = Feedback(outcome=run, whole=file_id)
    if not wants_fragment():
        return full_page(form, feedback)
    return part("_result.html", form, feedback, **result_context(form, feedback))


@blueprint.get("/<run_id>/result.csv")
def result_csv(slug: str, kind: Kind, key: str, run_id: str) -> Response:
    """The result of a run as CSV, to be saved."""
    form = _action(from_draft(kind, slug, key))
    return _download(form, results.csv_of(_result(run_id)), "csv", "text/csv")


@blueprint.get("/<run_id>/result.json")
def result_json(slug: str, kind: Kind, key: str, run_id: str) -> Response:
    """The result of a run as JSON, to be saved."""
    form = _action(from_draft(kind, slug, key))
    return _download(form, json.dumps(_result(run_id), ensure_ascii=False, indent=2), "json", "application/json")


def _result(run_id: str) -> Any:
    """The result of a run: from the file that ``?whole=`` names, or as the history has it."""
    file_id = request.args.get("whole", "")
    return components().stashed_json(file_id) if file_id else components().past(run_id).result


def _download(form: ComponentForm, text: str, ending: str, media_type: str) -> Response:
    response = Response(text.encode("utf-8", "replace"), mimetype=media_type)
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", form.component.key).strip("-") or "result"
    response.headers.set("Content-Disposition", "attachment", filename=f"{name}.{ending}")
    return response


@blueprint.get("/<run_id>/again")
def again_page(slug: str, kind: Kind, key: str, run_id: str) -> str:
    """Ask for confirmation before repeating a run, and show its values."""
    form = _action(from_draft(kind, slug, key))
    run = components().past(run_id)
    return render_template(
        "dashboard/components/again.html",
        run=run,
        lost=_lost(form, run.inputs),
        **context(form),
    )


@blueprint.post("/<run_id>/again")
def again(slug: str, kind: Kind, key: str, run_id: str) -> AnyResponse:
    """Run the action with exactly the values of an earlier run."""
    form = _action(from_draft(kind, slug, key))
    run = components().past(run_id)
    return _run(form, run.inputs, run.dynamic_id)


def _run(form: ComponentForm, values: Mapping[str, Any], dynamic_id: str | None = None) -> AnyResponse:
    if not sent_first_time():
        return _answer(form, Feedback(sentence=_TWICE), 409)
    try:
        outcome = components().run(form.component, values, form.dynamic.id if dynamic_id is None else dynamic_id)
    except Invalid as error:
        if errors := at_fields(form, error):
            return refused(form, errors, _appeared(form.props, form, errors))
        outcome = Outcome(error=error.message)
    except PatchbayError as error:
        outcome = Outcome(error=error.message)
    if not outcome.ok:  # the account's state may have changed
        form = replace(form, overview=known_accounts(fresh=True))
    return _answer(form, Feedback(outcome=outcome, whole=_kept_whole(outcome)))


def _kept_whole(outcome: Outcome) -> str:
    """The id of a file with the result, if it is larger than what the history keeps; "" if there is none."""
    text = json.dumps(outcome.result, ensure_ascii=False).encode("utf-8", "replace")
    if len(text) < LARGE_RESULT:
        return ""
    try:
        file = components().upload("result.json", text)
    except PatchbayError:  # there is no room for it
        return ""
    return file.id if file else ""


def at_fields(form: ComponentForm, error: Invalid, others: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """The service's errors by prop, or by one of ``others``, which are fields by what the API calls them; empty unless
    all of them concern fields of this form."""
    errors = {
        others.get(detail.field, detail.field.removeprefix("configured_props.")): detail.message
        for detail in error.details
    }
    return errors if errors.keys() <= {*(prop.name for prop in form.visible_props), *others.values()} else {}


def _answer(form: ComponentForm, feedback: Feedback, code: int = 200) -> Response:
    """The page, or for htmx the parts that changed: the result, and after errors the form."""
    if not wants_fragment():
        return full_page(form, feedback, code)
    if code == 422:
        return part("_refused.html", form, feedback, code)
    earlier = history(form) if feedback.outcome else None
    return part("_ran.html", form, feedback, code, history=earlier, **result_context(form, feedback, newest(earlier)))


def refused(form: ComponentForm, errors: Mapping[str, str], sentence: str) -> Response:
    """The page, or its form, with errors."""
    return _answer(form, Feedback(errors=errors, sentence=sentence), 422)


def _appeared(before: tuple[Any, ...], form: ComponentForm, errors: Mapping[str, str]) -> str:
    """A sentence about ``errors``: new required fields, or the number of errors."""
    if form.props != before and (news := changes(before, form)):
        return gettext("{news} Fill in what is marked, then run.").format(news=news)
    return errors_in_words(form, errors)


def _lost(form: ComponentForm, inputs: Mapping[str, Any]) -> list[str]:
    """The labels of the secrets that the run had, which are not stored."""
    return [prop.label for prop in form.props if prop.secret and not prop.optional and not inputs.get(prop.name)]


def _action(form: ComponentForm) -> ComponentForm:
    if form.component.kind != "actions":
        raise NoPage
    return form
