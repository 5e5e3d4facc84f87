"""The calls that pages made for this person, newest first, each with the code that makes it from a program."""

from typing import Any

from flask import request

from webapp.dashboard.client.calls import CallRecord
from webapp.dashboard.component.snippets import snippets
from webapp.dashboard.dashboard import dashboard, viewer


def context() -> dict[str, Any]:
    """What the list is drawn with: all of them, or those that failed."""
    calls = list(dashboard().calls.get(viewer().external_user_id) or ())[::-1]
    failed = [call for call in calls if call.failed]
    only_failed = request.args.get("calls") == "failed"
    return {
        "calls": failed if only_failed else calls,
        "calls_failed": len(failed),
        "only_failed": only_failed,
        "snippets_of": snippets_of,
    }


def snippets_of(call: CallRecord) -> list[tuple[str, str]]:
    """The same call in each language; the token is the reader's own."""
    settings = dashboard().settings
    base = (settings.connect_url or settings.public_url).rstrip("/")
    return snippets(base + call.address, call.environment, call.body, call.method)
