"""The Audit tab of the Activity page: who did what in the project, newest first, for owners and developers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from flask import Blueprint, abort, g, request
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models.activity import AuditEntry
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.dashboard import dashboard, person
from webapp.dashboard.htmx import page
from webapp.errors import Invalid, PatchbayError
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
    "app_override": _("App override"),
    "key": _("Key"),
    "rate_limit": _("Rate limit"),
    "project": _("Project"),
    "user": _("User of the product"),
    "person": _("Login"),
}
ACTORS: Mapping[str, str] = {
    "client": _("OAuth client"),
    "user": _("User of the product"),
    "person": _("Login"),
    "command": _("Command"),
    "system": _("By itself"),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the address says: which entries, and from where on. ``after`` is the API's own cursor."""

    noun: str
    subject: str
    actor: str
    after: str

    @classmethod
    def of_request(cls) -> "Wanted":
        """Read the query; what makes no sense falls back to the default."""
        args = request.args
        return cls(
            noun=args["noun"] if args.get("noun") in NOUNS else "",
            subject=args.get("subject", "")[:300],
            actor=args.get("actor", "")[:300],
            after=args.get("after", "")[:1_000],
        )

    @property
    def filtered(self) -> bool:
        """Whether anything narrows the list."""
        return bool(self.noun or self.subject or self.actor)

    def query(self) -> dict[str, str]:
        """The same as the API takes it."""
        return {"noun": self.noun, "subject_id": self.subject, "actor": self.actor, "after": self.after}

    def url(self, **changes: str) -> str:
        """The address of this list with ``changes``; defaults are left out of it."""
        parts = {"noun": self.noun, "subject": self.subject, "actor": self.actor, "after": self.after} | changes
        query = urlencode({name: value for name, value in parts.items() if value})
        return request.path + (f"?{query}" if query else "")


@blueprint.get("/activity/audit")
def index() -> AnyResponse:
    """The list; for htmx the results alone. A member may not look, and some services keep no record."""
    if not _may_look():
        abort(403)
    wanted = Wanted.of_request()
    found = _read(wanted) or abort(404)
    return page(
        "dashboard/audit/index.html",
        "dashboard/audit/_results.html",
        url=wanted.url(),
        wanted=wanted,
        found=found,
        logins=_logins([wanted.actor, *(one.actor for one in found.items)]),
        nouns=NOUNS,
        actors=ACTORS,
    )


def offered() -> bool:
    """Whether there is anything that this person may see. Our service keeps a record; another is asked now and then."""
    board = dashboard()
    if not _may_look():
        return False
    if not board.settings.connect_url:
        return True
    lacking = board.lacking.get("audit")
    if lacking is None and not g.get("service_failed"):
        try:
            lacking = board.lacking.put("audit", board.client.audit({}, limit=1) is None)
        except PatchbayError:
            g.service_failed = True
    return lacking is False


def _may_look() -> bool:
    """Whether the signed-in person's role may see what others do."""
    return person().role in ("owner", "developer")


def _read(wanted: Wanted) -> PageOf[AuditEntry] | None:
    """One page of entries; a cursor that is broken or of another list leads to the first one."""
    client = dashboard().client
    try:
        return client.audit(wanted.query(), limit=PER_PAGE)
    except Invalid:
        if not wanted.after:
            raise
        return client.audit(wanted.query() | {"after": ""}, limit=PER_PAGE)


def _logins(actors: Iterable[str]) -> dict[str, str]:
    """The addresses of those who sign in here, by the id under which they act."""
    found = {actor: users.by_id(dashboard().store, actor) for actor in set(actors) if actor.startswith("u_")}
    return {actor: user.email for actor, user in found.items() if user}
