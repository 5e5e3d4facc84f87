"""A project's own OAuth clients: viewed, changed, checked at their providers, and deleted.

Adding one is left to :mod:`.app_setup`. A secret is entered and never shown, except the one that a provider sent for
its events, which is shown once, to paste it there.
"""

from typing import Any, NamedTuple

from flask import flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build.apps import app_setup
from webapp.dashboard.build.apps.apps import back, blueprint, question
from webapp.dashboard.build.menu import by_field
from webapp.dashboard.client.build.oauth_apps import OAuthApp, OAuthApps, Verdict
from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.pages import go
from webapp.errors import Conflict, Invalid
from webapp.kit.translation import gettext, ngettext

_FIELDS = ("name", "client_id", "client_secret", "events_secret", "scopes")
_TEXTS = ("name", "client_id", "client_secret", "events_secret")
_TONES = {"known": "ok", "unchecked": "warn"}


@blueprint.get("/<oauth_app_id>")
def client(oauth_app_id: str) -> AnyResponse:
    """One client, with the form that changes it."""
    return _page(_clients().get(oauth_app_id), {})


@blueprint.post("/<oauth_app_id>")
def change_client(oauth_app_id: str) -> AnyResponse:
    """Change it; the provider is asked about a new id or secret first."""
    known, changes = _clients().get(oauth_app_id), _changes()
    secret = "client_secret" in changes
    try:
        changed = _clients().change(oauth_app_id, {**changes, "check": secret and "anyway" not in request.form})
    except (Invalid, Conflict) as error:
        return _page(known, by_field(error, _FIELDS), 422)
    verdict = changed.check if secret else Verdict()
    sentence = gettext("The client for {app} is changed. {verdict}")
    flash(sentence.format(app=known.app_name, verdict=verdict.sentence).strip(), verdict.tone)
    return back("clients")


@blueprint.post("/<oauth_app_id>/check")
def check_client(oauth_app_id: str) -> AnyResponse:
    """Ask the provider whether it knows the client."""
    verdict = _clients().check(oauth_app_id)
    flash(verdict.sentence or gettext("The client could not be checked."), _TONES.get(verdict.verdict, "bad"))
    return go(url_for("dashboard.build_apps.client", oauth_app_id=oauth_app_id))


@blueprint.get("/<oauth_app_id>/removal")
def ask_removal(oauth_app_id: str) -> str:
    """Ask before it is deleted, and say what stops."""
    known = _clients().get(oauth_app_id)
    return question(
        heading=gettext("Delete the client for {app}?").format(app=known.app_name),
        text=gettext("It is deleted here. At the provider, it stays until you delete it there."),
        stops=_stops(known),
        blocked=_in_use(known),
        button=gettext("Delete"),
        confirm_url=url_for("dashboard.build_apps.delete_client", oauth_app_id=known.id),
    )


@blueprint.post("/<oauth_app_id>/removal")
def delete_client(oauth_app_id: str) -> AnyResponse:
    """Delete it, unless something uses it."""
    known = _clients().get(oauth_app_id)
    try:
        _clients().delete(oauth_app_id)
    except Conflict as error:
        flash(error.message, "bad")
        return back("clients")
    app_setup.changed()
    flash(gettext("The client for {app} is deleted.").format(app=known.app_name), "ok")
    return back("clients")


def _clients() -> OAuthApps:
    return OAuthApps(viewer().client)


def _changes() -> dict[str, Any]:
    """The changes in the form; an empty secret is unchanged."""
    texts = {name: request.form.get(name, "").strip() for name in _TEXTS}
    changes: dict[str, Any] = {name: text for name, text in texts.items() if text}
    return {**changes, "scopes": request.form.get("scopes", "").split()}


def _stops(known: OAuthApp) -> list[str]:
    """What stops without the client, in words."""
    if not known.use.used_for_new:
        return []
    if known.use.installation_has_one:
        sentence = gettext("New accounts of {app} are connected with the client of this installation instead.")
        return [sentence.format(app=known.app_name)]
    sentence = gettext("Nobody can connect {app} until another client is added.")
    return [sentence.format(app=known.app_name)]


def _in_use(known: OAuthApp) -> str:
    """Why it cannot be deleted, "" if it can."""
    count = known.use.accounts or 0
    sentence = ngettext("{count} account was connected with it.", "{count} accounts were connected with it.", count)
    advice = gettext("Their access could not be renewed any more, so disconnect them first.")
    return f"{sentence.format(count=count)} {advice}" if count else ""


def _page(known: OAuthApp, errors: dict[str, str], code: int = 200) -> AnyResponse:
    entered = request.form if errors else {}
    page = render_template(
        "dashboard/build/apps/client.html", client=known, entered=entered, errors=errors, sent=shown_now(known.id)
    )
    return make_response(page, code)


class Sent(NamedTuple):
    """A secret that was just taken, and the sentence about it."""

    sentence: str
    text: str


@blueprint.post("/<oauth_app_id>/events-secret")
def take_events_secret(oauth_app_id: str) -> AnyResponse:
    """Let it sign; the page that follows shows it."""
    clients = OAuthApps(viewer().client)
    known = clients.get(oauth_app_id)
    try:
        secret = clients.take_events_secret(oauth_app_id)
    except Conflict as error:
        flash(error.message, "bad")
        return _back(oauth_app_id)
    sentence = gettext("Paste this at {app} now; nobody can see it again.").format(app=known.app_name)
    dashboard().one_time_secrets.put(_name(oauth_app_id), sentence, secret)
    return _back(oauth_app_id)


@blueprint.post("/<oauth_app_id>/events-secret/kept")
def keep_events_secret(oauth_app_id: str) -> AnyResponse:
    """The person pasted it: show it no more."""
    dashboard().one_time_secrets.drop(_name(oauth_app_id))
    return _back(oauth_app_id)


def shown_now(oauth_app_id: str) -> Sent | None:
    """The secret to show on the page of a client now; a reload shows it again."""
    kept = dashboard().one_time_secrets.get(_name(oauth_app_id))
    return Sent(*kept) if kept else None


def _back(oauth_app_id: str) -> AnyResponse:
    return go(url_for("dashboard.build_apps.client", oauth_app_id=oauth_app_id, _anchor="events"))


def _name(oauth_app_id: str) -> str:
    return f"{viewer().key} {oauth_app_id}"
