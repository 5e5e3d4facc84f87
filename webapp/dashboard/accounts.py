"""The list of a person's accounts, broken ones first."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from flask import Blueprint, request
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import overview
from webapp.dashboard.client.models.accounts import Account
from webapp.dashboard.dashboard import dashboard, person, service
from webapp.dashboard.htmx import page
from webapp.dashboard.overview import Overview
from webapp.dashboard.trigger.index import known_triggers
from webapp.dashboard.words import STATES
from webapp.errors import PatchbayError

blueprint = Blueprint("accounts", __name__)

PER_PAGE = 25


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the address says: which accounts, and which page of them. ``after`` is the API's own cursor."""

    status: str
    app: str
    number: int
    after: str

    @classmethod
    def of_request(cls) -> "Wanted":
        """Read the query; what makes no sense falls back to the default."""
        args = request.args
        return cls(
            status=args["status"] if args.get("status") in STATES else "",
            app=args.get("app", "")[:100],
            number=min(max(args.get("page", 1, type=int), 1), overview.READ),
            after=args.get("after", "")[:1_000],
        )

    def url(self, **changes: str | int) -> str:
        """The address of this list with ``changes``; defaults are left out of it."""
        parts: dict[str, str | int] = {
            "status": self.status,
            "app": self.app,
            "after": self.after,
            "page": self.number if self.number > 1 else "",
        }
        query = urlencode({name: value for name, value in (parts | changes).items() if value not in ("", 0)})
        return request.path + (f"?{query}" if query else "")


@blueprint.get("/accounts")
def index() -> AnyResponse:
    """The list; for htmx the results alone."""
    wanted = Wanted.of_request()
    everything = _read(wanted)
    known = everything.of_app(wanted.app) if wanted.app else list(everything.accounts)
    matching = [account for account in known if not wanted.status or account.state == wanted.status]
    first = (wanted.number - 1) * PER_PAGE
    return page(
        "dashboard/accounts/index.html",
        "dashboard/accounts/_results.html",
        url=wanted.url(),
        wanted=wanted,
        overview=everything,
        counts=_counts(known),
        matching=len(matching),
        first=first,
        accounts=matching[first : first + PER_PAGE],
        has_next=len(matching) > first + PER_PAGE,
        used=_used(),
    )


def _read(wanted: Wanted) -> Overview:
    found = overview.read(service(), after=wanted.after)
    if not wanted.after:
        dashboard().overviews.put(person().id, found)
    return found


def _used() -> Mapping[str, int] | None:
    """How many triggers use each account; ``None`` where that cannot be told.

    It follows from the list of triggers: asking ``uses`` of every account would use up the limit on account calls.
    """
    try:
        return known_triggers().of_account()
    except PatchbayError:
        return None


def _counts(accounts: list[Account]) -> dict[str, int]:
    return {state: sum(account.state == state for account in accounts) for state in STATES}
