"""The trigger of a path is loaded through its owner: what is not the caller's is as if it were not there."""

from typing import Any

import pytest

from tests.service.api.triggers.deploying import deploy
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers


@pytest.mark.parametrize(
    ("method", "rest", "body"),
    [
        ("GET", "", None), ("PUT", "", {"active": False}), ("DELETE", "", None), ("GET", "/logs", None),
        ("POST", "/test_event", {}), ("GET", "/webhooks", None), ("GET", "/events", None),
    ],
)  # fmt: skip
def test_absent_and_not_yours_are_byte_for_byte_the_same(
    shared: Any, method: str, rest: str, body: dict[str, Any] | None
) -> None:
    token = shared.server()
    mine, theirs = (deploy(shared, token, user=user).json["data"] for user in ("alice", "bob"))
    other = Scene(projects.create(shared.service, name="Other").id, "development")
    production = Scene(shared.scene.project_id, "production")

    def ask(trigger_id: str, caller: str, path: str = "P", **more: Any) -> Any:
        address = f"{path}/deployed-triggers/{trigger_id}{rest}?external_user_id=alice"
        more |= {"json": body} if body is not None else {}
        return shared.call(method, address, caller, **more)

    elsewhere = f"/v1/connect/{other.project_id}"
    answers = [
        ask("dc_none", token),
        ask(theirs["id"], token),
        ask(theirs["id"], shared.frontend("alice")),
        ask(mine["id"], shared.frontend("alice", production)),
        ask(mine["id"], token, env="production"),
        ask(mine["id"], token, elsewhere, headers={"x-pd-environment": "development"}),
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.data for answer in answers}) == 1
    stands = deployed_triggers.find(shared.service.store, mine["id"])
    assert stands is not None and stands.active and stands.last_event_at == mine["created_at"]


def test_a_server_names_the_owner_and_a_frontend_is_the_owner(shared: Any) -> None:
    trigger = deploy(shared, shared.server()).json["data"]
    address = f"P/deployed-triggers/{trigger['id']}"
    answer = shared.get(address, shared.server())
    assert answer.status_code == 400
    assert answer.json == {
        "error": "external_user_id is missing: Name the trigger's owner.",
        "details": [{"field": "external_user_id", "message": "Name the trigger's owner."}],
    }
    assert shared.get(f"{address}?external_user_id=nobody", shared.server()).status_code == 404
    assert shared.get(address, shared.frontend("alice")).json["data"]["id"] == trigger["id"]
    assert shared.get(f"{address}?external_user_id=alice", shared.frontend("bob")).status_code == 403
