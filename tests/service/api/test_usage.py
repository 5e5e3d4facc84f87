"""Usage, hour by hour: what was run, proxied and delivered, each counted once."""

from typing import Any

import pytest

from webapp.kit.clock import HOUR, SECOND, iso
from webapp.service.domain.projects import projects, usage
from webapp.service.domain.projects.projects import Scene

ECHO = "L21l"  # /me


@pytest.fixture
def hour(world: Any) -> int:
    """The clock's hour, in seconds."""
    return int(world.clock() // HOUR * HOUR // SECOND)


def listed(world: Any, start: int, end: int, token: str | None = None) -> Any:
    query = {"start_ts": start, "end_ts": end}
    answer = world.get("/v1/connect/usage", token or world.server("connect:usage:read"), query_string=query)
    assert answer.status_code == 200, answer.text
    return answer.json["data"]


def test_runs_and_proxied_requests_are_counted_in_their_hour(world: Any, hour: int) -> None:
    account = world.plant()
    for key in ("~/fail", "~/writes"):
        props: dict[str, Any] = {"token": "t"} if key == "~/fail" else {"names": []}
        body = {"id": key, "external_user_id": "alice", "configured_props": props}
        assert world.post("P/actions/run", world.server(), json=body).status_code == 200
    for _ in range(3):
        answer = world.get(f"P/proxy/{ECHO}?account_id={account.id}&external_user_id=alice", world.server())
        assert answer.status_code == 200, answer.text
    first = {"credits_used": 5, "action_run_credits_used": 2, "proxy_credits_used": 3, "source_emit_credits_used": 0,
             "usage_start_ts": hour, "usage_end_ts": hour + 3600}  # fmt: skip
    assert listed(world, hour, hour + 1) == [first]
    query, counts = {"start_ts": hour, "end_ts": hour + 1}, ("runs", "failed_runs", "events", "failed_deliveries")
    (day,) = world.get("P/usage/apps", world.server("connect:usage:read"), query_string=query).json["data"]
    assert [day[name] for name in counts] == [2, 1, 0, 0] and day["day"] == iso(world.clock())[:10]
    assert world.get("P/usage/apps", world.server(), query_string={**query, "app": "slack"}).json["data"] == []
    assert world.get("P/usage/apps", world.server(), query_string={"start_ts": 5, "end_ts": 5}).status_code == 400
    world.clock.advance(HOUR)
    with world.service.store.write() as tx:
        usage.add(tx, world.scene, "event", world.clock(), 7)
    second = {**first, "credits_used": 7, "action_run_credits_used": 0, "proxy_credits_used": 0,
              "source_emit_credits_used": 7, "usage_start_ts": hour + 3600, "usage_end_ts": hour + 7200}  # fmt: skip
    assert listed(world, hour, hour + 7200) == [first, second]
    assert listed(world, hour + 3600, hour + 7200) == [second]
    assert listed(world, hour + 7200, hour + 9000) == []


def test_a_client_of_one_project_sees_what_that_used(world: Any, hour: int) -> None:
    other = projects.create(world.service, name="Other")
    with world.service.store.write() as tx:
        usage.add(tx, world.scene, "run", world.clock(), 2)
        usage.add(tx, Scene(other.id, "production"), "run", world.clock(), 5)
    assert [one["credits_used"] for one in listed(world, hour, hour + 1)] == [7]
    assert [one["credits_used"] for one in listed(world, hour, hour + 1, world.server(project_id=other.id))] == [5]


@pytest.mark.parametrize(
    "query",
    ["", "start_ts=1", "start_ts=5&end_ts=5", "start_ts=9&end_ts=5", "start_ts=a&end_ts=5", "start_ts=-1&end_ts=5",
     "start_ts=0&end_ts=99999999999"],
)  # fmt: skip
def test_a_window_that_is_none_is_refused(shared: Any, query: str) -> None:
    answer = shared.get(f"/v1/connect/usage?{query}", shared.server())
    assert answer.status_code == 400
    assert {one["field"] for one in answer.json["details"]} <= {"start_ts", "end_ts"}


def test_what_was_noted_is_written_when_the_service_ends(world: Any, hour: int) -> None:
    gone = Scene(projects.create(world.service, name="Gone").id, "development")
    usage.note(world.service, world.scene, "proxy")
    usage.note(world.service, gone, "proxy")
    with world.service.store.write() as tx:
        projects.erase(world.service, tx, gone.project_id)
    usage.flush(world.service)
    usage.flush(world.service)
    (row,) = world.service.store.all("SELECT kind, n FROM usage")
    assert (row["kind"], row["n"]) == ("proxy", 1)
    world.clock.advance(usage.KEPT + HOUR)
    assert usage.purge(world.service) == 1
