"""The Connect API on an application: its own addresses answer JSON, those of others are left alone."""

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from webapp.service.api.table import OPERATIONS
from webapp.service.api.wiring import register
from webapp.service.domain.base.rate_limits import Limiter
from webapp.setting_values import BadSetting

NAMES = {f"api.{operation.name}" for operation in OPERATIONS}


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "FOO", "TRACE", "PROPFIND"])
def test_other_methods_are_405_and_told_what_works(shared: Any, method: str) -> None:
    answer = shared.call(method, "/v1/connect/apps", shared.server())
    assert answer.status_code == 405 and answer.content_type == "application/json"
    assert answer.json == {"error": "This address answers only GET, HEAD, OPTIONS."}
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/nothing", "/v1/connect/accounts/", "/v1/connect", "/v1/oauth"])
def test_unknown_addresses_are_404_without_a_redirect(shared: Any, path: str) -> None:
    for method in ("GET", "POST", "FOO"):
        answer = shared.call(method, path, shared.frontend())
        assert answer.status_code == 404 and answer.content_type == "application/json"
        assert answer.json == {"error": "There is nothing at this address; check its path."}
        assert "Location" not in answer.headers


def test_paths_outside_v1_are_not_touched(shared: Any) -> None:
    answer = shared.http.get("/v1x")
    assert answer.status_code == 404 and answer.mimetype == "text/html"
    assert "X-Request-Id" not in answer.headers


def test_a_head_request_has_no_body(shared: Any) -> None:
    answer = shared.call("HEAD", "/v1/connect/apps", shared.server())
    assert answer.status_code == 200 and answer.data == b""


def test_an_operation_is_routed_with_its_project_and_without(shared: Any) -> None:
    rules = list(shared.http.application.url_map.iter_rules("api.list_accounts"))
    assert {(rule.rule, frozenset(rule.methods)) for rule in rules} == {
        ("/v1/connect/<project:project_id>/accounts", frozenset({"GET", "HEAD"})),
        ("/v1/connect/accounts", frozenset({"GET", "HEAD"})),
    }
    assert len({rule.endpoint for rule in shared.http.application.url_map.iter_rules()} & NAMES) == len(NAMES)


def test_earlier_clients_call_apps_and_accounts_by_other_paths(world: Any) -> None:
    server, browser = world.server(), world.frontend("alice")
    for token in (server, browser):
        assert world.get("/v1/apps?q=tiny", token).json == world.get("/v1/connect/apps?q=tiny", token).json
        assert world.get("/v1/apps/tinykeys", token).json["data"]["name_slug"] == "tinykeys"
    assert world.get("/v1/apps").status_code == 401
    kept, gone = world.plant("bob"), world.plant("alice")
    reader = world.server(scope="connect:accounts:read")
    assert world.call("DELETE", "P/accounts/app/tinykeys", reader).status_code == 403
    assert world.call("DELETE", "/v1/connect/accounts/app/tinykeys", browser).status_code == 204
    assert [one["id"] for one in world.get("P/accounts", server).json["data"]] == [kept.id] != [gone.id]
    assert world.call("DELETE", "P/accounts/app/tinykeys", server).headers["X-RateLimit-Limit"] == "2000"
    assert world.get("P/accounts", server).json["data"] == []


def test_a_storage_for_limits_that_cannot_be_used_is_said_before_anything_is_served(shared: Any) -> None:
    with pytest.raises(BadSetting, match=r"^PATCHBAY_LIMITS_STORAGE cannot be used: pigeon is no"):
        register(Flask("unwired"), replace(shared.service, limits=Limiter("pigeon://loft", shared.clock)))
