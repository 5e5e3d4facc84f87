"""The page of a component: its form, look-ups of options, dynamic fields and the draft.

Every form of the page contains all values, so each route first saves them as the draft. Running actions is left to
:mod:`.runs`, deploying triggers to :mod:`.deploying`.
"""

from contextlib import suppress
from dataclasses import replace

from flask import Blueprint, flash, make_response, redirect, request
from flask.blueprints import BlueprintSetupState
from markupsafe import escape
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.routing import BaseConverter
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models.components import Kind, Prop, labels
from webapp.dashboard.component import drafts, fields, prop_values
from webapp.dashboard.component.forms import ComponentForm, from_draft, from_request, uploaded
from webapp.dashboard.component.prop_values import InvalidValue
from webapp.dashboard.component.rendering import Feedback, address, full_page, part
from webapp.dashboard.dashboard import components, dashboard, public_url, service, viewer
from webapp.dashboard.pages import go, wants_fragment
from webapp.errors import Invalid, NotFound, TooLarge
from webapp.kit.translation import gettext

blueprint = Blueprint("component", __name__, url_prefix="/apps/<slug>/<any(actions, triggers):kind>/<component:key>")


class KeyConverter(BaseConverter):
    """The key of a component in a path; keys of the operator's own components begin with ``~/``."""

    regex = r"(?:~/)?[^/]+"
    part_isolating = False


@blueprint.record_once
def _add_converter(state: BlueprintSetupState) -> None:
    state.app.url_map.converters["component"] = KeyConverter


@blueprint.get("")
def show(slug: str, kind: Kind, key: str) -> AnyResponse:
    """The page with the draft; after connecting, with the new account selected."""
    form = from_draft(kind, slug, key)
    if request.args.get("account_id"):
        return _connected(form, request.args["account_id"])
    refused = gettext("Nothing was connected. What you filled in is still here.") if request.args.get("error") else ""
    return full_page(form, Feedback(sentence=refused))


@blueprint.post("/draft")
def save(slug: str, kind: Kind, key: str) -> AnyResponse:
    """Save the draft; for htmx, return the badge and the code samples."""
    form = from_request(kind, slug, key)
    kept = form.save()
    if wants_fragment():
        return part("_saved.html", form, kept=kept)
    if form.refused_files:
        return full_page(form, Feedback(errors=form.refused_files), 422)
    sentence = gettext("Saved as a draft.") if kept else gettext("This is too large to keep as a draft.")
    flash(sentence, "ok" if kept else "bad")
    return go(address(form))


@blueprint.post("/draft/reset")
def reset(slug: str, kind: Kind, key: str) -> AnyResponse:
    """Delete the draft."""
    form = from_request(kind, slug, key)
    drafts.drop(dashboard().store, viewer().owner, form.draft)
    flash(gettext("The draft is deleted, and the form is reset."), "ok")
    return go(address(form))


@blueprint.post("/fields", endpoint="fields")
def reload_fields(slug: str, kind: Kind, key: str) -> AnyResponse:
    """Reload the dynamic fields, and look up the text of a picker's search."""
    before = from_request(kind, slug, key)
    form, problem = before.renewed()
    form.save()
    errors = {prop.name: problem for prop in before.visible_props if prop.reloads} if problem else form.wrong_answers()
    problem = problem or next(iter(errors.values()), "")
    tone, sentence = ("bad", problem) if problem else ("ok", changes(before.props, form))
    if wants_fragment():
        feedback = Feedback(errors=errors, added=[prop.name for prop in _appeared(before.props, form)])
        return part("_fields_changed.html", form, feedback, sentence=sentence, tone=tone)
    if sentence:
        flash(sentence, tone)
    searched = [prop for prop in form.visible_props if request.form.get(f"q.{prop.name}", "").strip()]
    lists = {prop.name: fields.look_up(form, prop, more=False) for prop in searched}
    return full_page(form, Feedback(errors=errors, option_lists=lists))


@blueprint.post("/options/<path:name>", endpoint="options")
def look_up(slug: str, kind: Kind, key: str, name: str) -> AnyResponse:
    """The options of a prop: the first, the matching, or with ``more`` the next ones."""
    form, more = from_request(kind, slug, key), bool(request.form.get("more"))
    if not wants_fragment():
        form, _ = form.renewed()
    form.save()
    prop = form.find(name)
    options = fields.look_up(form, prop, more=more)
    if not wants_fragment():
        return full_page(form, Feedback(option_lists={prop.name: options}))
    template = "_tables.html" if prop.type == "sql" else "_options.html"
    return part(template, form, field=fields.field_of(form, prop, option_list=options), focus=more)


@blueprint.post("/rows/<path:name>")
def rows(slug: str, kind: Kind, key: str, name: str) -> AnyResponse:
    """Add an empty row, or switch an object between rows and JSON, as the form says."""
    form = from_request(kind, slug, key)
    prop, mode, problem = form.find(name), request.form.get("to", ""), ""
    if mode in ("rows", "json"):
        form, problem = _rewritten(form, prop, mode)
    form.save()
    feedback = Feedback(errors={prop.name: problem} if problem else {})
    if not wants_fragment():
        return full_page(form, feedback)
    return part("_one_field.html", form, feedback, field=fields.field_of(form, prop, problem))


@blueprint.post("/files/<path:name>")
def upload(slug: str, kind: Kind, key: str, name: str) -> AnyResponse:
    """Take a file for a prop at once; return it as its list shows it, or a sentence why it is not taken."""
    form = from_request(kind, slug, key)
    prop, sent = form.find(name), request.files.getlist("file")
    if prop_values.control(prop) != "file" or form.component.kind != "actions":
        raise NoPage
    try:
        if len(sent) != 1 or not sent[0].filename:
            raise Invalid(gettext("Choose one file at a time; a folder cannot be sent."))
        file = uploaded(sent[0])
    except (Invalid, TooLarge) as error:
        return make_response(str(escape(error.message)), error.status)
    field = replace(fields.field_of(form, prop), data={prop_values.field_name(name): [prop_values.encode(file)]})
    return part("_files.html", form, field=field)


@blueprint.post("/removed_files")
def remove_file(slug: str, kind: Kind, key: str) -> AnyResponse:
    """Delete an uploaded file that was removed from the form, before its day is over."""
    from_request(kind, slug, key)
    with suppress(NotFound):
        components().delete_file(prop_values.file_id(request.form.get("key", "")) or "none")
    return make_response("", 204)


@blueprint.post("/accounts")
def connect(slug: str, kind: Kind, key: str) -> AnyResponse:
    """Save the draft and redirect to the Connect Link for a new or broken account, which returns to this page."""
    form = from_request(kind, slug, key)
    form.save()
    name, back = request.form.get("connect", ""), public_url(address(form))
    broken = form.overview.find(request.form.get("reconnect", ""))
    if broken:
        action = form.component.key if request.form.get("more") else ""
        link = service().link(success=back, error=back, app=broken.app.slug, account_id=broken.id, action=action)
        return go(link)
    app = next((prop.app for prop in form.visible_props if prop.name == name and prop.app), form.app.slug)
    return go(service().link(success=back, error=back, app=app))


def _appeared(before: tuple[Prop, ...], form: ComponentForm) -> list[Prop]:
    """The fields of ``form`` that were not among the props ``before``."""
    names = {prop.name for prop in before}
    return [prop for prop in form.visible_props if prop.name not in names]


def changes(before: tuple[Prop, ...], form: ComponentForm) -> str:
    """A sentence about what a reload changed, or ""."""
    now, added = {prop.name for prop in form.visible_props}, _appeared(before, form)
    gone = [prop for prop in before if prop.name not in now and prop_values.control(prop) and not form.leaves_out(prop)]
    if not added and not gone:
        return ""
    if not gone:
        sentence = gettext("Fields updated: added {added}. Your other answers are kept.")
    elif not added:
        sentence = gettext("Fields updated: removed {removed}. Your other answers are kept.")
    else:
        sentence = gettext("Fields updated: added {added}; removed {removed}. Your other answers are kept.")
    return sentence.format(added=labels(added), removed=labels(gone))


def _rewritten(form: ComponentForm, prop: Prop, mode: str) -> tuple[ComponentForm, str]:
    """The form with an object as rows or as JSON, and why it cannot be shown as rows, if so."""
    try:
        value = prop_values.read_value(prop.model_copy(update={"optional": True}), form.data)
    except InvalidValue as problem:
        return form, str(problem)
    own = prop_values.of_prop(form.data, prop)
    others = {name: texts for name, texts in form.data.items() if name not in own}
    members = {} if value is prop_values.ABSENT else value
    if mode == "json":
        return replace(form, data=others | prop_values.as_json(prop, members)), ""
    written = prop_values.write_value(prop, members)
    if written.get(prop_values.field_name(prop.name, "mode")) != ["rows"]:
        sentence = gettext("“{label}” contains values that are not text, so it stays JSON.")
        return form, sentence.format(label=prop.label)
    return replace(form, data=others | written), ""


def _connected(form: ComponentForm, account_id: str) -> AnyResponse:
    """Select the new account in its prop, and redirect to the page's own URL."""
    account = form.overview.find(account_id)
    if account is not None:
        fitting = [prop for prop in form.visible_props if prop.type == "app" and prop.app in ("", account.app.slug)]
        for prop in fitting[:1]:
            form = replace(form, data={**form.data, prop_values.field_name(prop.name): [account.id]})
        form.save()
        sentence = gettext("{account} is connected and chosen. What you filled in is still here.")
        flash(sentence.format(account=account.title), "ok")
    return redirect(address(form), 303)
