"""What is recorded is seen at the trigger, and nothing is where nothing was emitted.

Timers fire once for each tick; sleep and a clock that jumps make no storm, and lose no tick.

A trigger that goes off: all that a run leaves is kept together, a failing one backs off, a waiting one waits.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.triggers import deploy, emitted, poll_due, request_of, row, summaries
from tests.service.quotas import with_quotas
from webapp.errors import TooLarge
from webapp.kit import cursors
from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND, TOLERANCE, FakeClock
from webapp.service.catalog.index import Catalog
from webapp.service.components.calls import Emitted, Reply
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_requests
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import (
    deployed_triggers,
    fire,
    lifecycle,
    trigger_json,
    trigger_memory,
    waiting_triggers,
)
from webapp.service.domain.triggers import runs as trigger_runs
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Store, Tx, claiming

EVERY_MINUTE = {"cron": {"cron": "* * * * *", "timezone": "Europe/Berlin"}}
Plant = Callable[..., Account]


def test_events_and_requests_are_recorded_with_their_time(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "http-new-requests")
    with service.store.write() as tx:
        assert fire.record(tx, service, trigger, []) == []
    assert row(service, trigger)["last_event_at"] is None
    with service.store.write() as tx:
        fire.record(tx, service, trigger, [Emitted({"n": 1}, None, "One", 5)])
        request = request_of({"n": 2})
        fire.record_request(tx, service, trigger, request, "POST /", request.size())
    assert sorted(str(entry["sum"]) for entry in emitted(service, trigger)) == ["One", "POST /"]
    assert row(service, trigger)["last_event_at"] == service.clock()


def test_the_time_of_the_last_event_is_written_once_a_second(
    service: Service, clock: FakeClock, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger_id, began, written = deploy(service, scene, "http-new-requests").id, clock(), list[int]()

    def claiming(_: Tx) -> str:
        written.append(clock() - began)
        return ""

    monkeypatch.setattr(lifecycle, "claiming", claiming)
    for at in (0, 999, 1_000, 1_999, -5):
        clock.at = began + at
        with service.store.write() as tx:
            lifecycle.set_last_event(tx, deployed_triggers.get(tx, scene, trigger_id), clock())
            assert deployed_triggers.get(tx, scene, trigger_id).last_event_at == began + written[-1]
    assert written == [0, 1_000, -5]


def test_what_comes_from_outside_is_bounded_in_bytes_and_what_is_found_is_kept(service: Service, scene: Scene) -> None:
    strict, body = with_quotas(service, TRIGGER_MB=1, USER_MB=2), "x" * 600_000
    first, second, third = (deploy(strict, scene, "http-new-requests") for _ in range(3))

    def come(trigger: DeployedTrigger) -> None:
        with service.store.write() as tx:
            fire.record_request(tx, strict, trigger, request_of(body), "POST /", 1)

    come(first)
    with pytest.raises(TooLarge, match=r"^This trigger keeps 1 MiB of events, which is all it may"):
        come(first)
    come(second)
    come(third)
    with service.store.write() as tx:
        fire.record(tx, strict, first, [Emitted({"x": body}, None, None, 5)])
    with pytest.raises(TooLarge, match=r"^The triggers of this user keep 2 MiB"):
        come(deploy(strict, scene, "http-new-requests"))
    assert service.store.tuples("SELECT COUNT(*) FROM events") == [(4,)]


def timestamps(service: Service, trigger: Any) -> list[int]:
    return [one["ts"] for one in emitted(service, trigger)]


def test_a_timer_fires_once_for_each_tick(service: Service, scene: Scene, clock: FakeClock) -> None:
    trigger = deploy(service, scene, "schedule-custom-interval", given={"cron": {"intervalSeconds": 10}})
    start = clock.at
    assert trigger.next_run_at == start + 10 * SECOND
    for _ in range(31):
        fire.fire_timers(service)
        fire.fire_timers(service)
        clock.advance(SECOND)
    assert timestamps(service, trigger) == [start + n * 10 * SECOND for n in (1, 2, 3)]
    assert emitted(service, trigger)[0]["e"] == f'{{"timestamp":{start + 10 * SECOND},"interval_seconds":10}}'


@pytest.mark.parametrize("asleep", [2 * HOUR, DAY])
def test_sleep_is_made_up_for_once(service: Service, scene: Scene, clock: FakeClock, asleep: int) -> None:
    timer = deploy(service, scene, "schedule-cron", given=EVERY_MINUTE)
    poll = deploy(service, scene, given={"timer": {"intervalSeconds": 60}})
    poll_due(service)
    clock.advance(asleep + 17 * SECOND)
    assert fire.fire_timers(service) == 1
    assert fire.fire_timers(service) == 0
    assert len(poll_due(service)) == 1
    assert poll_due(service) == []
    assert timestamps(service, timer) == [clock.at - clock.at % MINUTE]  # the last of those that were missed
    assert row(service, timer)["next_run_at"] == clock.at - clock.at % MINUTE + MINUTE
    assert row(service, poll)["next_run_at"] == poll.created_at + asleep + MINUTE


def test_a_clock_that_was_ahead_for_a_day_stops_nothing(service: Service, scene: Scene, clock: FakeClock) -> None:
    interval = deploy(service, scene, "schedule-custom-interval", given={"cron": {"intervalSeconds": 60}})
    cron = deploy(service, scene, "schedule-cron", given=EVERY_MINUTE)
    poll = deploy(service, scene)
    clock.advance(DAY)
    fire.fire_timers(service)
    (stuck,) = lifecycle.claim_polls(service, 9)  # its worker dies with a lease from the future
    clock.advance(-DAY)
    assert lifecycle.realign(service) == 2
    assert lifecycle.realign(service) == 0
    assert [one.id for one in lifecycle.claim_polls(service, 9)] == [poll.id]
    assert not fire.poll(service, stuck).events
    for _ in range(3):
        clock.advance(MINUTE)
        assert fire.fire_timers(service) == 2
    assert len(timestamps(service, interval)) == len(timestamps(service, cron)) == 4


def test_a_worker_that_starts_while_another_fires_repeats_no_tick(
    service: Service, scene: Scene, clock: FakeClock
) -> None:
    """Its clock is read before the other's transaction ends, or is a little behind."""
    timer = deploy(service, scene, "schedule-custom-interval", given={"cron": {"intervalSeconds": 1}})
    clock.advance(SECOND)
    assert fire.fire_timers(service) == 1
    for behind in (20, TOLERANCE):
        clock.advance(-behind)
        assert lifecycle.realign(service) == 0
        clock.advance(behind)
        assert fire.fire_timers(service) == 0
    assert len(timestamps(service, timer)) == 1


def test_an_hour_back_repeats_no_cron_tick(service: Service, scene: Scene, clock: FakeClock) -> None:
    cron = deploy(service, scene, "schedule-cron", given={"cron": {"cron": "*/30 * * * *"}})
    clock.advance(HOUR + 5 * SECOND)
    fire.fire_timers(service)
    clock.advance(-HOUR)
    lifecycle.realign(service)
    for _ in range(2 * 60 + 1):
        fire.fire_timers(service)
        clock.advance(MINUTE)
    found = timestamps(service, cron)
    assert len(found) == len(set(found)) == 3
    assert sorted(found) == found


def test_a_worker_fires_the_timers_that_no_other_fires_just_now(
    post_on_postgres: DeliveryHarness, workers: list[Store]
) -> None:
    service, scene, clock = post_on_postgres.service, post_on_postgres.scene, post_on_postgres.clock
    given = {"cron": {"intervalSeconds": 10}}
    triggers = [deploy(service, scene, "schedule-custom-interval", given=given) for _ in range(3)]
    clock.advance(10 * SECOND)
    with workers[0].write(shared=True) as tx:
        assert deployed_triggers.ROWS.all(tx, f"emitter = 'timer' LIMIT 1{claiming(tx)}", {})
        assert fire.fire_timers(service) == 2
    assert fire.fire_timers(service) == 1
    assert [len(emitted(service, trigger)) for trigger in triggers] == [1, 1, 1]


def log_of(service: Service, trigger: Any) -> list[dict[str, Any]]:
    page = trigger_runs.page(service.store, trigger.id, cursors.Window(50))
    return [trigger_runs.to_json(service, row) for row in page.items]


def test_a_poll_keeps_events_memory_marks_and_log(service: Service, scene: Scene, clock: FakeClock) -> None:
    trigger = deploy(service, scene, given={"ids": ["a", "b"], "token": "canary-token"})
    for _ in range(2):
        assert [one.ok for one in poll_due(service)] == [True]
        clock.advance(MINUTE)
    assert summaries(service, trigger) == ["Was there before", "Number a", "Number b"]  # unique: once each
    assert trigger_memory.read(service, trigger) == {"hooks": ["deploy", "subscribe"], "n": 2}
    first, second, *hooks = log_of(service, trigger)
    assert (first["cause"], first["emitted"], second["emitted"]) == ("timer", 0, 2)
    assert [one["cause"] for one in hooks] == ["activate", "deploy"]
    assert first["os"][0]["msg"] == "run 2 ••••••"
    stands = row(service, trigger)
    assert stands["last_event_at"] == trigger.created_at
    assert stands["last_run_at"] == trigger.created_at + MINUTE
    assert stands["next_run_at"] == trigger.created_at + 2 * MINUTE


def test_a_failing_poll_keeps_what_it_emitted_and_backs_off_along_its_schedule(
    service: Service, scene: Scene, clock: FakeClock
) -> None:
    trigger = deploy(service, scene, given={"ids": ["a"], "fail": "run", "timer": {"intervalSeconds": 900}})
    start, waits = clock.at, []
    for _ in range(8):
        assert [one.ok for one in poll_due(service)] == [False]
        stands = row(service, trigger)
        waits.append((stands["next_run_at"] - clock.at) // SECOND)
        clock.at = stands["next_run_at"]
    assert waits[:4] == [30, 60, 120, 300]  # sooner than the next tick
    assert all((stands["next_run_at"] - start) % (900 * SECOND) == 0 for stands in [row(service, trigger)])
    assert waits[-1] >= 3600 - 900
    assert (stands["failures"], stands["last_error"]) == (8, "The app does not answer.")
    assert summaries(service, trigger) == ["Was there before", "Number a"]
    assert log_of(service, trigger)[0]["error"] == "The app does not answer."


def test_a_run_mends_the_schedule(service: Service, scene: Scene, clock: FakeClock) -> None:
    trigger = deploy(service, scene)
    with service.store.write() as tx:
        tx.run("UPDATE deployed_triggers SET failures = 5, last_error = 'x', next_run_at = :now", {"now": clock.at + 7})
    clock.advance(7)
    poll_due(service)
    stands = row(service, trigger)
    assert (stands["failures"], stands["last_error"]) == (0, None)
    assert stands["next_run_at"] == trigger.created_at + MINUTE


def test_a_dead_account_makes_it_wait_without_failing(
    service: Service, scene: Scene, clock: FakeClock, plant: Plant
) -> None:
    account = plant()
    trigger = deploy(service, scene, given={"account": {"authProvisionId": account.id}})
    runs = len(log_of(service, trigger))
    with service.store.write() as tx:
        tx.run("UPDATE accounts SET dead = 1, healthy = 0, error = 'Refused.'")
    assert waiting_triggers.of_dead_accounts(service.store, [trigger.id]) == {trigger.id}
    for _ in range(3):
        (outcome,) = poll_due(service)
        assert outcome.waits
        clock.advance(MINUTE)
    stands = row(service, trigger)
    assert (stands["failures"], stands["last_error"], stands["active"]) == (0, None, 1)
    assert len(log_of(service, trigger)) == runs
    assert fire.run_for_request(service, trigger, {}).waits
    with service.store.write() as tx:
        tx.run("UPDATE accounts SET dead = 0, healthy = 1, error = NULL")
    (outcome,) = poll_due(service)
    assert outcome.ok and len(outcome.events) == 1


def test_a_run_that_was_overtaken_by_a_change_keeps_nothing(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene)
    (claimed,) = lifecycle.claim_polls(service, 1)
    with lifecycle.locked(service, trigger):
        pass
    assert fire.poll(service, claimed).ok
    assert summaries(service, trigger) == ["Was there before"]
    assert [one.ok for one in poll_due(service)] == [True]  # it is due again at once
    assert summaries(service, trigger) == ["Was there before", "Number 1"]


def test_a_request_is_completed_with_the_outcome_of_its_run(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "~/echo")
    settled: list[bool] = []

    def complete(tx: Tx, reply: Reply) -> bool:
        settled.append(reply.ok)
        return len(settled) != 3

    outcome = fire.run_for_request(service, trigger, {"body": {"id": 1}}, complete_request=complete)
    assert outcome.ok and outcome.response is not None
    assert outcome.response.status == 202
    url = deployed_triggers.endpoint_url(service, trigger)
    assert outcome.response.body == f'{{"endpoint":"{url}"}}'
    again = fire.run_for_request(service, trigger, {"body": {"id": 2, "fail": True}}, complete_request=complete)
    assert (again.ok, again.error, list(again.events)) == (False, "It could not be read.", [])
    lost = fire.run_for_request(
        service, trigger, {"body": {"id": 3}}, complete_request=complete
    )  # claimed by somebody else meanwhile
    assert list(lost.events) == []
    assert settled == [True, False, True]
    assert [one["e"] for one in emitted(service, trigger)] == ['{"id":1}']
    assert trigger_memory.read(service, trigger) == {"count": 1}
    assert row(service, trigger)["last_error"] == "It could not be read."


def test_a_request_whose_caller_waits_keeps_what_was_emitted_before_it_failed(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "~/echo")
    outcome = fire.run_for_request(service, trigger, {"body": {"fail": True}})
    assert (outcome.ok, len(outcome.events)) == (False, 1)


def test_a_deleted_trigger_is_ignored(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "~/echo")
    with service.store.write() as tx:
        lifecycle.remove(tx, trigger.id)
    assert list(fire.run_for_request(service, trigger, {"body": {}}).events) == []


def test_remembering_too_much_fails_the_run(service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    trigger = deploy(service, scene)
    monkeypatch.setattr(trigger_memory, "MAX_STATE", 10)
    (outcome,) = poll_due(service)
    assert not outcome.ok and "256 KiB" in (outcome.error or "")
    assert summaries(service, trigger) == ["Was there before"]


def test_a_trigger_whose_component_was_removed_waits_without_failing(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene)
    with service.store.write() as tx:
        tx.run("UPDATE deployed_triggers SET component_version = '0.9.0'")
    (outcome,) = poll_due(service)
    assert outcome.waits and "version 0.9.0 was removed from this service" in (outcome.error or "")
    after = row(service, trigger)
    assert (after["failures"], after["last_error"]) == (0, None) and after["next_run_at"] is not None


def test_a_trigger_whose_component_is_removed_while_it_runs_waits_and_then_continues(
    service: Service, scene: Scene, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger = deploy(service, scene, given={"ids": ["a"]})
    file = component_requests.find(service, "~/poll", None).path
    away = file.rename(file.with_suffix(".away"))
    (outcome,) = poll_due(service)  # another process removed it, and this one still lists it
    sentence = "“Poll” was removed from this service, so nothing ran."
    assert outcome.error == row(service, trigger)["last_error"] == sentence
    assert log_of(service, trigger)[0]["os"][-1]["err"]["message"] == sentence
    with monkeypatch.context() as removed:
        removed.setattr(Catalog, "component", lambda *_: None)
        clock.advance(DAY)
        (outcome,) = poll_due(service)
        reason = "It waits, because ~/poll was removed from this service. It continues when that is added back."
        assert (outcome.waits, outcome.error) == (True, reason)
        shown = trigger_json.to_json(service, trigger, extensions=True)
        assert (shown["active"], shown["available"], shown["waits"]) == (True, False, reason)
    away.rename(file)
    for _ in range(2):
        clock.advance(DAY)
        assert [one.ok for one in poll_due(service)] == [True]
    assert summaries(service, trigger) == ["Was there before", "Number a"], "nothing is lost"
    assert (row(service, trigger)["failures"], row(service, trigger)["last_error"]) == (0, None)
