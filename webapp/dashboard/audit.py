"""The Audit tab of the Activity page: who did what in the project, newest first, for owners and developers."""

from collections.abc import Iterable, Mapping
from typing import Annotated, NamedTuple

from flask import Blueprint, abort, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models.audit import AuditEntry
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.dashboard import dashboard, if_up, known_accounts, known_triggers, offers, viewer
from webapp.dashboard.pages import ListQuery, among, at_most, page, read_from
from webapp.kit.translation import lazy as _
from webapp.people import users

blueprint = Blueprint("audit", __name__)

PER_PAGE = 30
# What entries are about; a noun that is not here is shown as it is written.
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
    """What an entry is about: its name, and its page, "" for what has none."""

    name: str
    url: str


class AuditQuery(ListQuery):
    """Which entries, and from where on. ``after`` is the API's own cursor."""

    noun: Annotated[str, among(NOUNS)] = ""
    subject: Annotated[str, at_most(300)] = ""
    actor: Annotated[str, at_most(300)] = ""
    after: Annotated[str, at_most(1_000)] = ""

    def filters(self) -> dict[str, str]:
        """The same as the API takes it."""
        return {"noun": self.noun, "subject_id": self.subject, "actor": self.actor}


@blueprint.get("/activity/audit")
def index() -> AnyResponse:
    """The list; for htmx the results alone. A member may not look, and some services keep no record."""
    if not viewer().may_build:
        abort(403)
    query = AuditQuery.of_request()
    entries = _read(query) or abort(404)
    logins = _logins([query.actor, *(entry.actor for entry in entries.items)])
    subjects = _subjects([query.subject, *(entry.subject_id for entry in entries.items)])
    context = {
        "query": query, "entries": entries, "logins": logins, "nouns": NOUNS, "actors": ACTORS, "subjects": subjects,
    }  # fmt: skip
    return page("dashboard/audit/index.html", "dashboard/audit/_results.html", url=query.url(), **context)


def offered() -> bool:
    """Whether there is anything that this person may see."""
    return viewer().may_build and offers("audit", lambda: viewer().client.audit({}, limit=1))


def _read(query: AuditQuery) -> PageOf[AuditEntry] | None:
    """One page of entries."""
    audit = viewer().client.audit
    return read_from(query.after, lambda after: audit(query.filters() | {"after": after}, limit=PER_PAGE))


def _subjects(ids: Iterable[str]) -> dict[str, Subject]:
    """What the person can look at, or knows by name: own accounts and triggers, and those who sign in here."""
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
    """The addresses of those who sign in here, by the id under which they act."""
    people = {actor: users.by_id(dashboard().store, actor) for actor in set(actors) if actor.startswith("u_")}
    return {actor: user.email for actor, user in people.items() if user}
