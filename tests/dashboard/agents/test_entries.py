"""What agents did and did not get to do, newest first."""

from unittest.mock import patch

from webapp.dashboard.agents import entries
from webapp.dashboard.client.models.agents import Approval
from webapp.dashboard.client.models.runs import Run
from webapp.errors import NotFound

RUN = {"started_at": "2026-11-20T10:00:00Z", "status": "succeeded", "summary": "Found it", "agent": "Helper", "id": "r"}
CALL = {"id": "apr_1", "agent": "Helper", "component_key": "app-do", "created_at": "2026-11-20T09:00:00Z"}


def test_runs_and_calls_are_told_together() -> None:
    run = Run.model_validate(RUN)
    refused = Approval.model_validate({**CALL, "state": "refused", "decided_at": "2026-11-20T11:00:00Z"})
    expired, waiting = (Approval.model_validate({**CALL, "state": state}) for state in ("expired", "waiting"))
    with patch.object(entries, "known_component", side_effect=NotFound):
        told = entries.together([run], [refused, expired, waiting], 5)
        assert entries.together([run], [refused], 1) == told[:1]
    assert [(entry.sentence, entry.tone) for entry in told] == [
        ("You refused: app-do", "warn"),
        ("Found it", "ok"),
        ("Nobody answered in time: app-do", "warn"),
    ]


def test_times_are_read_however_they_are_written() -> None:
    times = [entries.of_runs([Run.model_validate({**RUN, "started_at": at})])[0].at for at in (0, "never")]
    assert times == ["1970-01-01T00:00:00.000Z", ""]
