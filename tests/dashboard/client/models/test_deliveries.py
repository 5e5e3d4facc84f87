"""Where triggers deliver to.

Deliveries and the last day of them.
"""

from webapp.dashboard.client.models.deliveries import (
    Attempt,
    Day,
    DayOf,
    Endpoint,
    EndpointWithStatistics,
    Workflows,
)


def test_an_endpoint_that_failed_lately_is_in_penalty_at_once() -> None:
    lately = Endpoint.model_validate({"delivery_state": {"state": "happy", "since": 5, "consecutive_failures": 1}})
    assert (lately.state, lately.failing, lately.since) == ("penalty", True, None)
    penalty = Endpoint.model_validate({"url": "https://a.test/x", "delivery_state": {"state": "penalty", "since": 5}})
    assert (penalty.since, penalty.host) == (5_000, "a.test")
    assert Endpoint.model_validate({"active": False}).state == "deactivated"
    assert not Endpoint.model_validate({}).failing


def test_one_that_nothing_arrived_at_is_new_or_not_found() -> None:
    assert (Endpoint().state, EndpointWithStatistics().state) == ("happy", "new")
    assert EndpointWithStatistics.model_validate({"last_success_at": 5}).state == "happy"
    missing = {"delivery_state": {"state": "happy", "last_error": "There is no server named so."}}
    assert EndpointWithStatistics.model_validate(missing).state == "unknown"
    assert not EndpointWithStatistics.model_validate(missing).failing
    assert Endpoint(url="https://a.test/x").short == "a.test/x"


def test_workflows_are_the_ids_with_what_is_told_of_them() -> None:
    answer = {"workflow_ids": ["wf_1", "wf_2"], "workflows": [{"id": "wf_2", "name": "Two"}]}
    assert [(item.id, item.name) for item in Workflows.model_validate(answer).known()] == [
        ("wf_1", ""),
        ("wf_2", "Two"),
    ]


def test_an_attempt_is_good_when_it_was_accepted() -> None:
    codes = {"response_status": 204}, {"response_status": 503}, {"failure": "timeout"}
    assert [Attempt.model_validate(code).good for code in codes] == [True, False, False]


def test_a_day_counts_everything() -> None:
    assert Day(delivered=3, failed=2, waiting=1).total == 6
    assert DayOf.model_validate({"id": "dc_1", "failing": [{"url": "https://a.test/"}]}).failing[0].host == "a.test"
