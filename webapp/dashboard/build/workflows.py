"""Build: Workflows. Named URLs of the project to which triggers send their events; each has its own signing key.

A key is only in the response to the person who requested it.
"""

from collections.abc import Mapping

from flask import Response, flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import words
from webapp.dashboard.build import menu
from webapp.dashboard.client.build.workflows import NamedWorkflow, Workflows
from webapp.dashboard.dashboard import viewer
from webapp.dashboard.pages import go
from webapp.errors import Conflict, Invalid
from webapp.kit.translation import gettext

blueprint = menu.blueprint("workflows")

_FIELDS = ("name", "url")


@blueprint.get("")
def page() -> AnyResponse:
    """The page."""
    return _show()


@blueprint.post("")
def add() -> AnyResponse:
    """Register a URL, and show its key."""
    form = _form()
    try:
        workflow = _workflows().create(**form)
    except (Conflict, Invalid) as error:
        return _show(form=form, errors=_errors(error), code=422)
    return _show(added=workflow)


@blueprint.get("/<workflow_id>/change")
def change_page(workflow_id: str) -> AnyResponse:
    """The form of its name and URL."""
    workflow = _workflows().get(workflow_id)
    return _change_form(workflow, {"name": workflow.name, "url": workflow.url})


@blueprint.post("/<workflow_id>/change")
def change(workflow_id: str) -> AnyResponse:
    """Give it another name or URL."""
    form = _form()
    try:
        _workflows().change(workflow_id, **form)
    except Invalid as error:
        return _change_form(_workflows().get(workflow_id), form, _errors(error), 422)
    return _done(gettext("“{name}” is saved.").format(name=form["name"]))


@blueprint.post("/<workflow_id>/key")
def reveal(workflow_id: str) -> AnyResponse:
    """Show the signing key."""
    return _show(keys={workflow_id: _workflows().key(workflow_id)})


@blueprint.get("/<workflow_id>/rotation")
def rotation_page(workflow_id: str) -> str:
    """Ask for confirmation before the key is replaced."""
    workflow = _workflows().get(workflow_id)
    text = gettext(
        "From then on everything sent to “{name}” is signed with the new key. Its receiver refuses it until you put "
        "the new key there."
    )
    return _question(workflow, "rotate", gettext("Create a new signing key?"), text, gettext("Create a new key"), "")


@blueprint.post("/<workflow_id>/rotation")
def rotate(workflow_id: str) -> AnyResponse:
    """Make a new key, and show it."""
    return _show(keys={workflow_id: _workflows().rotate_key(workflow_id).key})


@blueprint.post("/<workflow_id>/reset")
def reset(workflow_id: str) -> AnyResponse:
    """Deliver to it again."""
    _workflows().reset(workflow_id)
    return _done(gettext("It is delivered to again."))


@blueprint.get("/<workflow_id>/removal")
def removal_page(workflow_id: str) -> str:
    """Say which triggers lose it, and ask."""
    workflow = _workflows().get(workflow_id)
    names = [trigger.name or trigger.id for trigger in _workflows().triggers(workflow_id)]
    text = gettext("“{name}” gets nothing more, not even what waits for it, and its signing key is deleted.")
    return _question(workflow, "remove", gettext("Remove this workflow?"), text, gettext("Remove"), "danger", names)


@blueprint.post("/<workflow_id>/removal")
def remove(workflow_id: str) -> AnyResponse:
    """Remove it."""
    _workflows().remove(workflow_id)
    return _done(gettext("The workflow is removed."))


def _show(
    *,
    keys: Mapping[str, str] | None = None,
    added: NamedWorkflow | None = None,
    form: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    code: int = 200,
) -> Response:
    """The page. ``keys`` are those that were requested, ``added`` is a new workflow with its key."""
    page = render_template(
        "dashboard/build/workflows/page.html", workflows=_workflows().list(), keys=keys or {}, added=added,
        form=form or {}, errors=errors or {}, words=words,
    )  # fmt: skip
    return make_response(page, code)


def _change_form(
    workflow: NamedWorkflow, form: Mapping[str, str], errors: Mapping[str, str] | None = None, code: int = 200
) -> Response:
    page = render_template("dashboard/build/workflows/change.html", workflow=workflow, form=form, errors=errors or {})
    return make_response(page, code)


def _question(
    workflow: NamedWorkflow, verb: str, heading: str, text: str, button: str, tone: str, stops: list[str] | None = None
) -> str:
    return render_template(
        "dashboard/build/question.html", crumb=gettext("Workflows"), heading=heading, button=button, tone=tone,
        text=text.format(name=workflow.name), stops=stops or [], stops_title=gettext("Triggers that send there now"),
        confirm_url=url_for(f"dashboard.build_workflows.{verb}", workflow_id=workflow.id), back_url=_page_url(),
    )  # fmt: skip


def _done(sentence: str) -> AnyResponse:
    flash(sentence, "ok")
    return go(_page_url())


def _page_url() -> str:
    return url_for("dashboard.build_workflows.page")


def _form() -> dict[str, str]:
    return {name: request.form.get(name, "").strip() for name in _FIELDS}


def _errors(error: Conflict | Invalid) -> dict[str, str]:
    """The problems by field."""
    details = error.details if isinstance(error, Invalid) else ()
    return {detail.field: detail.message for detail in details if detail.field in _FIELDS} or {"url": error.message}


def _workflows() -> Workflows:
    return Workflows(viewer().client)
