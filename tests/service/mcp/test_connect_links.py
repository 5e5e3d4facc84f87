"""The Connect Link that an agent hands over: it connects accounts and can do nothing else."""

from typing import Any

import pytest

from webapp.service.domain.access import connect_tokens
from webapp.service.domain.base.rate_limits import LIMITS
from webapp.service.domain.components import components


def test_its_token_is_for_the_person_and_the_app_and_for_connecting_only(world: Any) -> None:
    for agent in (world.agent(), world.server_agent()):
        told = agent.text("make_task", title="A", project_id="p1")
        assert told.startswith("No Tiny Keys account is connected. Give the person this link")
        token = connect_tokens.verify(world.service, told.split("token=")[1].split("&")[0])
        assert (token.external_id, token.scope, token.app) == ("alice", "connect:accounts:write", "tinykeys")


def test_links_count_towards_the_limit_of_tokens(world: Any) -> None:
    agent = world.agent()
    told = [agent.text("make_task", title="A", project_id="p1") for _ in range(LIMITS["tokens"].requests + 1)]
    assert "token=" in told[-2] and "token=" not in told[-1]


def test_what_an_account_was_not_given_is_added_by_the_person(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    account = world.account()
    err = {"name": "HttpError", "message": "No. It lacks gists.", "account_id": account.id, "lacking_scopes": ["gists"]}
    run: dict[str, Any] = {"exports": {}, "os": [{"k": "error", "ts": 1, "err": err}], "ret": None}
    monkeypatch.setattr(components, "run", lambda service, request: run)
    assert "action=" not in world.agent().text("fail", token="x")  # which was called without the account
    told = world.agent().text("make_task", title="A", project_id="p1")
    assert told.startswith("No. It lacks gists. The Tiny Keys account was not given all that")
    assert f"accountId={account.id}&action=" in told


def test_an_account_that_is_refused_in_the_middle_is_reconnected_by_the_person(world: Any) -> None:
    account = world.plant("alice", values={"api_key": "a-key-that-is-refused", "region": "eu"})
    further = world.agent().call("begin_configuration", tool="make_task", arguments={"project_id": "p1"})
    values = {"title": "A", "project_id": "p1", "colour": "red"}
    named = {"dynamic_props_id": further["structuredContent"]["dynamic_props_id"]}
    told = world.agent().text("make_task", **values, **named)
    assert "no longer works; reconnect it." in told and f"accountId={account.id}" in told
    assert world.agent().text("fail", token="x").startswith("It failed with")
