"""The logs of one external user, or of a project (contract "Logs").

Whoever asks for a project's has checked that the person may see what everybody in it does.
"""

from collections.abc import Iterator
from typing import Protocol

from webapp.dashboard.client.connect import ConnectClient, read
from webapp.dashboard.client.models.logs import LogEntry, LogPage
from webapp.dashboard.client.transport import Params
from webapp.errors import NotFound

AT_ONCE = 100


class LogReader(Protocol):
    """What a list of entries is read from: the logs, or what a service without them tells."""

    def page(self, filters: Params, *, limit: int, after: str = "") -> LogPage | None:
        """A page, newest first; ``None`` if there is nothing to read from."""

    def entry(self, entry_id: str) -> LogEntry:
        """One entry, whole. Raises :class:`NotFound`."""


class LogClient:
    """The logs of the user ``user_id``, or without one of the whole project and environment of ``client``."""

    def __init__(self, client: ConnectClient, user_id: str = "") -> None:
        self._client, self._user_id = client, user_id

    def page(self, filters: Params, *, limit: int, after: str = "") -> LogPage | None:
        """``GET P/logs`` (an extension), newest first; ``None`` if the service has none."""
        params: Params = {**filters, "limit": limit, "after": after}
        if self._user_id:
            params = {**params, "external_user_id": self._user_id}
        try:
            answer = self._get(self._client.path("logs"), params)
        except NotFound:
            return None
        return LogPage.model_validate(answer)

    def entry(self, entry_id: str) -> LogEntry:
        """``GET P/logs/{id}`` (an extension). Raises :class:`NotFound`."""
        return read(LogEntry, self._get(self._client.path("logs", entry_id), {}))

    def _get(self, path: str, params: Params) -> object:
        if self._user_id:
            return self._client.as_user(self._user_id, "GET", path, params=params)
        return self._client.as_project("GET", path, params=params)


def every(reader: LogReader, filters: Params, *, most: int) -> Iterator[LogEntry]:
    """All entries of a list, newest first, at most ``most``."""
    after, left = "", most
    while left > 0:
        page = reader.page({**filters, "counts": False}, limit=min(AT_ONCE, left), after=after)
        if page is None:
            return
        yield from page.data
        after, left = page.page_info.end_cursor, left - len(page.data)
        if not after or not page.data:
            return
