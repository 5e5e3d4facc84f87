"""Renders a component's page, the parts of it that htmx swaps, and their URLs.

The routes (:mod:`.component`, :mod:`.runs`, :mod:`.deploying`) pass the form and a :class:`Feedback`.
"""

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Response, make_response, render_template
from werkzeug.exceptions import NotFound as NoPage

from webapp import demo
from webapp.dashboard import logs, pages
from webapp.dashboard.client.models.runs import Outcome, Run
from webapp.dashboard.component import drafts, fields, forms, prop_values, results
from webapp.dashboard.component.drafts import DynamicProps
from webapp.dashboard.component.fields import OptionList
from webapp.dashboard.component.forms import ComponentForm
from webapp.dashboard.component.snippets import snippets
from webapp.dashboard.dashboard import components, dashboard, public_url, viewer
from webapp.dashboard.logs import LogsQuery, Place
from webapp.dashboard.pages import fragment
from webapp.dashboard.rich import LONGEST_JSON, json_html, json_is_cut, rich
from webapp.errors import PatchbayError
from webapp.kit.crypto import hash_token
from webapp.kit.translation import ngettext, translated
from webapp.people import roles
from webapp.people.preferences import time_zones

HISTORY = 10
_NOUNS = {
    **dict.fromkeys(("create", "past", "again_page", "again", "values"), "runs"),
    **dict.fromkeys(("columns", "result_csv", "result_json"), "runs"),
    **dict.fromkeys(("deploy", "schedule"), "deploying"),
}


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a page shows besides a form: errors by prop, open lists of options, an outcome, a sentence.

    ``added`` are the names of new fields. With ``confirm`` the page asks whether to run the action. ``whole`` is the
    id of the file with the outcome's whole result, if it is too large for the history.
    """

    errors: Mapping[str, str] | None = None
    option_lists: Mapping[str, OptionList] | None = None
    outcome: Outcome | None = None
    confirm: bool = False
    sentence: str = ""
    added: Collection[str] = ()
    whole: str = ""


def errors_in_words(form: ComponentForm, errors: Mapping[str, str]) -> str:
    """How many fields are to be filled in, or, if other ``errors`` are among them, to be corrected."""
    by_name = {prop.name: prop for prop in form.props}
    if all(name in by_name and prop_values.is_missing(by_name[name], error) for name, error in errors.items()):
        sentence = ngettext("Fill in one required field.", "Fill in {count} required fields.", len(errors))
    else:
        sentence = ngettext("Correct one field.", "Correct {count} fields.", len(errors))
    return sentence.format(count=len(errors))


def address(form: ComponentForm, endpoint: str = "show", **more: Any) -> str:
    """The URL of a form's page or of another endpoint for the form."""
    noun = _NOUNS.get(endpoint, "component")
    editing: dict[str, Any] = {"trigger": form.trigger.id} if form.trigger else {}
    component: dict[str, Any] = {"slug": form.app.slug, "kind": form.component.kind, "key": form.component.key}
    return pages.address(f"dashboard.{noun}.{endpoint}", **component, **editing, **more)


def full_page(form: ComponentForm, feedback: Feedback, code: int = 200) -> Response:
    """The full page. Without any feedback, it shows the last run."""
    earlier = history(form)
    if feedback == Feedback():
        feedback = Feedback(outcome=_last_run(earlier))
    result = result_context(form, feedback, newest(earlier))
    page = render_template("dashboard/components/show.html", **context(form, feedback), history=earlier, **result)
    return make_response(page, code)


def part(template: str, form: ComponentForm, feedback: Feedback = Feedback(), code: int = 200, **more: Any) -> Response:
    """A part of the page, for htmx."""
    return make_response(fragment(f"dashboard/components/{template}", **context(form, feedback), **more), code)


def context(form: ComponentForm, feedback: Feedback = Feedback()) -> dict[str, Any]:
    """The template context of the page and its parts."""
    client = components()
    url = dashboard().settings.connect_base + client.run_path()
    body = client.body(form.component, form.shown_values(), form.dynamic.id)
    return {
        "form": form,
        "component": form.component,
        "app": form.app,
        "feedback": feedback,
        "groups": fields.field_groups(
            form, {**form.refused_files, **(feedback.errors or {})}, feedback.option_lists, feedback.added
        ),
        "outcome": feedback.outcome,
        "deployment": forms.deploy_form(form),
        "schedule_words": prop_values.schedule_in_words,
        "time_zones": time_zones,
        "viewer_mark": hash_token(viewer().owner)[:16],
        "now_ms": dashboard().clock(),
        "once": secrets.token_urlsafe(16),
        "snippets": snippets(url, viewer().client.environment, body),
        "address": lambda endpoint, **more: address(form, endpoint, **more),
        "may_set_up": viewer().may_build,
        "demo_link": _demo_link(form),
        "rich": rich,
        "json_html": json_html,
        "json_is_cut": json_is_cut,
        "structured": prop_values,
        "encode": prop_values.encode,
        "file_id": prop_values.file_id,
    }


def _demo_link(form: ComponentForm) -> str:
    """The URL of a new demo link to this form, for an owner of a demo; "" where there is none."""
    links = dashboard().demo_links
    if links is None or not roles.may_share_demos(viewer().role):
        return ""
    if form.trigger or form.component.key not in demo.FORMS:
        return ""
    return public_url(links.create(form.component.key))


def shown_columns(form: ComponentForm) -> list[str]:
    """The columns that the person chose for the results of this component."""
    return list(drafts.load(dashboard().store, viewer().owner, _columns_key(form)).fields.get("columns", ()))


def choose_columns(form: ComponentForm, columns: list[str]) -> None:
    """Remember the columns for the results of this component."""
    board = dashboard()
    drafts.save(board.store, board.clock, viewer().owner, _columns_key(form), {"columns": columns}, DynamicProps())


def _columns_key(form: ComponentForm) -> str:
    return f"columns {viewer().here(form.component.key)}"


def result_context(form: ComponentForm, feedback: Feedback, run_id: str = "") -> dict[str, Any]:
    """The template context of a result: its view, and the run and file by whose id the whole is downloaded."""
    outcome = feedback.outcome
    view = results.view_of(outcome.result, shown_columns(form)) if outcome else None
    is_table = isinstance(view, results.Table)
    return {
        "view": view,
        "is_table": is_table,
        "copied_csv": results.csv_of_shown(outcome.result, view) if outcome and isinstance(view, results.Table) else "",
        "result_run": outcome.id if isinstance(outcome, Run) else run_id,
        "whole": feedback.whole,
        "longest_json": LONGEST_JSON // 4 if is_table else LONGEST_JSON,
    }


def newest(earlier: Mapping[str, Any] | None) -> str:
    """The id of the newest of the ``earlier`` runs; "" without one."""
    entries = (row.entry for _, rows in earlier["groups"] for row in rows) if earlier else ()
    return next((entry.id for entry in entries if entry.id.startswith("run_")), "")


def _last_run(earlier: Mapping[str, Any] | None) -> Run | None:
    """The newest of the ``earlier`` runs with its result, or ``None`` if there is none or it is unavailable."""
    run_id = newest(earlier)
    try:
        return components().past(run_id) if run_id else None
    except PatchbayError:
        return None


def history(form: ComponentForm) -> dict[str, Any] | None:
    """The context of the component's earlier runs, a view of the logs; ``None`` if they are unavailable."""
    if form.component.kind != "actions" or not viewer().has_history:
        return None
    try:
        return logs.listing(place_of(form), LogsQuery())
    except (NoPage, PatchbayError):
        return None


def place_of(form: ComponentForm) -> Place:
    """Where the logs of an action are shown: below its form, the newest of its runs and of what agents asked to run."""
    name = form.component.name
    return Place(
        "dashboard.component.show",
        beside="dashboard.runs",
        values={"slug": form.app.slug, "kind": form.component.kind, "key": form.component.key},
        about={"id": form.component.key},
        shown_above=(name, translated(name), form.app.name),
        per_page=HISTORY,
        crumbs=({"label": translated(name), "url": address(form)},),
    )
