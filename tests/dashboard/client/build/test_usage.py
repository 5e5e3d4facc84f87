"""Usage over the API, as the project."""

import pytest

from tests.dashboard.client.recorder import Recorder
from webapp.dashboard.client.build import usage
from webapp.errors import Forbidden, NotFound


def test_hours_are_read() -> None:
    recorder = Recorder({"data": [{"usage_start_ts": 3600, "action_run_credits_used": 2, "proxy_credits_used": None}]})
    (hour,) = usage.hours(recorder, 0, 7200) or ()
    assert (hour.start, hour.runs, hour.proxied, hour.events) == (3600, 2, 0, 0)
    path, params = "/v1/connect/usage", {"params": {"start_ts": 0, "end_ts": 7200}}
    assert recorder.calls == [("the project", "GET", path, params)]


def test_days_of_apps_are_read_and_no_app_is_nothing() -> None:
    recorder = Recorder({"data": [{"day": "2026-11-28", "app": None, "runs": 3}]})
    (day,) = usage.by_app(recorder, 0, 7200) or ()
    assert (day.day, day.app, day.runs, day.failed_deliveries) == ("2026-11-28", "", 3, 0)


@pytest.mark.parametrize("refusal", [NotFound(), Forbidden()])
def test_a_service_that_does_not_tell(refusal: Exception) -> None:
    assert usage.hours(Recorder(refusal), 0, 1) is None
    assert usage.by_app(Recorder(refusal), 0, 1) is None
