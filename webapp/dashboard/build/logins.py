"""An owner's changes of a login on Build: People: its role, disabling and enabling, removal, and ways back in."""

from flask import abort, flash, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import menu, people
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.gate import person
from webapp.dashboard.pages import go
from webapp.dashboard.words import ROLES
from webapp.errors import Conflict, Invalid
from webapp.kit.translation import gettext
from webapp.people import roles, users
from webapp.people.users import User

blueprint = menu.part_of("people", "logins", "/<user_id>")


@blueprint.post("/role")
def role(user_id: str) -> AnyResponse:
    """Change a person's role; an owner who gives up the role is redirected."""
    try:
        user = dashboard().logins.change(user_id, role=request.form.get("role", ""))
    except (Conflict, Invalid) as error:
        return people.changed(error.message, "bad", 409)
    sentence = gettext("{email} is {role} now.").format(email=user.email, role=ROLES[user.role])
    if user.id != person().id or roles.is_owner(user.role):
        return people.changed(sentence, "ok")
    flash(sentence, "ok")
    return go(url_for("dashboard.apps.index"))


@blueprint.get("/lock-out")
def lock_out_page(user_id: str) -> str:
    """Ask for confirmation before a login is disabled."""
    user = _other(user_id)
    return _question(
        gettext("Lock {email} out?").format(email=user.email),
        gettext(
            "Their browsers are signed out, and their API key and links stop working. Their accounts stay connected "
            "and their triggers go on, until you let them in again or remove them."
        ),
        url_for("dashboard.build_people_logins.lock_out", user_id=user.id),
        gettext("Lock out"),
    )


@blueprint.post("/lock-out")
def lock_out(user_id: str) -> AnyResponse:
    """Disable a login."""
    user = _other(user_id)
    dashboard().logins.change(user.id, enabled=False)
    return people.changed(gettext("{email} is locked out.").format(email=user.email), "ok")


@blueprint.post("/lock-out/end")
def let_in(user_id: str) -> AnyResponse:
    """Enable a login."""
    user = _other(user_id)
    dashboard().logins.change(user.id, enabled=True)
    return people.changed(gettext("{email} may sign in again.").format(email=user.email), "ok")


@blueprint.post("/sessions/end")
def end_sessions(user_id: str) -> AnyResponse:
    """Sign a person out of all browsers."""
    user = _other(user_id)
    dashboard().logins.end_sessions(user.id)
    return people.changed(gettext("{email} is signed out everywhere.").format(email=user.email), "ok")


@blueprint.post("/reset-link")
def reset_link(user_id: str) -> AnyResponse:
    """Show a link for a new password, this once."""
    user = _other(user_id)
    try:
        url, expires_at = dashboard().logins.reset_link(user.id)
    except Conflict as error:
        return people.changed(error.message, "bad", 409)
    return people.show(reset=(user.email, url, expires_at))


@blueprint.get("/two-step/off")
def two_step_page(user_id: str) -> str:
    """Ask for confirmation before two-step sign-in is switched off."""
    user = _other(user_id)
    return _question(
        gettext("Switch two-step sign-in off for {email}?").format(email=user.email),
        gettext(
            "They sign in with only the password, and their passkeys are removed. Do this for somebody who lost their "
            "phone and their recovery codes, once you are sure who asks."
        ),
        url_for("dashboard.build_people_logins.two_step", user_id=user.id),
        gettext("Switch it off"),
    )


@blueprint.post("/two-step/off")
def two_step(user_id: str) -> AnyResponse:
    """Switch a person's two-step sign-in off."""
    user = _other(user_id)
    dashboard().logins.reset_two_step(user.id)
    return people.changed(gettext("{email} signs in with only the password.").format(email=user.email), "ok")


@blueprint.get("/removal")
def removal_page(user_id: str) -> str:
    """Ask for confirmation before a person is removed."""
    user = _other(user_id)
    return _question(
        gettext("Remove {email}?").format(email=user.email),
        _removal_text(),
        url_for("dashboard.build_people_logins.remove", user_id=user.id),
        gettext("Remove with all their data"),
        (
            gettext("Their login, with their API key and every signed-in browser"),
            gettext("The accounts that they connected, in every project"),
            gettext("Their triggers, and the runs of their actions"),
        ),
    )


@blueprint.post("/removal")
def remove(user_id: str) -> AnyResponse:
    """Remove a person's login, accounts and triggers."""
    user = _other(user_id)
    dashboard().logins.remove(user.id)
    return people.changed(gettext("{email} is removed.").format(email=user.email), "ok")


def _removal_text() -> str:
    """The warning before a person is removed: groups at the provider may create the login again."""
    board = dashboard()
    text = gettext("This cannot be undone. To keep them out and everything else as it is, lock them out instead.")
    if not board.oidc or not board.settings.oidc_roles:
        return text
    back = gettext("A person whose groups at {name} may sign in would return as a new person.")
    return f"{text} {back.format(name=board.oidc.name)}"


def _other(user_id: str) -> User:
    """Somebody else's login: one's own is looked after in Settings."""
    user = users.by_id(dashboard().store, user_id) if user_id != person().id else None
    return user or abort(404)


def _question(heading: str, text: str, confirm_url: str, button: str, stops: tuple[str, ...] = ()) -> str:
    return render_template(
        "dashboard/build/question.html", crumb=gettext("People"), heading=heading, text=text, button=button,
        confirm_url=confirm_url, stops=stops, stops_title=gettext("Removed"),
        back_url=url_for("dashboard.build_people.page"),
    )  # fmt: skip
