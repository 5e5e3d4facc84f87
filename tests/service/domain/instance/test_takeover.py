"""What a dead process held is free at once; what a living one holds is left alone; the dead one writes nothing more."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.triggers import deploy, request_of, row
from tests.service.domain.conftest import Bench
from webapp.kit.clock import HOUR, MINUTE, FakeClock
from webapp.service.domain.accounts import account_state, attempts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.attempts import AttemptRequest
from webapp.service.domain.base import generations
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import runs
from webapp.service.domain.components.runs import Run
from webapp.service.domain.deliveries import claims, endpoints
from webapp.service.domain.deliveries.claims import Outcome
from webapp.service.domain.instance import takeover
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployments, inbox, lifecycle

Plant = Callable[..., Account]


@pytest.fixture(autouse=True)
def long_in_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that has run for so long that it may judge others."""
    monkeypatch.setattr(generations.Heartbeat, "can_judge", lambda *_: True)


@pytest.fixture
def other(service: Service) -> Iterator[Service]:
    """The service of another process."""
    process = replace(service, life=generations.begin(service.store, service.clock))
    yield process
    assert process.life is not None
    process.life.end()


def kill(process: Service) -> None:
    """What remains of a process that was killed: everything but its sign of life, or its heartbeats."""
    assert process.life is not None
    process.life.end()
    with process.store.write() as tx:
        tx.run("UPDATE generations SET seen_at = 0 WHERE n = :n", {"n": process.generation})


def test_deliveries_on_their_way_are_due_again(post: DeliveryHarness, other: Service) -> None:
    post.emit(post.trigger(post.receiver.url("/a")), 1)
    with other.store.write() as tx:
        (task,) = claims.claim(tx, other.clock(), post.room, other.generation)
    assert takeover.take_over(post.service) == 0 and post.claim() == [], "it lives, and holds it"
    kill(other)
    assert takeover.take_over(post.service) == 1
    assert post.row()["next_at"] == post.clock.at
    with other.store.write() as tx:
        assert claims.finish(tx, [Outcome(task, post.clock.at, 5, 200, None)], post.clock.at) == 0, "it is fenced off"
    (again,) = post.claim()
    assert (again.id, again.attempt, again.tries) == (task.id, task.attempt + 1, 0)
    assert takeover.take_over(post.service) == 0, "it is buried"


def test_what_waits_for_its_next_attempt_stays_where_it_is(post: DeliveryHarness, other: Service) -> None:
    post.emit(post.trigger(post.receiver.url("/a")), 1)
    with other.store.write() as tx:
        (task,) = claims.claim(tx, other.clock(), post.room, other.generation)
        claims.finish(tx, [Outcome(task, post.clock.at, 5, 500, "No.")], post.clock.at)
    before = post.row()
    kill(other)
    takeover.take_over(post.service)
    assert post.row() == before and before["next_at"] > post.clock.at


def test_a_run_of_an_action_is_said_to_be_cut_off(service: Service, scene: Scene, other: Service) -> None:
    run = Run("alice", "sc_1", "~/echo", "0.0.1", None, service.clock())
    runs.begin(other, scene, run, {})
    assert takeover.take_over(service) == 0, "it lives, and runs it"
    kill(other)
    takeover.take_over(service)
    assert runs.details(service, scene, run.id)["status"] == "unknown"


def test_a_run_of_a_queue_is_free(service: Service, scene: Scene, other: Service) -> None:
    inbox.add(service, deploy(service, scene, "~/echo"), request_of({}))
    held = inbox.claim(other)
    assert held is not None and inbox.claim(service) is None
    kill(other)
    takeover.take_over(service)
    again = inbox.claim(service)
    assert again is not None and (again.id, again.tries) == (held.id, 0)
    with service.store.write() as tx:
        assert not inbox.complete(tx, held), "whoever was too slow keeps nothing"
        assert inbox.postpone(tx, again, 0)


def test_polls_and_changes_are_free(service: Service, scene: Scene, other: Service) -> None:
    polled, changed = deploy(service, scene), deploy(service, scene)
    (held, _) = lifecycle.claim_polls(other, 2)
    assert lifecycle.claim_polls(service, 2) == []
    lock = lifecycle.locked(other, changed)
    lock.__enter__()
    kill(other)
    takeover.take_over(service)
    assert {row(service, trigger)["busy_until"] for trigger in (polled, changed)} == {0}
    assert len(lifecycle.claim_polls(service, 2)) == 2
    with service.store.write() as tx:
        lifecycle.schedule_next(tx, held, failures=9, next_run_at=None)
    assert row(service, held)["failures"] == 0, "whoever was too slow keeps nothing"


def test_a_deployment_that_was_under_way_is_undone(
    service: Service, scene: Scene, other: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(deployments, "_finish_deployment", die)
        killed.setattr(deployments, "_undo", die)
        with pytest.raises(KeyboardInterrupt):
            deploy(other, scene)
    assert deployments._undo_abandoned_deployments(service) == 0
    kill(other)
    takeover.take_over(service)
    assert deployments._undo_abandoned_deployments(service) == 1


def test_a_refresh_and_a_check_are_free(service: Service, plant: Plant, other: Service, clock: FakeClock) -> None:
    account = plant(next_refresh_at=clock.at, next_check_at=clock.at, expires_at=clock.at + MINUTE)
    assert account_state.claim_refresh(other, account) is not None
    assert len(account_state.claim_checks(other, 5)) == 1
    assert account_state.due_for_refresh(service, 5) == [] and account_state.claim_checks(service, 5) == []
    kill(other)
    takeover.take_over(service)
    assert [one.id for one in account_state.due_for_refresh(service, 5)] == [account.id]
    assert [one.id for one in account_state.claim_checks(service, 5)] == [account.id]


def test_an_account_that_was_checked_is_not_checked_again(service: Service, plant: Plant, other: Service) -> None:
    plant(next_check_at=service.clock())
    (claimed,) = account_state.claim_checks(other, 5)
    after = account_state.mark_working(other, claimed)
    kill(other)
    takeover.take_over(service)
    (found,) = service.store.all("SELECT next_check_at FROM accounts")
    assert found["next_check_at"] == after.next_check_at and (after.next_check_at or 0) > service.clock() + HOUR


def test_a_sign_in_that_was_being_exchanged_has_failed_and_says_so(bench: Bench) -> None:
    service = bench.service
    with service.store.write() as tx:
        endpoints.add(tx, service, "general", "https://hooks.example/g", scene=None)
    other = replace(service, life=generations.begin(service.store, service.clock))
    attempt, _ = attempts.create(service, bench.token(), AttemptRequest("acme"))
    attempts.claim_keys(other, attempt)
    assert takeover.take_over(service) == 0 and attempts.get(service.store, attempt.id).status == "exchanging"
    kill(other)
    takeover.take_over(service)
    ended = attempts.get(service.store, attempt.id)
    assert (ended.status, ended.error_code) == ("failed", attempts.INTERRUPTED)
    assert ended.error_sentence == "The connection was interrupted. Start again."
    kinds = service.store.all("SELECT kind FROM events WHERE trigger_id IS NULL")
    assert kinds == [{"kind": "CONNECTION_ERROR"}]


def test_whoever_ends_in_order_gives_up_what_is_left(service: Service, scene: Scene, other: Service) -> None:
    inbox.add(service, deploy(service, scene, "~/echo"), request_of({}))
    assert inbox.claim(other) is not None
    takeover.give_up(other)
    assert inbox.claim(service) is not None
    assert generations.dead(service) == [] and takeover.take_over(service) == 0
    takeover.give_up(replace(service, life=None))


def test_its_heartbeats_end_before_it_gives_up(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(service, life=generations.begin(service.store, service.clock))
    assert other.life is not None
    ended: list[int] = []
    end = other.life.end

    def end_first() -> None:
        assert service.store.one("SELECT 1 FROM generations WHERE n = :n", {"n": other.generation})
        ended.append(other.generation)
        end()

    monkeypatch.setattr(other.life, "end", end_first)
    takeover.give_up(other)
    assert ended == [other.generation]
    assert not service.store.one("SELECT 1 FROM generations WHERE n = :n", {"n": other.generation})
