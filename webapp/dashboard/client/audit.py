"""Who did what in the project, as ``GET P/audit`` tells it (an extension), and where there is such a record at all.

It shows what everybody does, so whoever calls :func:`page` has made sure that the person may look.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from flask import g

from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.client.models import accounts, reading
from webapp.dashboard.client.models.accounts import PageOf
from webapp.dashboard.client.models.reading import Json
from webapp.dashboard.dashboard import dashboard, person
from webapp.errors import Forbidden, NotFound, PatchbayError


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that was done to something. Times are ISO 8601; what is not told is ""."""

    id: str
    at: str
    actor_kind: str
    actor: str
    noun: str
    subject_id: str
    verb: str
    sentence: str
    user: str


def may_look() -> bool:
    """Whether the signed-in person's role may see what others do."""
    return person().role in ("owner", "developer")


def offered() -> bool:
    """Whether there is anything that this person may see. Our service keeps a record; another is asked now and then."""
    board = dashboard()
    if not may_look():
        return False
    if not board.settings.connect_url:
        return True
    lacking = board.lacking.get("audit")
    if lacking is None and not g.get("service_failed"):
        try:
            lacking = board.lacking.put("audit", page(board.client, {}, limit=1) is None)
        except PatchbayError:
            g.service_failed = True
    return lacking is False


def page(client: ConnectClient, wanted: Mapping[str, str], *, limit: int) -> PageOf[Deed] | None:
    """Deeds, newest first: ``wanted`` has noun, subject_id, actor and after. ``None`` where no record may be read."""
    params: dict[str, str | int | bool | list[str]] = {name: value for name, value in wanted.items() if value}
    try:
        answer = client.as_project("GET", client.project_path("audit"), params=params | {"limit": limit})
    except (NotFound, Forbidden):
        return None
    return accounts.page_of(answer if isinstance(answer, dict) else {}, _deed)


def _deed(data: Json) -> Deed:
    parts = ("id", "at", "actor_type", "actor", "noun", "subject_id", "verb", "sentence", "external_user_id")
    return Deed(*(reading.text(data, part) for part in parts))
