"""The Audit tab of Logs: who did what in the project, newest first, for owners and developers."""

from collections.abc import Iterable, Mapping
from typing import Annotated, NamedTuple

from flask import Blueprint, abort, redirect, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models.audit import AuditEntry
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.dashboard import dashboard, if_up, known_accounts, known_triggers, offers, viewer
from webapp.dashboard.pages import ListQuery, among, at_most, page, read_from
from webapp.kit import translation
from webapp.kit.translation import lazy as _
from webapp.people import users

blueprint = Blueprint("audit", __name__)

PER_PAGE = 30
# The nouns of entries; others are shown as they are.
NOUNS: Mapping[str, str] = {
    "account": _("Account"),
    "trigger": _("Trigger"),
    "webhook": _("Webhook"),
    "client": _("OAuth client"),
    "oauth_app": _("Client of an app"),
    "app": _("App"),
    "app_override": _("App override"),
    "key": _("Key"),
    "rate_limit": _("Rate limit"),
    "project": _("Project"),
    "user": _("User of the product"),
    "person": _("Login"),
    "invitation": _("Invitation"),
    "run": _("Run of an action"),
    "agent": _("Agent"),
    "integration": _("Integration"),
}
ACTORS: Mapping[str, str] = {
    "client": _("OAuth client"),
    "user": _("User of the product"),
    "person": _("Login"),
    "invitation": _("Invitation"),
    "command": _("Command"),
    "system": _("By itself"),
}


class Subject(NamedTuple):
    """The subject of an entry: its name, and the URL of its page, or ""."""

    name: str
    url: str


class AuditQuery(ListQuery):
    """The filters of the list. ``after`` is the API's cursor."""

    noun: Annotated[str, among(NOUNS)] = ""
    subject: Annotated[str, at_most(300)] = ""
    actor: Annotated[str, at_most(300)] = ""
    after: Annotated[str, at_most(1_000)] = ""

    def filters(self) -> dict[str, str]:
        """The filters as parameters of the API."""
        return {"noun": self.noun, "subject_id": self.subject, "actor": self.actor}


@blueprint.get("/logs/audit")
def index() -> AnyResponse:
    """The list; for htmx only the results. Raises :class:`NoPage` for members, and if the service has no audit log."""
    if not viewer().may_build:
        abort(403)
    translation.speak(translation.DEFAULT)  # for developers, in English as a whole, as Build is
    query = AuditQuery.of_request()
    entries = _read(query) or abort(404)
    logins = _logins([query.actor, *(entry.actor for entry in entries.items)])
    subjects = _subjects([query.subject, *(entry.subject_id for entry in entries.items)])
    context = {
        "query": query, "entries": entries, "logins": logins, "nouns": NOUNS, "actors": ACTORS, "subjects": subjects,
    }  # fmt: skip
    return page("dashboard/audit/index.html", "dashboard/audit/_results.html", url=query.url(), **context)


@blueprint.get("/activity/audit")
def moved() -> AnyResponse:
    """Where the list was before."""
    query = request.query_string.decode("ascii", "replace")
    return redirect(url_for("dashboard.audit.index") + (f"?{query}" if query else ""), 301)


def offered() -> bool:
    """Whether the person may see the audit log, and the service has one."""
    return viewer().may_build and offers("audit", lambda: viewer().client.audit({}, limit=1))


def _read(query: AuditQuery) -> PageOf[AuditEntry] | None:
    """A page of entries, or None if the service has no audit log."""
    audit = viewer().client.audit
    return read_from(query.after, lambda after: audit(query.filters() | {"after": after}, limit=PER_PAGE))


def _subjects(ids: Iterable[str]) -> dict[str, Subject]:
    """The subjects by id that can be named: the person's own accounts and triggers, and users."""
    wanted, accounts, triggers = set(ids), if_up(known_accounts), if_up(known_triggers)
    subjects = {user_id: Subject(email, "") for user_id, email in _logins(wanted).items()}
    for account in accounts.accounts if accounts else ():
        if account.id in wanted:
            subjects[account.id] = Subject(account.title, url_for("dashboard.account.show", account_id=account.id))
    for trigger in triggers.items if triggers else ():
        if trigger.id in wanted:
            subjects[trigger.id] = Subject(trigger.name, url_for("dashboard.trigger.show", trigger_id=trigger.id))
    return subjects


def _logins(actors: Iterable[str]) -> dict[str, str]:
    """The e-mail addresses of users by their ids."""
    people = {actor: users.by_id(dashboard().store, actor) for actor in set(actors) if actor.startswith("u_")}
    return {actor: user.email for actor, user in people.items() if user}
