"""The logs: everything that happened in an environment, or to one user, in one list, newest first.

A token sees the kinds that its scopes admit to where they have a list of their own; a Connect token sees what is its
user's, and of calls those that were made with a token of that user.
"""

from dataclasses import replace
from typing import Any, Literal

from flask import Response
from pydantic import Field

from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Answer, AppName, Data, DateTime, ExternalUserId, Flag, Paged
from webapp.service.api.base.operations import OWNER, Example, Group, Operations, PathParameter
from webapp.service.api.deliveries import Moment
from webapp.service.domain.accounts import apps
from webapp.service.domain.base import token_scopes
from webapp.service.domain.logs import logs
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects import log_entries as domain
from webapp.service.domain.projects.log_entries import KINDS, MOST_COUNTED, Kind, LogFilter, LogSource, Status

SCOPES = tuple(sorted({scope for source in logs.SOURCES for scope in source.scopes}))
operations = Operations(
    Group("Logs", "Everything that happened, in one list."),
    PathParameter("entry_id", "The entry's id.", "$RUN_ID"),
    read=SCOPES,
    extension=True,
)


class LogList(Paged):
    """Which entries of the logs."""

    external_user_id: ExternalUserId | None = None
    kind: Kind | None = Field(None, description="Only entries of this kind.")
    app: AppName = None
    status: Status | None = Field(None, description="Only what ended so, or waits.")
    since: Moment | None = Field(None, description="Only from this time on, in epoch milliseconds.")
    until: Moment | None = Field(None, description="Only up to this time, in epoch milliseconds.")
    id: str | None = Field(
        None,
        max_length=200,
        description="Only this entry, or what belongs to this event, account, deployed trigger or component.",
    )
    quiet: Flag = Field(False, description="With the `id` of a deployed trigger, also polls that found nothing.")
    counts: Flag = Field(True, description="Whether to count the entries of each kind.")


class LogEntry(Answer):
    """One entry. The ids are of what it belongs to."""

    kind: Kind
    id: str = Field(examples=["run_3Ko9Ei"])
    at: DateTime
    status: Status
    outcome: str = Field(description="An HTTP status, or the state in its own words.", examples=["succeeded"])
    title: str = Field(description="What it is about.", examples=["Create issue"])
    text: str | None = Field(description="What came of it.", examples=["Created issue 42"])
    took_ms: int | None = Field(examples=[231])
    app: str | None = Field(examples=["github"])
    external_user_id: str | None = Field(examples=["user-123"])
    agent: str | None = Field(examples=[None])
    component_key: str | None = Field(examples=["github-create-issue"])
    account_id: str | None = Field(examples=[None])
    trigger_id: str | None = Field(examples=[None])
    event_id: str | None = Field(examples=[None])
    attempt: int | None = Field(description="Of a delivery, how often it was tried.", examples=[None])
    next_attempt_at: DateTime | None = Field(description="Of a delivery that waits, its next try.", examples=[None])
    emitted: int | None = Field(description="Of a trigger's run, how many events it emitted.", examples=[None])


class LogEntryDetails(LogEntry):
    """An entry with what was asked and what came back. Which of these it has follows from its kind."""

    request: dict[str, Any] | None = Field(None, description="What was asked; secrets are masked.")
    response: dict[str, Any] | None = Field(None, description="What came back; secrets are masked.")
    attempts: list[dict[str, Any]] | None = Field(None, description="Of a delivery, every attempt.", examples=[None])
    caller_type: Literal["client", "user", "person", "command", "system"] | None = Field(None, examples=[None])
    caller: str | None = Field(None, description="Who made a call of the API.", examples=[None])
    request_id: str | None = Field(None, description="The `X-Request-Id` of a call of the API.", examples=[None])


class LogPageInfo(Answer):
    """The position of a page in its list. `end_cursor` is empty on the last page."""

    count: int = Field(examples=[1])
    start_cursor: str = Field(examples=["WyJhIl0"])
    end_cursor: str = Field(examples=[""])


class LogPage(Answer):
    """One page of the logs."""

    data: list[LogEntry]
    page_info: LogPageInfo
    counts: dict[str, int] = Field(
        description=f"How many entries of each kind the other filters leave; {MOST_COUNTED} means that or more. "
        "Empty with `counts=false`.",
        examples=[dict.fromkeys(KINDS, 1)],
    )


@operations.get("P/logs", answer=LogPage, query=LogList, example=Example(query={**OWNER, "status": "succeeded"}))
def list_logs(call: Call) -> Response:
    """Entries of the environment, or of one user, newest first."""
    return answer(page_json(call, call.query(LogList)))


@operations.get("P/logs/<entry_id>", answer=Data[LogEntryDetails])
def get_log_entry(call: Call) -> Response:
    """One entry, with what was asked and what came back."""
    entry, details = logs.get(call.service, _filter(call, None), call.path["entry_id"], _sources(call, None))
    return answer({"data": {**_to_json(call, entry), **details}})


def page_json(call: Call, query: LogList) -> dict[str, Any]:
    """The page that ``query`` asks for, of what the caller may see. Raises :class:`webapp.errors.Forbidden`."""
    sources = _sources(call, query.kind)
    log_filter = _filter(call, query.external_user_id)
    log_filter = replace(
        log_filter,
        app=apps.slug_of(call.service, query.app) if query.app else None,
        status=query.status,
        since=query.since,
        until=query.until,
        quiet=query.quiet,
    )
    kind, entry_id = query.kind, query.id or None
    page = logs.page(
        call.store,
        call.service.clock(),
        log_filter,
        query.window,
        kind=kind,
        entry_id=entry_id,
        sources=sources,
        counted=query.counts,
    )
    allowed = {source.kind for source in sources}
    return {
        "data": [_to_json(call, entry) for entry in page.entries],
        "page_info": {
            "count": len(page.entries),
            "start_cursor": page.start_cursor,
            "end_cursor": page.end_cursor,
        },
        "counts": {each: count for each, count in page.counts.items() if each in allowed},
    }


def _to_json(call: Call, entry: domain.LogEntry) -> dict[str, Any]:
    """The entry, titled with the name of its component if that is known, rather than with its key."""
    component = call.service.catalog.component(entry.component_key) if entry.component_key == entry.title else None
    return entry.to_json() | ({"title": component.name} if component else {})


def _sources(call: Call, kind: Kind | None) -> list[LogSource]:
    """The sources that the token's scopes admit to. Raises :class:`webapp.errors.Forbidden` if ``kind`` has none."""
    of_kind = [source for source in logs.SOURCES if kind in (None, source.kind)]
    call.caller.require(*sorted({scope for source in of_kind for scope in source.scopes}))
    granted = call.caller.scopes
    return [source for source in logs.SOURCES if any(token_scopes.covers(granted, scope) for scope in source.scopes)]


def _filter(call: Call, external_user_id: str | None) -> LogFilter:
    """The entries that the caller may see, of one user if one is named. Raises :class:`webapp.errors.Forbidden`."""
    external_id = call.caller.user_filter(external_user_id)
    user = external_users.find(call.store, call.scene, external_id) if external_id is not None else None
    user_id = None if external_id is None else user.id if user else ""
    return LogFilter(call.scene, external_id, user_id, own=call.user is not None)
