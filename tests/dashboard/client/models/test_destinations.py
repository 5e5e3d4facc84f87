"""Where triggers deliver to."""

from webapp.dashboard.client.models.destinations import Endpoint, Workflows


def test_an_endpoint_that_failed_lately_is_in_penalty_at_once() -> None:
    lately = Endpoint.model_validate({"delivery_state": {"state": "happy", "since": 5, "consecutive_failures": 1}})
    assert (lately.state, lately.failing, lately.since) == ("penalty", True, None)
    penalty = Endpoint.model_validate({"url": "https://a.test/x", "delivery_state": {"state": "penalty", "since": 5}})
    assert (penalty.since, penalty.host) == (5_000, "a.test")
    assert Endpoint.model_validate({"active": False}).state == "deactivated"
    assert not Endpoint.model_validate({}).failing


def test_workflows_are_the_ids_with_what_is_told_of_them() -> None:
    answer = {"workflow_ids": ["wf_1", "wf_2"], "workflows": [{"id": "wf_2", "name": "Two"}]}
    assert [(item.id, item.name) for item in Workflows.model_validate(answer).known()] == [
        ("wf_1", ""),
        ("wf_2", "Two"),
    ]
