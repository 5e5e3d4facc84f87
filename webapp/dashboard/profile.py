"""Your own login: the password, and the browsers that are signed in."""

from collections.abc import Mapping

from flask import Blueprint, Response, abort, flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.dashboard import dashboard, person, session_now
from webapp.dashboard.htmx import go
from webapp.errors import Invalid
from webapp.people import attempts, sessions, users

blueprint = Blueprint("profile", __name__)


@blueprint.get("/you")
def page() -> AnyResponse:
    """The page."""
    return _page()


@blueprint.post("/you/password")
def password() -> AnyResponse:
    """Change the password, and sign every other browser out."""
    board, form, me = dashboard(), request.form, person()
    address = request.remote_addr or ""
    if attempts.admit(board.store, board.clock, email=me.email, address=address):
        return _page({"current": "Too many tries. Wait a minute, then try again."}, 429)
    if not users.has_password(board.store, me.id, form.get("current", "")):
        return _page({"current": "That is not your password now. Try again."}, 422)
    attempts.succeeded(board.store, email=me.email, address=address)
    try:
        users.set_password(board.store, board.clock, user_id=me.id, password=form.get("password", ""))
    except Invalid as error:
        return _page({detail.field: detail.message for detail in error.details}, 422)
    sessions.end_others(board.store, user_id=me.id, keep=session_now().id)
    flash("The password is changed. Other browsers are signed out.", "ok")
    return go(url_for("dashboard.profile.page"))


@blueprint.post("/you/sessions/<session_id>/end")
def end_session(session_id: str) -> AnyResponse:
    """Sign one other browser out."""
    if not sessions.end(dashboard().store, user_id=person().id, session_id=session_id):
        abort(404)
    flash("That browser is signed out.", "ok")
    return go(url_for("dashboard.profile.page"))


@blueprint.post("/you/sessions/end-others")
def end_others() -> AnyResponse:
    """Sign every other browser out."""
    count = sessions.end_others(dashboard().store, user_id=person().id, keep=session_now().id)
    flash("No other browser was signed in." if not count else "All other browsers are signed out.", "ok")
    return go(url_for("dashboard.profile.page"))


def _page(errors: Mapping[str, str] | None = None, code: int = 200) -> Response:
    board = dashboard()
    page = render_template(
        "dashboard/profile/page.html",
        sessions=sessions.of_user(board.store, board.clock, person().id),
        current=session_now().id,
        errors=errors or {},
        browser=browser,
    )
    return make_response(page, code)


def browser(user_agent: str) -> str:
    """A short name for a browser, such as ``Firefox on Linux``; good enough to recognise one's own."""
    names = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrom", "Chrome"), ("Safari", "Safari"))
    systems = (
        ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("Mac", "macOS"),
        ("Linux", "Linux"),
    )  # fmt: skip
    name = next((words for mark, words in names if mark in user_agent), "A browser")
    system = next((words for mark, words in systems if mark in user_agent), "")
    return f"{name} on {system}" if system else name
