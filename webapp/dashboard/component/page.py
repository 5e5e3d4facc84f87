"""The page of one component: fill it in, look options up, let fields follow, keep it as a draft.

Every form of the page carries all that is filled in, so each answer starts by keeping it. Running is :mod:`.runs`'.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from flask import Blueprint, Response, flash, make_response, redirect, render_template, request, url_for
from flask.blueprints import BlueprintSetupState
from werkzeug.routing import BaseConverter
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models.components import Kind, Prop, labels
from webapp.dashboard.client.models.runs import Outcome
from webapp.dashboard.component import deploy_form, drafts, drawing, form_fields, panels, schedule_words, values
from webapp.dashboard.component import desk as desks
from webapp.dashboard.component.desk import Desk, components
from webapp.dashboard.component.panels import Panel
from webapp.dashboard.component.snippets import snippets
from webapp.dashboard.dashboard import dashboard, person, public_url, service
from webapp.dashboard.htmx import fragment, go, wants_fragment
from webapp.dashboard.problems import Problem
from webapp.dashboard.rich import rich
from webapp.errors import PatchbayError
from webapp.kit.translation import gettext
from webapp.people.preferences import time_zones

blueprint = Blueprint("component", __name__, url_prefix="/apps/<slug>/<any(actions, triggers):kind>/<component:key>")

HISTORY = 10
_NOUNS = {
    **dict.fromkeys(("create", "past", "again_page", "again", "values"), "runs"),
    **dict.fromkeys(("deploy", "schedule"), "deploying"),
}


class KeyConverter(BaseConverter):
    """The key of a component in a path; an installation's own keys begin with ``~/``."""

    regex = r"(?:~/)?[^/]+"
    part_isolating = False


@blueprint.record_once
def _add_converter(state: BlueprintSetupState) -> None:
    state.app.url_map.converters["component"] = KeyConverter


@dataclass(frozen=True, slots=True)
class Said:
    """What a page says besides the form: problems by prop, open panels, an outcome, a sentence, and whether to ask."""

    errors: Mapping[str, str] | None = None
    panels: Mapping[str, Panel] | None = None
    outcome: Outcome | None = None
    ask: bool = False
    trouble: str = ""


@blueprint.get("")
def show(slug: str, kind: Kind, key: str) -> AnyResponse:
    """The page as the person left it; back from connecting, with the new account."""
    desk = desks.opened(kind, slug, key)
    if request.args.get("account_id"):
        return _connected(desk, request.args["account_id"])
    code = request.args.get("error", "")
    return whole(
        desk, Said(trouble=gettext("Nothing was connected. What you filled in is still here.") if code else "")
    )


@blueprint.post("/draft")
def save(slug: str, kind: Kind, key: str) -> AnyResponse:
    """Keep what is filled in; for htmx the badge and the request that follows from it."""
    desk = desks.posted(kind, slug, key)
    kept = desk.save()
    if not wants_fragment():
        sentence = gettext("Saved as a draft.") if kept else gettext("This is too large to keep as a draft.")
        flash(sentence, "ok" if kept else "bad")
        return go(address(desk))
    return make_response(fragment("dashboard/components/_saved.html", kept=kept, **context(desk)))


@blueprint.post("/draft/reset")
def reset(slug: str, kind: Kind, key: str) -> AnyResponse:
    """Start again with nothing filled in."""
    desk = desks.posted(kind, slug, key)
    drafts.drop(dashboard().store, person().id, desk.draft)
    flash(gettext("The draft is gone; everything is as at first."), "ok")
    return go(address(desk))


@blueprint.post("/fields")
def fields(slug: str, kind: Kind, key: str) -> AnyResponse:
    """Let the fields follow from the answers; and look up what was typed into a picker's search."""
    before = desks.posted(kind, slug, key)
    desk, problem = renewed(before)
    desk.save()
    found: dict[str, Panel] = {}
    for prop in desk.asked:
        if request.form.get(f"q.{prop.name}", "").strip() and not wants_fragment():
            found[prop.name] = panels.look_up(desk, prop, more=False)
    said = Said(panels=found, errors=_blame(before, problem))
    sentence = problem or changes(before.props, desk)
    if not wants_fragment():
        if sentence:
            flash(sentence, "bad" if problem else "ok")
        return whole(desk, said)
    return make_response(
        fragment("dashboard/components/_fields_changed.html", sentence=sentence, tone="bad" if problem else "ok",
                 **context(desk, said))
    )  # fmt: skip


@blueprint.post("/options/<path:name>")
def options(slug: str, kind: Kind, key: str, name: str) -> AnyResponse:
    """Options of one prop: the first ones, those that match, or with ``more`` the next ones."""
    desk = desks.posted(kind, slug, key)
    if not wants_fragment():
        desk, _ = renewed(desk)
    desk.save()
    prop = desk.find(name)
    panel = panels.look_up(desk, prop, more=bool(request.form.get("more")))
    if not wants_fragment():
        return whole(desk, Said(panels={prop.name: panel}))
    template = "_tables.html" if prop.type == "sql" else "_options.html"
    return make_response(
        fragment(f"dashboard/components/{template}", field=drawing.draw(desk, prop, panel=panel),
                 focus=bool(request.form.get("more")), **context(desk))
    )  # fmt: skip


@blueprint.post("/rows/<path:name>")
def rows(slug: str, kind: Kind, key: str, name: str) -> AnyResponse:
    """Another empty row, or the other way to write an object; the form alone decides which."""
    desk = desks.posted(kind, slug, key)
    prop, wanted = desk.find(name), request.form.get("to", "")
    problem = ""
    if wanted in ("rows", "json"):
        desk, problem = _rewritten(desk, prop, wanted)
    desk.save()
    said = Said(errors={prop.name: problem} if problem else {})
    if not wants_fragment():
        return whole(desk, said)
    one = drawing.draw(desk, prop, problem)
    return make_response(fragment("dashboard/components/_one_field.html", field=one, **context(desk, said)))


@blueprint.post("/accounts")
def connect(slug: str, kind: Kind, key: str) -> AnyResponse:
    """Keep the draft, lead to the Connect Link, and come back to this page."""
    desk = desks.posted(kind, slug, key)
    desk.save()
    name = request.form.get("connect", "")
    app = next((prop.app for prop in desk.asked if prop.name == name and prop.app), desk.app.slug)
    back = public_url(address(desk))
    return go(f"{service().link(success=back, error=back)}&app={quote(app, safe='')}")


def address(desk: Desk, endpoint: str = "show", **more: Any) -> str:
    """The address of a desk's page, or of what belongs to it."""
    noun = _NOUNS.get(endpoint, "component")
    editing: dict[str, Any] = {"trigger": desk.trigger.id} if desk.trigger else {}
    return url_for(
        f"dashboard.{noun}.{endpoint}",
        slug=desk.app.slug, kind=desk.component.kind, key=desk.component.key, **editing, **more,
    )  # fmt: skip


def whole(desk: Desk, said: Said, code: int = 200) -> Response:
    """The full page."""
    page = render_template("dashboard/components/show.html", **context(desk, said), **history(desk))
    return make_response(page, code)


def context(desk: Desk, said: Said = Said()) -> dict[str, Any]:
    """What the page and each of its parts are drawn from."""
    board, client = dashboard(), components()
    body = client.body(desk.component, desk.shown_values(), desk.dynamic.id)
    base = board.settings.connect_url or board.settings.public_url
    return {
        "desk": desk,
        "component": desk.component,
        "app": desk.app,
        "said": said,
        "sheet": drawing.sheet(desk, said.errors, said.panels),
        "outcome": said.outcome,
        "form": deploy_form.of(desk),
        "schedule_words": schedule_words.in_words,
        "time_zones": time_zones,
        "once": secrets.token_urlsafe(16),
        "snippets": snippets(base + client.run_path(), board.settings.environment, body),
        "address": lambda endpoint, **more: address(desk, endpoint, **more),
        "rich": rich,
        "json_html": drawing.json_html,
        "drawing": drawing,
        "encode": values.encode,
    }


def history(desk: Desk) -> dict[str, Any]:
    """The runs of this component; ``None`` where the service keeps none or cannot tell now."""
    if desk.component.kind != "actions":
        return {"runs": None}
    try:
        return {"runs": components().runs(desk.component.key, limit=HISTORY)}
    except PatchbayError:
        return {"runs": None}


def renewed(desk: Desk) -> tuple[Desk, str]:
    """The desk with the fields that its answers call for, asked for only when they changed."""
    if not desk.stale:
        return desk, ""
    try:
        return desk.reloaded()
    except PatchbayError as error:
        return desk, error.message


def changes(before: tuple[Prop, ...], desk: Desk) -> str:
    """What a reload changed, as a sentence; "" when nothing did."""
    was, now = {prop.name for prop in before}, {prop.name for prop in desk.asked}
    added = [prop for prop in desk.asked if prop.name not in was]
    gone = [prop for prop in before if prop.name not in now and form_fields.control(prop)]
    gone = [prop for prop in gone if not desk.left_out(prop)]
    if not added and not gone:
        return ""
    if not gone:
        sentence = gettext("Fields updated: added {added}. Your other answers are kept.")
    elif not added:
        sentence = gettext("Fields updated: removed {removed}. Your other answers are kept.")
    else:
        sentence = gettext("Fields updated: added {added}; removed {removed}. Your other answers are kept.")
    return sentence.format(added=labels(added), removed=labels(gone))


def _blame(desk: Desk, problem: str) -> dict[str, str]:
    """A failed reload stands at the fields that caused it."""
    return {prop.name: problem for prop in desk.asked if prop.reloads} if problem else {}


def _rewritten(desk: Desk, prop: Prop, mode: str) -> tuple[Desk, str]:
    """An object's answer as rows or as JSON; what cannot be rows stays JSON and says why."""
    try:
        value = values.read(prop.model_copy(update={"optional": True}), desk.fields)
    except Problem as problem:
        return desk, str(problem)
    kept = {name: texts for name, texts in desk.fields.items() if name not in form_fields.of_prop(desk.fields, prop)}
    given = {} if value is values.ABSENT else value
    written = values.write(prop, given)
    if mode == "json":
        return replace(desk, fields=kept | values.as_json(prop, given)), ""
    if written.get(f"mode.{prop.name}") != ["rows"]:
        sentence = gettext("“{label}” holds values that are not text, so it stays JSON.")
        return desk, sentence.format(label=prop.label)
    return replace(desk, fields=kept | written), ""


def _connected(desk: Desk, account_id: str) -> AnyResponse:
    """Choose the account that was just connected, where it belongs, and show the page at its own address."""
    account = next((item for item in desk.overview.accounts if item.id == account_id), None)
    if account is not None:
        for prop in desk.asked:
            if prop.type == "app" and prop.app in ("", account.app.slug):
                desk = replace(desk, fields={**desk.fields, f"p.{prop.name}": [account.id]})
                break
        desk.save()
        sentence = gettext("{account} is connected and chosen. What you filled in is still here.")
        flash(sentence.format(account=account.title), "ok")
    return redirect(address(desk), 303)
