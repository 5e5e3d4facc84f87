"""What agents did and wanted to do, newest first, in sentences."""

from collections.abc import Iterable
from dataclasses import dataclass

from webapp.dashboard.client.models.agents import Approval
from webapp.dashboard.client.models.runs import Run
from webapp.dashboard.dashboard import known_component
from webapp.errors import PatchbayError
from webapp.kit.clock import iso, parse_iso
from webapp.kit.translation import gettext

_RUN_TONES = {"succeeded": "ok", "failed": "bad"}


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """One thing that an agent did, or did not get to do. ``at`` is ISO 8601."""

    at: str
    agent: str
    sentence: str
    tone: str


def of_runs(runs: Iterable[Run]) -> list[AgentEntry]:
    """What agents ran."""
    return [_of_run(run) for run in runs]


def together(runs: Iterable[Run], approvals: Iterable[Approval], limit: int) -> list[AgentEntry]:
    """The newest of what agents ran, and of what did not come to it."""
    entries = [*of_runs(runs), *(entry for approval in approvals if (entry := _of_approval(approval)))]
    return sorted(entries, key=lambda entry: entry.at, reverse=True)[:limit]


def _of_run(run: Run) -> AgentEntry:
    tone = _RUN_TONES.get(run.status, "")
    return AgentEntry(_time(run.at), run.agent, run.summary or _name(run.component_key), tone)


def _of_approval(approval: Approval) -> AgentEntry | None:
    if approval.state not in ("refused", "expired"):
        return None
    action = _name(approval.component_key)
    if approval.state == "refused":
        sentence = gettext("You refused: {action}").format(action=action)
    else:
        sentence = gettext("Nobody answered in time: {action}").format(action=action)
    return AgentEntry(approval.decided_at or approval.created_at or "", approval.agent, sentence, "warn")


def _name(key: str) -> str:
    try:
        return known_component("actions", key).name
    except PatchbayError:
        return key


def _time(at: str | int | None) -> str:
    """A time as services write it: text, or epoch milliseconds."""
    if isinstance(at, int):
        return iso(at)
    try:
        return iso(parse_iso(at or ""))
    except ValueError:
        return ""
