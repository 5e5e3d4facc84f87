"""The calls that pages made for this person, newest first, each with the code that makes it from a program."""

from collections.abc import Mapping
from typing import Annotated, Any

from webapp.dashboard.client.calls import CallRecord
from webapp.dashboard.component.snippets import snippets
from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.gate import CALLS_KEPT
from webapp.dashboard.pages import ListQuery, among, within
from webapp.kit.translation import lazy as _

PER_PAGE = 20
KINDS: Mapping[str, str] = {"": _("All"), "failed": _("Failed")}


class CallsQuery(ListQuery):
    """Which calls, and how far back."""

    calls: Annotated[str, among(KINDS)] = ""
    page: Annotated[int, within(1, CALLS_KEPT)] = 1


def context() -> dict[str, Any]:
    """What the list is drawn with: a page of all of them, or of those that failed."""
    query = CallsQuery.of_request()
    calls = list(dashboard().calls.get(viewer().external_user_id) or ())[::-1]
    failed = [call for call in calls if call.failed]
    matching = failed if query.calls else calls
    last = max(1, -(-len(matching) // PER_PAGE))
    first = (min(query.page, last) - 1) * PER_PAGE
    return {
        "calls": matching[first : first + PER_PAGE],
        "calls_total": len(matching),
        "calls_page": min(query.page, last),
        "calls_last": last,
        "calls_failed": len(failed),
        "calls_query": query,
        "snippets_of": snippets_of,
    }


def snippets_of(call: CallRecord) -> list[tuple[str, str]]:
    """The same call in each language; the token is the reader's own."""
    return snippets(dashboard().settings.connect_base + call.address, call.environment, call.body, call.method)
