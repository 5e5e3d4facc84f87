"""The inbox: one request of each trigger is claimed at a time, leased, fenced and sealed."""

import pytest

from tests.fakes.deployed import plant_trigger_of
from tests.fakes.triggers import deploy, request_of
from tests.service.domain.conftest import Bench as DomainBench
from webapp.errors import Conflict, Throttled
from webapp.kit.clock import SECOND
from webapp.service.domain.base import leases
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import events
from webapp.service.domain.instance import rotation
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import inbox
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.inbox import QueuedRequest


@pytest.fixture
def triggers(bench: DomainBench) -> list[DeployedTrigger]:
    return [plant_trigger_of(bench.service, bench.scene, "http-new-requests")[0] for _ in range(2)]


def claimed(bench: DomainBench) -> list[QueuedRequest]:
    """Everything that may be claimed now."""
    return list(iter(lambda: inbox.claim(bench.service), None))


def test_each_trigger_has_one_request_in_work_at_a_time(bench: DomainBench, triggers: list[DeployedTrigger]) -> None:
    one, two = triggers
    for trigger, number in ((one, 1), (one, 2), (two, 3), (one, 4)):
        inbox.add(bench.service, trigger, request_of({"n": number}))
    first = claimed(bench)
    assert [waiting.request["body"]["n"] for waiting in first] == [1, 3]
    with bench.service.store.write() as tx:
        assert all(inbox.complete(tx, waiting) for waiting in first)
    (second,) = claimed(bench)
    assert (second.request["body"], second.trigger_id, second.tries) == ({"n": 2}, one.id, 0)


def test_a_holder_that_was_too_slow_keeps_nothing(bench: DomainBench, triggers: list[DeployedTrigger]) -> None:
    inbox.add(bench.service, triggers[0], request_of({}))
    slow = inbox.claim(bench.service)
    assert slow is not None
    due = inbox.next_due_at(bench.service.store, bench.clock())
    assert due == bench.clock() + leases.RECEIVED
    bench.clock.at = due
    quick = inbox.claim(bench.service)
    assert quick is not None and quick.id == slow.id
    with bench.service.store.write() as tx:
        assert not inbox.complete(tx, slow)
        assert not inbox.retry_or_drop(tx, slow, bench.clock(), "too slow")
        assert not inbox.postpone(tx, slow, 0)
        assert inbox.postpone(tx, quick, bench.clock() + SECOND)
        assert not inbox.complete(tx, slow)
    assert inbox.claim(bench.service) is None
    bench.clock.advance(SECOND)
    again = inbox.claim(bench.service)
    assert again is not None and (again.tries, again.turn) == (0, 3)


def test_what_waits_survives_a_rotation_of_keys(bench: DomainBench, triggers: list[DeployedTrigger]) -> None:
    inbox.add(bench.service, triggers[0], request_of({"canary": 1}))
    assert rotation.rotate(bench.service).resealed["trigger_inbox"] == 1
    waiting = inbox.claim(bench.service)
    assert waiting is not None and waiting.request["body"] == {"canary": 1}


def test_a_large_body_waits_in_parts_and_goes_with_its_request(
    bench: DomainBench, triggers: list[DeployedTrigger]
) -> None:
    text = "x" * (2 * events.PART_BYTES)
    inbox.add(bench.service, triggers[0], request_of(text))
    assert bench.service.store.one("SELECT COUNT(*) AS n FROM body_parts") == {"n": 3}
    assert rotation.rotate(bench.service).resealed["body_parts"] == 3
    waiting = inbox.claim(bench.service)
    assert waiting is not None and waiting.request["bodyRaw"] == f'"{text}"'
    with bench.service.store.write() as tx:
        assert inbox.complete(tx, waiting)
    assert bench.service.store.one("SELECT COUNT(*) AS n FROM body_parts") == {"n": 0}


def test_a_request_that_an_earlier_version_kept_is_read(bench: DomainBench, triggers: list[DeployedTrigger]) -> None:
    inbox.add(bench.service, triggers[0], request_of(1))
    with bench.service.store.write() as tx:
        (request_id,) = (row["id"] for row in tx.all("SELECT id FROM trigger_inbox"))
        sealed = inbox.SEALED.seal(bench.service, tx, bench.scene.project_id, request_id, b'{"body": 7}')
        tx.run("UPDATE trigger_inbox SET request_sealed = :sealed", {"sealed": sealed})
    waiting = inbox.claim(bench.service)
    assert waiting is not None and waiting.request == {"body": 7}


def test_what_is_not_accepted_leaves_nothing(
    bench: DomainBench, triggers: list[DeployedTrigger], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "MAX_WAITING", 0)
    with pytest.raises(Throttled):
        inbox.add(bench.service, triggers[0], request_of({}))
    monkeypatch.undo()
    with bench.service.store.write() as tx:
        tx.run("DELETE FROM deployed_triggers WHERE id = :id", {"id": triggers[0].id})
    with pytest.raises(Conflict):
        inbox.add(bench.service, triggers[0], request_of({}))
    assert inbox.next_due_at(bench.service.store, bench.clock()) is None


def test_without_a_request_nothing_waits(service: Service, scene: Scene) -> None:
    deploy(service, scene, "~/echo")
    assert inbox.claim(service) is None
