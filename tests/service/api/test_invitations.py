"""Invitations over the API."""

from typing import Any

import pytest

from webapp.people import invitations, users

ALL = "/v1/invitations"


def test_people_are_invited_again_and_withdrawn(world: Any) -> None:
    token = world.server()
    invited = world.post(ALL, token, json={"email": "Lena@example.com", "role": "developer"}).json
    assert (invited["email"], invited["role"], invited["active"]) == ("lena@example.com", "developer", True)
    secret = invited["url"].partition("/invitation?token=")[2]
    store, clock = world.service.store, world.clock
    assert invitations.by_token(store, clock(), secret) is not None
    listed = world.get(ALL, token).json["data"]
    assert listed == [{name: value for name, value in invited.items() if name != "url"}]
    again = world.post(f"{ALL}/{invited['id']}/renew", token).json
    assert again["url"] != invited["url"] and invitations.by_token(store, clock(), secret) is None
    assert world.call("DELETE", f"{ALL}/{invited['id']}", token).status_code == 204
    assert world.get(ALL, token).json["data"] == []
    for method, path in (("DELETE", f"{ALL}/{invited['id']}"), ("POST", f"{ALL}/{invited['id']}/renew")):
        assert world.call(method, path, token).status_code == 404


def test_who_has_a_login_is_not_invited(world: Any) -> None:
    users.create(world.service.store, world.clock, email="ada@example.com", password="ten letters", role="owner")
    refused = world.post(ALL, world.server(), json={"email": "ada@example.com"})
    assert refused.status_code == 409 and "already has a login" in refused.json["error"]
    wrong = world.post(ALL, world.server(), json={"email": "ada"})
    assert (wrong.status_code, wrong.json["details"][0]["field"]) == (400, "email")
    assert world.post(ALL, world.server(), json={"email": "kim@example.com", "role": "king"}).status_code == 400


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_only_a_client_of_the_whole_workspace_may(world: Any, method: str) -> None:
    body = {"json": {"email": "kim@example.com"}} if method == "POST" else {}
    for token in (world.server(project_id=world.scene.project_id), world.server("connect:*"), world.frontend()):
        assert world.call(method, ALL, token, **body).status_code == 403
