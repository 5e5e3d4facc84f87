"""Making custom rate limits."""

from typing import Any
from unittest.mock import Mock

import pytest

from webapp.service.api.base.operations import HEADER


@pytest.mark.parametrize(
    ("window", "requests", "status"),
    [(1, 1, 200), (86_400, 1_000_000, 200), (0, 1, 400), (86_401, 1, 400), (1, 0, 400), (1, 1_000_001, 400),
     (1.5, 1, 400), ("60", 1, 400), (True, 1, 400), (None, 1, 400)],
)  # fmt: skip
def test_the_bounds_of_a_custom_limit(shared: Any, window: Any, requests: Any, status: int) -> None:
    body = {"window_size_seconds": window, "requests_per_window": requests}
    answer = shared.post("/v1/connect/rate_limits", shared.server(), json=body)
    assert answer.status_code == status


PATH = "/v1/connect/rate_limits"


def test_custom_limits_are_listed_with_how_they_stand(world: Any) -> None:
    server, body = world.server(), {"window_size_seconds": 60, "requests_per_window": 2}
    token = world.post(PATH, server, json=body).get_json()["token"]
    statuses = [world.get("P/runs", server, headers={HEADER: token}).status_code for _ in range(5)]
    assert statuses == [200, 200, 429, 429, 429]
    answer = world.get(PATH, world.server("connect:*"))
    (row,) = answer.get_json()["data"]
    assert (row["requests_per_window"], row["window_size_seconds"], row["remaining"]) == (2, 60, 0)
    assert (row["refused"], row["refused_by"]["kind"], row["refused_by"]["name"]) == (3, "client", "Server")
    assert token not in answer.text and token not in row["id"]


def test_only_a_client_of_the_workspace_sees_them(world: Any) -> None:
    for stranger, status in ((world.server("connect:actions:*"), 403), (world.frontend(), 403), (None, 401)):
        assert world.get(PATH, stranger).status_code == status


def test_a_list_of_limits_asks_once_for_all_of_them(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = world.server("connect:*")
    body = {"window_size_seconds": 60, "requests_per_window": 1}
    tokens = [world.post(PATH, server, json=body).get_json()["token"] for _ in range(3)]
    for _ in range(2):
        world.get("P/runs", server, headers={HEADER: tokens[1]})
    queries = Mock(wraps=world.service.store.all)
    monkeypatch.setattr(world.service.store, "all", queries)
    rows = world.get(PATH, server).get_json()["data"]
    assert sorted(row["refused"] for row in rows) == [0, 0, 1]
    assert sum("refused_calls" in query.args[0] for query in queries.call_args_list) == 1
