"""The OAuth clients with which a product's servers call the API: list, creation, rotation of secrets, and deletion.

A client acts for every user of its project: that is what developers are for. One with all scopes could change logins,
too, so only an owner creates, changes or deletes one. The dashboard's own client is listed, and changed in the
settings. Scopes are described in plain words (contract "Scopes").
"""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import abort, flash, request
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import project_list
from webapp.dashboard.build.keys import sections
from webapp.dashboard.build.keys.sections import blueprint
from webapp.dashboard.client.build.clients import Clients, OAuthClient
from webapp.dashboard.dashboard import dashboard, viewer
from webapp.errors import Invalid
from webapp.kit.clock import DAY, HOUR, SECOND
from webapp.kit.translation import gettext
from webapp.kit.translation import lazy as _
from webapp.people import roles

ALL, CONNECT = "*", "connect:*"
# By scope, in the order of the form.
WORDS: Mapping[str, str] = {
    "connect:tokens:create": _("Create Connect tokens"),
    "connect:accounts:read": _("See accounts"),
    "connect:accounts:write": _("Connect and remove accounts"),
    "connect:actions:*": _("Run actions"),
    "connect:proxy": _("Send proxy requests"),
    "connect:triggers:*": _("Start watching for events"),
    "connect:deployed_triggers:read": _("See triggers and their events"),
    "connect:deployed_triggers:write": _("Change and remove triggers"),
    "connect:agents:read": _("See permissions of agents"),
    "connect:agents:write": _("Change permissions of agents"),
    "connect:workflow:invoke": _("Start workflows"),
    "connect:users:read": _("See users"),
    "connect:users:write": _("Remove users"),
    "connect:projects:read": _("See projects and their settings"),
    "connect:projects:write": _("Change projects and their settings"),
    "connect:usage:read": _("See usage"),
}
BUSY = DAY  # whoever called so lately is asked about twice
DEFAULT_OVERLAP_S = DAY // SECOND
OVERLAPS: Mapping[int, str] = {
    DAY // SECOND: _("A day, so that your servers can be changed over"),
    HOUR // SECOND: _("An hour"),
    7 * DAY // SECOND: _("A week"),
    0: _("No longer: it leaked, or nothing uses it"),
}


def in_words(scopes: Sequence[str]) -> str:
    """What ``scopes`` allow together, such as ``Everything`` or ``See accounts · Run actions``."""
    if ALL in scopes:
        return gettext("Everything")
    if CONNECT in scopes:
        return gettext("All of Connect")
    return " · ".join(str(WORDS.get(scope, scope)) for scope in scopes) or gettext("Nothing")


def context() -> dict[str, Any]:
    """The context of the list; ``clients`` is ``None`` if the service has none."""
    return {
        "clients": _clients().list(),
        "projects": project_list.names(),
        "in_words": in_words,
        "may_change": may_change,
        "own": is_own,
        "two_secrets": _has_two_secrets,
    }


@blueprint.get("/clients/new")
def new_client() -> str:
    """Ask what a new client is called and may do."""
    return _form({}, {})


@blueprint.post("/clients")
def create_client() -> AnyResponse | tuple[str, int]:
    """Make a client; the page that follows shows its secret."""
    form = {name: request.form.get(name, "").strip() for name in ("name", "project_id", "access", "public_key")}
    scope = _scope(form["access"])
    errors = {} if form["name"] else {"name": gettext("Enter a name.")}
    if not scope:
        errors["scopes"] = gettext("Choose at least one scope.")
    if _is_powerful(scope) and not roles.may_give_all_scopes(viewer().role):
        abort(403)
    if errors:
        return _form(form, errors), 422
    try:
        client = _clients().create(form["name"], scope, form["project_id"], form["public_key"])
    except Invalid as error:
        return _form(form, {detail.field: detail.message for detail in error.details} or {"name": error.message}), 422
    if not client.secret:
        flash(gettext("“{name}” is ready. It authenticates with its key.").format(name=client.name), "ok")
        return sections.back("clients")
    sentence = gettext("“{name}” is ready. Copy its secret now; nobody can see it again.").format(name=client.name)
    sections.show_once(sentence, client.secret)
    return sections.back("clients")


@blueprint.get("/clients/<client_id>/rotation")
def ask_rotation(client_id: str) -> str:
    """Ask how long the old secret stays valid together with the new one."""
    client = _changeable(client_id)
    return sections.question("clients", "dashboard/build/keys/rotation.html", client=client, overlaps=OVERLAPS)


@blueprint.post("/clients/<client_id>/rotation")
def rotate_client(client_id: str) -> AnyResponse:
    """Make a new secret; the page that follows shows it."""
    client, overlap = _changeable(client_id), request.form.get("overlap", "")
    overlap_s = int(overlap) if overlap in map(str, OVERLAPS) else DEFAULT_OVERLAP_S
    rotated = _clients().rotate(client.id, overlap_s)
    sentence = gettext("This is the new secret of “{name}”. Copy it now; nobody can see it again.")
    sections.show_once(sentence.format(name=client.name), rotated.secret)
    return sections.back("clients")


@blueprint.post("/clients/<client_id>/old-secret/end")
def end_old_secret(client_id: str) -> AnyResponse:
    """End the overlap."""
    client = _changeable(client_id)
    _clients().end_old_secret(client.id)
    flash(gettext("The old secret of “{name}” has ended.").format(name=client.name), "ok")
    return sections.back("clients")


@blueprint.get("/clients/<client_id>/removal")
def ask_removal(client_id: str) -> str:
    """Say what stops before a client is deleted."""
    return _removal(_changeable(client_id))


@blueprint.post("/clients/<client_id>/removal")
def delete_client(client_id: str) -> AnyResponse | tuple[str, int]:
    """Delete a client; one that was used recently only if the person confirms that."""
    client = _changeable(client_id)
    if is_busy(client) and not request.form.get("known"):
        return _removal(client, gettext("Confirm that you understand what stops.")), 422
    _clients().delete(client.id)
    flash(gettext("“{name}” is deleted. Its tokens have ended.").format(name=client.name), "ok")
    return sections.back("clients")


def may_change(client: OAuthClient) -> bool:
    """Whether the viewer may give it another secret or delete it."""
    return not is_own(client) and (roles.may_give_all_scopes(viewer().role) or not _is_powerful(client.scope))


def is_own(client: OAuthClient) -> bool:
    """Whether the dashboard itself calls with it."""
    return client.id == dashboard().settings.connect_client_id


def is_busy(client: OAuthClient) -> bool:
    """Whether it called within the last day."""
    return client.last_used is not None and dashboard().clock() - client.last_used < BUSY


def _has_two_secrets(client: OAuthClient) -> bool:
    """Whether its old secret still works."""
    return client.old_secret_ends is not None and client.old_secret_ends > dashboard().clock()


def _clients() -> Clients:
    return Clients(viewer().client)


def _changeable(client_id: str) -> OAuthClient:
    client = _clients().get(client_id)
    return client if may_change(client) else abort(403)


def _is_powerful(scope: str) -> bool:
    return ALL in scope.split()


def _scope(access: str) -> str:
    """The scopes of the form; "" if nothing is ticked."""
    if access in (ALL, CONNECT):
        return access
    return " ".join(scope for scope in WORDS if scope in request.form.getlist("scopes"))


def _form(form: Mapping[str, str], errors: Mapping[str, str]) -> str:
    return sections.question(
        "clients",
        "dashboard/build/keys/new_client.html",
        form=form,
        errors=errors,
        ticked=request.form.getlist("scopes"),
        words=WORDS,
        projects=project_list.names(),
        may_give_all=roles.may_give_all_scopes(viewer().role),
    )


def _removal(client: OAuthClient, error: str = "") -> str:
    return sections.question(
        "clients", "dashboard/build/keys/removal.html", client=client, busy=is_busy(client), error=error
    )
