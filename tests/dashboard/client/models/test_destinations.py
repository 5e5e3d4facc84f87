"""Where triggers deliver to."""

from webapp.dashboard.client.models.destinations import Endpoint, EndpointOfLate, Workflows


def test_an_endpoint_that_failed_lately_is_in_penalty_at_once() -> None:
    lately = Endpoint.model_validate({"delivery_state": {"state": "happy", "since": 5, "consecutive_failures": 1}})
    assert (lately.state, lately.failing, lately.since) == ("penalty", True, None)
    penalty = Endpoint.model_validate({"url": "https://a.test/x", "delivery_state": {"state": "penalty", "since": 5}})
    assert (penalty.since, penalty.host) == (5_000, "a.test")
    assert Endpoint.model_validate({"active": False}).state == "deactivated"
    assert not Endpoint.model_validate({}).failing


def test_one_that_nothing_arrived_at_is_new_or_not_found() -> None:
    assert (Endpoint().state, EndpointOfLate().state) == ("happy", "new")
    assert EndpointOfLate.model_validate({"last_success_at": 5}).state == "happy"
    missing = {"delivery_state": {"state": "happy", "last_error": "There is no server named so."}}
    assert EndpointOfLate.model_validate(missing).state == "unknown"
    assert not EndpointOfLate.model_validate(missing).failing
    assert Endpoint(url="https://a.test/x").short == "a.test/x"


def test_workflows_are_the_ids_with_what_is_told_of_them() -> None:
    answer = {"workflow_ids": ["wf_1", "wf_2"], "workflows": [{"id": "wf_2", "name": "Two"}]}
    assert [(item.id, item.name) for item in Workflows.model_validate(answer).known()] == [
        ("wf_1", ""),
        ("wf_2", "Two"),
    ]
