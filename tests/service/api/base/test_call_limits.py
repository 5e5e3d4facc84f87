"""Rate limits as clients meet them (contract "Rate limits")."""

import threading
from dataclasses import replace
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.service.api.application import Application
from webapp.kit.clock import SECOND
from webapp.service.api.base import operations
from webapp.service.api.table import OPERATIONS
from webapp.service.domain.access import access_tokens, connect_tokens, oauth_clients
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.base.rate_limits import LIMITS, Limit, LimitState
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene

NAMES = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same limits, smaller."""
    for name, limit in LIMITS.items():
        monkeypatch.setitem(LIMITS, name, Limit(5, limit.window_s))


def left(answer: TestResponse) -> int:
    return int(answer.headers.get("X-RateLimit-Remaining", -1))


def custom(world: Any, requests: int, window_s: int = 60) -> dict[str, str]:
    body = {"window_size_seconds": window_s, "requests_per_window": requests}
    made = world.post("/v1/connect/rate_limits", world.server(), json=body)
    assert made.status_code == 200 and list(made.json or {}) == ["token"]
    return {operations.HEADER: str((made.json or {})["token"])}


def test_the_limits_are_those_of_the_specification() -> None:
    assert LIMITS == {
        "tokens": (100, 60),
        "accounts": (2_000, 300),
        "tools": (3_000, 300),
        "executions": (2_000, 300),
        "proxy": (1_000, 300),
    }


def test_every_operation_counts_where_it_should() -> None:
    found: dict[str, set[str]] = {}
    for operation in OPERATIONS:
        if operation.limit:
            found.setdefault(operation.limit, set()).add(f"{operation.method} {operation.path}")
    assert found["tokens"] == {"POST P/tokens"}
    accounts = {(one.method, one.path) for one in OPERATIONS if "/accounts" in one.path}
    assert found["accounts"] == {f"{method} {path}" for method, path in accounts if method in ("GET", "DELETE")}, (
        'it says limit="accounts", or the contract counts other calls (contract "Rate limits")'
    )
    assert {"GET P/accounts", "DELETE P/apps/<app>/accounts"} <= found["accounts"]
    nouns = ("components", "actions", "triggers")
    assert found["tools"] == {f"GET P/{noun}{rest}" for noun in nouns for rest in ("", "/<component:component_id>")}
    assert found["executions"] == {f"POST P/{noun}/{verb}" for noun in nouns for verb in ("configure", "props")} | {
        "POST P/actions/run",
        "POST P/components/run",
    }
    assert {one.split()[1] for one in found["proxy"]} == {"P/proxy/<path:url_64>", "P/embed_check"}


def test_a_throttled_answer_is_section_7_to_the_letter(world: Any, narrow: None) -> None:
    token = world.server()
    for expected in (4, 3, 2, 1, 0):
        allowed = world.get("P/accounts", token)
        assert (allowed.status_code, left(allowed)) == (200, expected)
        assert allowed.headers["X-RateLimit-Limit"] == "5"
        assert allowed.headers["X-RateLimit-Reset"] == str(-(-(world.clock() + 300 * SECOND) // SECOND))
    world.clock.advance(100 * SECOND)
    stopped = world.get("P/accounts", token)
    assert stopped.status_code == 429
    assert stopped.json == {"error": "Throttled"}
    assert stopped.headers["Retry-After"] == "200"
    assert [stopped.headers[name] for name in NAMES] == ["5", "0", str(world.clock() // SECOND + 200)]
    assert all(len(stopped.headers.getlist(name)) == 1 for name in NAMES)
    world.clock.advance(int(stopped.headers["Retry-After"]) * SECOND)
    assert left(world.get("P/accounts", token)) == 4


@pytest.mark.parametrize("begun_ms", [0, 1, 500, 999])
def test_headers_at_the_edge_of_a_window(world: Any, narrow: None, begun_ms: int) -> None:
    """``X-RateLimit-Reset`` and ``Retry-After`` are whole seconds, rounded up: whoever believes either one passes."""
    token, reset = world.server(), ""
    world.clock.advance(-world.clock() % SECOND + begun_ms)
    ends = world.clock() + 300 * SECOND
    for _ in range(5):
        reset = world.get("P/accounts", token).headers["X-RateLimit-Reset"]
    assert int(reset) == -(-ends // SECOND) and 0 <= int(reset) * SECOND - ends < SECOND
    for left_ms, wait in ((300_000, 300), (1_001, 2), (1_000, 1), (1, 1)):
        world.clock.advance(ends - left_ms - world.clock())
        stopped = world.get("P/accounts", token)
        assert (stopped.status_code, stopped.headers["Retry-After"]) == (429, str(wait))
        assert stopped.headers["X-RateLimit-Reset"] == reset
    world.clock.advance(1)
    passed = world.get("P/accounts", token)
    assert (passed.status_code, left(passed)) == (200, 4)
    assert int(passed.headers["X-RateLimit-Reset"]) == -(-(ends + 300 * SECOND) // SECOND)


def test_classes_projects_and_environments_are_counted_apart(world: Any, narrow: None) -> None:
    token = world.server()
    for path in ("P/accounts", "P/accounts/apn_none", "P/users/alice/accounts", "P/accounts", "P/accounts?limit=x"):
        answer = world.get(path, token)
    assert (answer.status_code, left(answer)) == (400, 0)  # counted before it is looked at
    assert world.call("DELETE", "P/apps/tinykeys/accounts", token).status_code == 429
    assert left(world.get("P/components", token)) == 4
    assert left(world.get("P/accounts", token, env="production")) == 4
    other = Scene(projects.create(world.service, name="Other").id, "development")
    assert left(world.get("/v1/connect/accounts", world.frontend(scene=other))) == 4
    assert world.get("P/accounts", world.frontend()).status_code == 429  # whoever calls


def test_each_person_of_the_own_dashboard_is_counted_alone(world: Any, narrow: None) -> None:
    client_id, _ = oauth_clients.dashboard(world.service)
    ann, bob = (
        connect_tokens.create(world.service, world.scene, TokenRequest(user), client_id=client_id)["token"]
        for user in ("u_ann", "u_bob")
    )
    assert [left(world.get("P/accounts", ann)) for _ in range(5)] == [4, 3, 2, 1, 0]
    assert world.get("P/accounts", ann).status_code == 429
    assert left(world.get("P/accounts", bob)) == left(world.get("P/accounts", world.frontend("u_ann"))) == 4
    own = access_tokens.issue(world.service, oauth_clients.find(world.service, client_id), None).token  # type: ignore[arg-type]  # it is there
    assert left(world.get("P/accounts", own)) == 4
    assert left(world.get("P/accounts", world.server())) == 3  # as the token of a product's frontend before


def test_executions_share_one_count_in_every_path_form(world: Any, narrow: None) -> None:
    token = world.server()
    paths = ("actions/run", "components/configure", "actions/props", "triggers/configure", "components/run")
    counts = [left(world.post(f"P/{path}", token, json={})) for path in paths]
    assert counts == [4, 3, 2, 1, 0]
    assert world.post("P/triggers/props", token, json={}).status_code == 429


def test_calls_of_components_are_bounded_for_a_user_and_for_a_project(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(token: str, user: Any = None, path: str = "actions/run") -> tuple[int, str | None]:
        answer = world.post(f"P/{path}", token, json={"external_user_id": user} if user else {})
        return answer.status_code, answer.headers.get("X-RateLimit-Limit")

    monkeypatch.setitem(world.service.settings.quotas, "USER_RUNS", 2)
    monkeypatch.setitem(world.service.settings.quotas, "PROJECT_RUNS", 6)
    server, alice = world.server(), world.frontend()
    assert run(alice)[0] == run(server, "alice", "triggers/configure")[0] == 400  # counted, then found incomplete
    assert run(alice, "alice") == run(server, "alice") == (429, "2")
    assert [run(server, user)[0] for user in ("bob", "bob", "bob", 7, None, "carol")] == [400, 400, 429, 400, 400, 429]
    assert world.post("P/triggers/deploy", server, json={}).status_code == 400
    elsewhere = world.post("P/actions/run", server, env="production", json={"external_user_id": "alice"})
    assert elsewhere.status_code == 400, "each environment has its own"
    world.clock.advance(60 * SECOND)
    assert run(alice)[0] == 400


def test_a_product_has_as_many_executions_as_the_specification_promises_in_each_environment(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Section 8: 2,000 in five minutes, of one user or of many, beside what our own pages call."""
    server, (dashboard, _) = world.server(), oauth_clients.dashboard(world.service)
    of_production = replace(world.scene, environment="production")
    pages = connect_tokens.create(world.service, of_production, TokenRequest("alice"), client_id=dashboard)["token"]
    limits, hits = world.service.limits, []
    count = limits.hit

    def noted(limit: Limit, key: str, amount: int = 1) -> LimitState:
        hits.append((limit, key, amount))
        state: LimitState = count(limit, key, amount)
        return state

    def run() -> int:
        body = {"external_user_id": "alice"}
        return int(world.post("P/actions/run", server, env="production", json=body).status_code)

    for _ in range(20):
        world.post("P/actions/run", pages, json={})
    with monkeypatch.context() as patch:
        patch.setattr(limits, "hit", noted)
        assert run() == 400, "counted, then found incomplete"
    assert {limit for limit, _, _ in hits} > {LIMITS["executions"]}, "beside the quotas of the user and the project"
    for limit, key, amount in hits:  # as 1,989 more such calls are counted
        limits.hit(limit, key, 1_989 * amount)
    assert [run() for _ in range(20)] == [400] * 10 + [429] * 10
    assert world.post("P/actions/run", server, json={"external_user_id": "alice"}).status_code == 400


def test_connect_tokens_are_counted_for_each_external_user(world: Any, narrow: None) -> None:
    token = world.server()

    def make(user: Any, **more: Any) -> TestResponse:
        answer: TestResponse = world.post("P/tokens", token, json={"external_user_id": user, **more})
        return answer

    assert [left(make("alice", expires_in=lasting)) for lasting in (60, 0, 60, "x", 60)] == [4, 3, 2, 1, 0]
    assert make("alice").status_code == 429
    assert left(make("bob")) == 4
    for nobody in (world.post("P/tokens", token, data="{", content_type="application/json"), make(7)):
        assert nobody.status_code == 400 and "X-RateLimit-Limit" not in nobody.headers


def test_who_may_not_call_counts_nothing(world: Any, narrow: None) -> None:
    for _ in range(6):
        assert world.get("P/accounts", "ctok_" + "0" * 32).status_code == 401
        refused = world.get("P/accounts", world.server("connect:actions:*"))
        assert refused.status_code == 403 and "X-RateLimit-Limit" not in refused.headers
    assert left(world.get("P/accounts", world.server())) == 4


@pytest.mark.parametrize("path", ["/v1/connect/apps", "/v1/connect/projects", "P/runs", "P/activity", "/v1/nothing"])
def test_unlimited_routes_say_nothing_of_limits(world: Any, path: str) -> None:
    assert not {*NAMES, "Retry-After"} & set(world.get(path, world.server()).headers.keys())


def test_a_custom_limit_applies_on_top_and_the_fewest_left_are_reported(world: Any, narrow: None) -> None:
    token, header = world.server(), custom(world, 3)
    apps = world.get("/v1/connect/apps", token, headers=header)
    assert (apps.status_code, left(apps)) == (200, 2)
    accounts = world.get("P/accounts", token, headers=header)
    assert (left(accounts), accounts.headers["X-RateLimit-Limit"]) == (1, "3")
    assert left(world.get("P/runs", world.frontend(), headers=header)) == 0  # shared by all who send it
    stopped = world.get("P/accounts", token, headers=header)
    assert (stopped.status_code, stopped.json) == (429, {"error": "Throttled"})
    assert (stopped.headers["X-RateLimit-Limit"], stopped.headers["Retry-After"]) == ("3", "60")
    assert left(world.get("P/accounts", token)) == 3  # what the custom limit stopped took nothing from the other
    wide = custom(world, 1_000_000)
    assert world.get("P/accounts", token, headers=wide).headers["X-RateLimit-Limit"] == "5"


def test_an_unknown_custom_limit_is_refused(world: Any) -> None:
    for given in ("rl_nothing", "x" * 500, "é"):
        answer = world.get("P/accounts", world.server(), headers={operations.HEADER: given})
        assert answer.status_code == 400 and "POST /v1/connect/rate_limits" in (answer.json or {})["error"]
    assert world.get("P/accounts", world.server(), headers={operations.HEADER: ""}).status_code == 200


def test_a_custom_limit_is_kept_over_a_restart(world: Any) -> None:
    header = custom(world, 2)
    again = replace(world, http=Application(world.service).test_client(use_cookies=False))
    assert left(again.get("P/runs", world.server(), headers=header)) == 1


def test_of_n_and_100_side_by_side_exactly_n_pass(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS, "tools", Limit(150, 300))
    token, found = world.frontend(), []

    def call() -> None:
        http = world.http.application.test_client(use_cookies=False)
        for _ in range(25):
            found.append(http.get("/v1/connect/components?limit=1", headers={"Authorization": f"Bearer {token}"}))

    threads = [threading.Thread(target=call) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    passed = [left(one) for one in found if one.status_code == 200]
    assert sorted(passed) == list(range(150))
    assert [one.status_code for one in found].count(429) == 100


def test_a_page_of_another_origin_may_read_why_it_has_to_wait(world: Any, narrow: None) -> None:
    token = world.frontend(allowed_origins=("https://shop.example",))
    for _ in range(6):
        answer = world.get("P/accounts", token, headers={"Origin": "https://shop.example"})
    assert answer.status_code == 429
    assert answer.headers["Access-Control-Allow-Origin"] == "https://shop.example"
    assert {*NAMES, "Retry-After"} <= set(answer.headers["Access-Control-Expose-Headers"].split(", "))


def test_a_custom_limit_is_looked_at_in_the_paths_of_connect_only(world: Any) -> None:
    token, header = world.server(), {"x-pd-rate-limit": "rl_unknown"}
    refused = world.get("P/runs", token, headers=header)
    sentence = "x-pd-rate-limit names no rate limit; create one with POST /v1/connect/rate_limits."
    assert (refused.status_code, refused.json) == (400, {"error": sentence})
    elsewhere = world.get("/v1/users/me", token, headers=header)
    assert (elsewhere.status_code, elsewhere.json["data"]["email"]) == (200, "support@localhost")
