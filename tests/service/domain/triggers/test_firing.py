"""A trigger that goes off: all that a run leaves is kept together, a failing one backs off, a waiting one waits."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.triggers import deploy, emitted, poll_due, row, summaries
from webapp.kit import cursors
from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND, FakeClock
from webapp.service.components.calls import Reply
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import accounts, deployed_triggers, firing, lifecycle
from webapp.service.domain.triggers import runs as trigger_runs
from webapp.store.contract import Tx

Plant = Callable[..., Account]


def log_of(service: Service, trigger: Any) -> list[dict[str, Any]]:
    return list(trigger_runs.page(service, trigger, cursors.Window(50)).items)


def test_a_poll_keeps_events_memory_marks_and_log(service: Service, scene: Scene, clock: FakeClock) -> None:
    trigger = deploy(service, scene, given={"ids": ["a", "b"], "token": "canary-token"})
    for _ in range(2):
        assert [one.ok for one in poll_due(service)] == [True]
        clock.advance(MINUTE)
    assert summaries(service, trigger) == ["Was there before", "Number a", "Number b"]  # unique: once each
    assert trigger_runs.remembered(service, trigger) == {"hooks": ["deploy", "subscribe"], "n": 2}
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


@pytest.mark.parametrize(
    ("schedule", "failures", "wait"),
    [
        ({"intervalSeconds": 15}, 1, 30 * SECOND),
        ({"intervalSeconds": 15}, 9, HOUR),
        ({"intervalSeconds": 7 * 3600}, 9, HOUR),
        ({"intervalSeconds": 45}, 1, 30 * SECOND),
        ({"cron": "0 0 * * *", "timezone": "UTC"}, 2, MINUTE),
        ({"cron": "0 0 * * *", "timezone": "UTC"}, 0, DAY),
    ],
)
def test_how_long_it_backs_off(schedule: dict[str, Any], failures: int, wait: int) -> None:
    midnight = 1_800_057_600_000
    assert firing.pause_after(schedule, midnight, failures, midnight) == midnight + wait


def test_a_dead_account_makes_it_wait_without_failing(
    service: Service, scene: Scene, clock: FakeClock, plant: Plant
) -> None:
    account = plant()
    trigger = deploy(service, scene, given={"account": {"authProvisionId": account.id}})
    runs = len(log_of(service, trigger))
    with service.store.write() as tx:
        tx.run("UPDATE accounts SET dead = 1, healthy = 0, error = 'Refused.'")
    assert accounts.waiting(service.store, [trigger.id]) == {trigger.id}
    for _ in range(3):
        (outcome,) = poll_due(service)
        assert outcome.waits
        clock.advance(MINUTE)
    stands = row(service, trigger)
    assert (stands["failures"], stands["last_error"], stands["active"]) == (0, None, 1)
    assert len(log_of(service, trigger)) == runs
    assert firing.request(service, trigger, {}).waits
    with service.store.write() as tx:
        tx.run("UPDATE accounts SET dead = 0, healthy = 1, error = NULL")
    (outcome,) = poll_due(service)
    assert outcome.ok and len(outcome.events) == 1


def test_a_run_that_was_overtaken_by_a_change_keeps_nothing(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene)
    (claimed,) = lifecycle.claim_polls(service, 1)
    with lifecycle.locked(service, trigger):
        pass
    assert firing.poll(service, claimed).ok
    assert summaries(service, trigger) == ["Was there before"]
    assert [one.ok for one in poll_due(service)] == [True]  # it is due again at once
    assert summaries(service, trigger) == ["Was there before", "Number 1"]


def test_a_request_is_settled_with_what_came_of_it(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "~/echo")
    settled: list[bool] = []

    def settle(tx: Tx, reply: Reply) -> bool:
        settled.append(reply.ok)
        return len(settled) != 3

    outcome = firing.request(service, trigger, {"body": {"id": 1}}, settle=settle)
    assert outcome.ok and outcome.response is not None
    assert outcome.response.status == 202
    url = deployed_triggers.endpoint_url(service, trigger)
    assert outcome.response.body == f'{{"endpoint":"{url}"}}'
    again = firing.request(service, trigger, {"body": {"id": 2, "fail": True}}, settle=settle)
    assert (again.ok, again.error, list(again.events)) == (False, "It could not be read.", [])
    lost = firing.request(service, trigger, {"body": {"id": 3}}, settle=settle)  # claimed by somebody else meanwhile
    assert list(lost.events) == []
    assert settled == [True, False, True]
    assert [one["e"] for one in emitted(service, trigger)] == ['{"id":1}']
    assert trigger_runs.remembered(service, trigger) == {"count": 1}
    assert row(service, trigger)["last_error"] == "It could not be read."


def test_a_request_whose_caller_waits_keeps_what_was_emitted_before_it_failed(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "~/echo")
    outcome = firing.request(service, trigger, {"body": {"fail": True}})
    assert (outcome.ok, len(outcome.events)) == (False, 1)


def test_the_trigger_that_went_is_left_alone(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "~/echo")
    with service.store.write() as tx:
        lifecycle.remove(tx, trigger.id)
    assert list(firing.request(service, trigger, {"body": {}}).events) == []


def test_remembering_too_much_fails_the_run(service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    trigger = deploy(service, scene)
    monkeypatch.setattr(trigger_runs, "MAX_STATE", 10)
    (outcome,) = poll_due(service)
    assert not outcome.ok and "256 KiB" in (outcome.error or "")
    assert summaries(service, trigger) == ["Was there before"]


def test_a_trigger_whose_component_was_removed_waits_without_failing(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene)
    with service.store.write() as tx:
        tx.run("UPDATE deployed_triggers SET component_version = '0.9.0'")
    (outcome,) = poll_due(service)
    assert outcome.waits and "version 0.9.0 of it was removed here" in (outcome.error or "")
    after = row(service, trigger)
    assert (after["failures"], after["last_error"]) == (0, None) and after["next_run_at"] is not None
