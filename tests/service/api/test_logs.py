"""The logs over the API: every kind in one list, its filters, whose they are, and what an entry keeps."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.deployed import emit, plant_trigger
from tests.fakes.receiver import Mood
from tests.service.api.conftest import World
from tests.service.domain.agents.planted import plant_agent, plant_approval
from webapp.errors import Unavailable
from webapp.service.components.calls import Reply
from webapp.service.domain.access import api_calls
from webapp.service.domain.logs import logs
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.log_entries import KINDS, STATUSES
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers
from webapp.service.domain.triggers import runs as trigger_runs

SECRET = "canary-secret-prop"


@pytest.fixture
def busy(world: World, post: DeliveryHarness) -> World:
    """One entry of every kind for alice, in turn, and one run for bob."""
    post.scene = world.scene
    account = world.plant("alice")
    world.call("PATCH", f"P/accounts/{account.id}", world.frontend(), json={"name": "Work"})
    world.clock.advance(1_000)
    run(world, "bob")
    world.clock.advance(1_000)
    run(world, "alice")
    world.clock.advance(1_000)
    trigger = plant_trigger(world.service, world.scene, [post.receiver.url("/hook")])
    post.receiver.moods["/hook"] = Mood(500, body=b"no")
    emit(world.service, trigger, {"n": 1})
    post.turn()
    world.clock.advance(1_000)
    plant_approval(world.service, world.scene, plant_agent(world.service, world.scene, "alice"))
    api_calls.flush(world.service)
    return world


def run(world: World, user: str) -> None:
    body = {"id": "~/fail", "external_user_id": user, "configured_props": {"token": SECRET}}
    assert world.post("P/actions/run", world.frontend(user), json=body).status_code == 200


def listed(world: World, query: str = "", token: str | None = None, **more: Any) -> list[dict[str, Any]]:
    answer = world.get(f"P/logs{query}", token or world.frontend(), **more)
    assert answer.status_code == 200, answer.text
    entries: list[dict[str, Any]] = answer.get_json()["data"]
    return entries


def kinds(entries: list[dict[str, Any]]) -> set[str]:
    return {entry["kind"] for entry in entries}


def test_one_list_has_every_kind_newest_first(busy: World) -> None:
    answer = busy.get("P/logs?limit=100", busy.frontend()).get_json()
    entries = answer["data"]
    assert kinds(entries) == set(KINDS)
    assert [entry["at"] for entry in entries] == sorted((entry["at"] for entry in entries), reverse=True)
    assert {entry["external_user_id"] for entry in entries} == {"alice"}
    assert answer["counts"] == {kind: sum(entry["kind"] == kind for entry in entries) for kind in KINDS}
    for query in ("", f"&id={entries[0]['id']}", f"&id={entries[-1]['id']}"):
        assert busy.get(f"P/logs?counts=false{query}", busy.frontend()).get_json()["counts"] == {}
    assert "bob" in {entry["external_user_id"] for entry in listed(busy, "?limit=100", busy.server())}


def test_pages_meet_without_a_gap_in_both_directions(busy: World) -> None:
    token = busy.frontend()
    whole = [entry["id"] for entry in listed(busy, "?limit=100", token)]
    seen, after = list[str](), ""
    while True:
        page = busy.get(f"P/logs?limit=2&after={after}", token).get_json()
        seen += [entry["id"] for entry in page["data"]]
        last, after = page["page_info"]["start_cursor"], page["page_info"]["end_cursor"]
        if not after:
            break
    assert seen == whole
    before = [entry["id"] for entry in listed(busy, f"?limit=2&before={last}", token)]
    start = whole.index(page["data"][0]["id"])
    assert before == whole[start - 2 : start]
    assert busy.get(f"P/logs?kind=run&before={last}", token).status_code == 400, "a cursor of another filter"


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_that_kind_only(busy: World, kind: str) -> None:
    assert kinds(listed(busy, f"?kind={kind}")) == {kind}


def test_filters_narrow_the_list_and_its_counts(busy: World) -> None:
    server = busy.server()
    assert {entry["status"] for entry in listed(busy, "?status=failed", server)} == {"failed"}
    assert {(entry["kind"], entry["status"]) for entry in listed(busy, "?status=waiting")} == {
        ("delivery", "waiting"),
        ("agent", "waiting"),
    }
    assert {entry["external_user_id"] for entry in listed(busy, "?external_user_id=bob", server)} == {"bob"}
    assert kinds(listed(busy, "?app=tinykeys")) == {"account"}
    now = busy.clock()
    assert kinds(listed(busy, f"?since={now}")) == {"agent"}
    assert "agent" not in kinds(listed(busy, f"?until={now - 1}"))
    assert listed(busy, "?external_user_id=nobody", server) == listed(busy, "?app=none") == []
    counts = busy.get("P/logs?status=waiting&kind=agent", busy.frontend()).get_json()["counts"]
    assert counts == {**dict.fromkeys(KINDS, 0), "delivery": 1, "agent": 1}


def test_an_id_finds_the_entry_and_what_belongs_to_it(busy: World) -> None:
    entries = {entry["kind"]: entry for entry in listed(busy, "?limit=100")}
    assert [entry["id"] for entry in listed(busy, f"?id={entries['run']['id']}")] == [entries["run"]["id"]]
    event = entries["event"]["id"]
    assert [entry["kind"] for entry in listed(busy, f"?id={event}")] == ["delivery", "event"]
    assert kinds(listed(busy, f"?id={entries['event']['trigger_id']}")) >= {"event", "delivery"}
    assert kinds(listed(busy, f"?id={entries['account']['account_id']}")) == {"account"}
    assert [entry["kind"] for entry in listed(busy, "?id=~/fail")] == ["run"]
    assert listed(busy, "?id=run_none") == listed(busy, "?id=apn_none") == listed(busy, "?id=garbage") == []
    assert listed(busy, f"?id={entries['run']['id']}&kind=event") == []


def test_an_entry_has_what_was_asked_and_what_came_back(busy: World) -> None:
    entries = {entry["kind"]: entry for entry in listed(busy, "?limit=100")}

    def details(kind: str) -> dict[str, Any]:
        answer = busy.get(f"P/logs/{entries[kind]['id']}", busy.frontend())
        assert answer.status_code == 200 and SECRET not in answer.text
        assert entries[kind].items() <= answer.get_json()["data"].items()
        found: dict[str, Any] = answer.get_json()["data"]
        return found

    assert details("run")["request"]["masked_props"] == ["token"]
    assert [line["k"] for line in details("run")["response"]["os"]] == ["log", "error"]
    assert details("event")["response"]["event"] == {"n": 1}
    assert details("delivery")["attempts"][0]["response_body"] == "no"
    assert details("agent")["request"]["component_key"] == "sandbox-delete-task"
    assert "request" not in details("account")
    call = details("api_call")
    assert call["request"]["method"] in ("POST", "PATCH") and call["caller_type"] == "user" and call["request_id"]


def of_another_user(world: World) -> tuple[str, str]:
    return world.frontend("charlie"), world.scene.environment


def of_another_environment(world: World) -> tuple[str, str]:
    return world.server(), "production"


def of_another_project(world: World) -> tuple[str, str]:
    other = projects.create(world.service, name="Other", app_name="Other", support_email="o@o.example")
    world.scene = Scene(other.id, world.scene.environment)
    return world.server(project_id=other.id), world.scene.environment


def of_its_user_of_that_name(world: World) -> tuple[str, str]:
    of_another_project(world)
    return world.frontend("alice"), world.scene.environment


def of_a_user_who_is_nobody_yet(world: World) -> tuple[str, str]:
    return world.frontend("new@example.com"), world.scene.environment


@pytest.mark.parametrize(
    "stranger",
    [
        of_another_user,
        of_another_environment,
        of_another_project,
        of_its_user_of_that_name,
        of_a_user_who_is_nobody_yet,
    ],
)
def test_another_s_entry_is_like_an_absent_one(busy: World, stranger: Callable[[World], tuple[str, str]]) -> None:
    """Of every source, by its id, by what it belongs to, by each filter and in the counts."""
    trigger = next(entry for entry in listed(busy, "?kind=event"))["trigger_id"]
    deployed = deployed_triggers.get(busy.service.store, busy.scene, trigger)
    with busy.service.store.write() as tx:
        trigger_runs.write(tx, busy.service, deployed, "request", busy.clock(), Reply(None), emitted=1)
    entries = listed(busy, "?limit=100", busy.server())
    assert {entry["id"].partition("_")[0] for entry in entries} == {source.prefix for source in logs.SOURCES}
    asked = {"", "quiet=true", *(f"kind={kind}" for kind in KINDS), *(f"status={each}" for each in STATUSES)}
    for entry in entries:
        belongs = [entry[name] for name in ("id", "component_key", "account_id", "trigger_id", "event_id")]
        asked |= {f"id={each}" for each in belongs if each} | ({f"app={entry['app']}"} if entry["app"] else set())
    token, environment = stranger(busy)
    for query in asked:
        answer = busy.get(f"P/logs?{query}", token, env=environment).get_json()
        assert answer["data"] == [] and not any(answer["counts"].values()), query
    absent = busy.get("P/logs/run_none", token, env=environment)
    for entry in entries:
        found = busy.get(f"P/logs/{entry['id']}", token, env=environment)
        assert (found.status_code, found.data) == (404, absent.data), entry


def test_a_user_may_not_ask_for_another(busy: World) -> None:
    bobs = {entry["id"] for entry in listed(busy, "?external_user_id=bob", busy.server())}
    assert busy.get("P/logs?external_user_id=bob", busy.frontend()).status_code == 403
    assert bobs and all(busy.get(f"P/logs/{each}", busy.frontend()).status_code == 404 for each in bobs)


@pytest.mark.parametrize(
    ("scope", "seen"),
    [
        ("connect:actions:*", {"run"}),
        ("connect:deployed_triggers:read", {"event", "delivery"}),
        ("connect:accounts:read", {"account"}),
        ("connect:agents:read", {"agent"}),
        ("connect:projects:read", {"api_call"}),
    ],
)
def test_a_token_sees_what_its_scopes_admit_to(busy: World, scope: str, seen: set[str]) -> None:
    token = busy.server(scope)
    assert kinds(listed(busy, "?limit=100", token)) == seen
    hidden = next(entry for entry in listed(busy, "?limit=100", busy.server()) if entry["kind"] not in seen)
    assert busy.get(f"P/logs/{hidden['id']}", token).status_code == 404
    assert busy.get(f"P/logs?kind={'event' if 'account' in seen else 'account'}", token).status_code == 403
    assert busy.get("P/logs", busy.server("connect:tokens:create")).status_code == 403


def test_of_a_call_no_text_is_kept(busy: World) -> None:
    body = {"app": SECRET, "client_id": SECRET, "client_secret": SECRET, "name": SECRET}
    assert busy.post("P/oauth_apps", busy.server(), json=body | {"app": "none"}).status_code >= 400
    assert busy.get(f"P/components?q={SECRET}", busy.server()).status_code == 200
    assert busy.get(f"/v1/connect/tokens/{busy.frontend()}/validate", busy.server()).status_code == 200
    api_calls.flush(busy.service)
    (failed,) = listed(busy, "?kind=api_call&status=failed", busy.server())
    assert failed["title"].startswith("POST /v1/connect/") and failed["text"] and failed["took_ms"] >= 0
    rows = str(busy.service.store.all("SELECT * FROM api_calls"))
    assert "P/components" not in rows and "/components?q=" in rows
    assert SECRET not in rows and "ctok_" not in rows


def test_calls_for_the_logs_are_not_in_them(busy: World) -> None:
    listed(busy, "", busy.server())
    api_calls.flush(busy.service)
    assert not [entry for entry in listed(busy, "?kind=api_call", busy.server()) if "/logs" in entry["title"]]


@pytest.mark.parametrize(
    "query", ["kind=none", "status=fine", "since=x", "until=-1", "limit=0", "after=%ff", f"id={'x' * 201}"]
)
def test_a_bad_query_gets_a_sentence(world: World, query: str) -> None:
    answer = world.get(f"P/logs?{query}", world.server())
    assert answer.status_code == 400 and answer.get_json()["details"]


def test_a_busy_store_loses_no_call(busy: World, monkeypatch: pytest.MonkeyPatch) -> None:
    busy.get("P/accounts", busy.server())

    def refuse(*_: object, **__: object) -> None:
        raise Unavailable

    with monkeypatch.context() as patch:
        patch.setattr(type(busy.service.store), "write", refuse)
        api_calls.flush(busy.service)
    api_calls.flush(busy.service)
    assert [entry for entry in listed(busy, "?kind=api_call", busy.server()) if "/accounts" in entry["title"]]


def test_polls_that_found_nothing_are_listed_only_of_a_trigger_that_asks_for_them(busy: World) -> None:
    trigger = next(entry for entry in listed(busy, "?kind=event"))["trigger_id"]
    deployed = deployed_triggers.get(busy.service.store, busy.scene, trigger)
    with busy.service.store.write() as tx:
        causes: tuple[tuple[trigger_runs.Cause, int], ...] = (("timer", 0), ("timer", 2), ("request", 0))
        for number, (cause, emitted) in enumerate(causes):
            reply = Reply(None, took_ms=5)
            trigger_runs.write(tx, busy.service, deployed, cause, busy.clock() + number, reply, emitted=emitted)

    def emissions(query: str) -> list[int | None]:
        return [entry["emitted"] for entry in listed(busy, query)]

    assert emissions(f"?kind=run&id={trigger}") == [0, 2]
    assert emissions(f"?kind=run&id={trigger}&quiet=true") == [0, 2, 0]
    assert emissions("?kind=run&quiet=true") == [0, 2, None], "among those of others they would be found only by a scan"
    quiet = listed(busy, f"?kind=run&id={trigger}&quiet=true")[-1]
    assert busy.get(f"P/logs/{quiet['id']}", busy.frontend()).get_json()["data"]["response"] == {"os": []}


def test_a_delivery_says_how_often_it_was_tried_and_when_next(busy: World) -> None:
    (delivery,) = listed(busy, "?kind=delivery")
    assert (delivery["status"], delivery["attempt"]) == ("waiting", 1)
    assert delivery["next_attempt_at"] > delivery["at"]
    assert delivery["title"].endswith("/…") and delivery["text"]
    with busy.service.store.write() as tx:
        tx.run("UPDATE deliveries SET next_at = NULL")
    (put_off,) = listed(busy, "?kind=delivery&status=waiting")
    assert (put_off["outcome"], put_off["next_attempt_at"]) == ("put_off", None), "its webhook fails all the time"
