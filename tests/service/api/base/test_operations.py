"""What a declaration says of an operation, and what follows from it."""

import pytest
from flask import Response

from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import NoContent
from webapp.service.api.base.operations import Group, Operations, PathParameter

operations = Operations(Group("Things", "What there is."), PathParameter("thing_id", "The thing's id.", "$THING_ID"))


@operations.get("P/things/<path:thing_id>", answer=dict, limit="tools")
def get_thing(call: Call) -> Response:
    """One thing,
    by its id."""
    return answer({"id": call.path["thing_id"]})


@operations.delete("/v1/things/<lost_id>", name="lose_thing")
def delete_thing(call: Call) -> Response:
    """Lose a thing."""
    return answer({})


def test_a_handler_is_declared_once_and_stays_a_function() -> None:
    one, other = operations
    assert (one.handler, one.name, one.method, one.summary) == (get_thing, "get_thing", "GET", "One thing, by its id.")
    assert (other.handler, other.name, other.method, other.answer) == (
        delete_thing,
        "lose_thing",
        "DELETE",
        NoContent(),
    )
    assert one.group is other.group and one.connect and not one.public


def test_a_path_of_a_project_works_without_the_project_too() -> None:
    one, other = operations
    assert one.in_project and not other.in_project
    assert one.rules == (
        "/v1/connect/<project:project_id>/things/<path:thing_id>",
        "/v1/connect/things/<path:thing_id>",
    )
    assert one.address == "/v1/connect/{project_id}/things/{thing_id}"
    assert other.rules == ("/v1/things/<lost_id>",)


def test_every_parameter_of_a_path_is_described_by_its_module() -> None:
    one, other = operations
    assert [parameter.name for parameter in one.path_parameters] == ["project_id", "thing_id"]
    with pytest.raises(KeyError, match="lost_id"):
        print(other.path_parameters)
