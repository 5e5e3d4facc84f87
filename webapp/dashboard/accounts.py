"""The list of a person's accounts: filtered by state and app, 25 on a page, broken ones first.

Reading and sorting is left to :mod:`.overview`, the page of an account to :mod:`.account`.
"""

from typing import Annotated, Any

from flask import Blueprint
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models.accounts import Account
from webapp.dashboard.client.overview import READ, read_accounts
from webapp.dashboard.dashboard import known_accounts, service, uses_by_account
from webapp.dashboard.pages import ListQuery, among, at_most, page, within
from webapp.dashboard.words import STATES

blueprint = Blueprint("accounts", __name__)

PER_PAGE = 25


class AccountsQuery(ListQuery):
    """The filters and page of the list. ``after`` is the API's cursor to accounts that the overview did not read."""

    status: Annotated[str, among(STATES)] = ""
    app: Annotated[str, at_most(100)] = ""
    after: Annotated[str, at_most(1_000)] = ""
    page: Annotated[int, within(1, READ)] = 1


@blueprint.get("/accounts")
def index() -> AnyResponse:
    """The list; for htmx only the results."""
    query = AccountsQuery.of_request()
    templates = "dashboard/accounts/index.html", "dashboard/accounts/_results.html"
    return page(*templates, url=query.url(), query=query, used=uses_by_account(), **_matching(query))


def _matching(query: AccountsQuery) -> dict[str, Any]:
    """The accounts on this page, and the number of all that match."""
    overview = read_accounts(service(), after=query.after) if query.after else known_accounts(fresh=True)
    of_app = overview.of_app(query.app) if query.app else list(overview.accounts)
    matching = [account for account in of_app if not query.status or account.state == query.status]
    first = (query.page - 1) * PER_PAGE
    return {
        "overview": overview,
        "counts": _counts(of_app),
        "matching": len(matching),
        "first": first,
        "accounts": matching[first : first + PER_PAGE],
        "has_next": len(matching) > first + PER_PAGE,
    }


def _counts(accounts: list[Account]) -> dict[str, int]:
    return {state: sum(account.state == state for account in accounts) for state in STATES}
