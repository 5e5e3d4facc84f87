"""What is recorded, how it is listed, and how long it is kept."""

from dataclasses import replace

import orjson
import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.deployed import emit
from tests.fakes.receiver import Mood
from webapp.kit import cursors
from webapp.kit.clock import DAY
from webapp.service.components.calls import Emitted
from webapp.service.domain.deliveries import counts, event_bodies, events, log, stats
from webapp.service.domain.deliveries.log import Filter
from webapp.service.domain.instance import retention


def test_an_event_is_shown_as_it_was_emitted(post: DeliveryHarness) -> None:
    trigger = post.trigger()
    with post.service.store.write() as tx:
        (event,) = events.record(tx, post.service, trigger, [Emitted({"z": 1, "a": [1.0]}, "id-1", "A thing", 1234)])
    (found,) = events.page_of_trigger(post.service.store, trigger.id)
    assert found == event
    assert orjson.loads(orjson.dumps(events.to_json(found))) == {
        "e": {"z": 1, "a": [1.0]}, "k": "emit", "ts": 1234, "id": event.id, "sum": "A thing",
    }  # fmt: skip
    assert event.body == b'{"z":1,"a":[1.0]}'


@pytest.mark.parametrize("odd", [2**80, "\ud800", [{"x": "\udfff"}], -(2**70)])
def test_what_one_encoder_refuses_is_json_all_the_same(odd: object) -> None:
    assert event_bodies.as_bytes(odd).isascii()


def test_newest_first_page_by_page(post: DeliveryHarness) -> None:
    trigger = post.trigger()
    made = [event.id for n in range(5) for event in emit(post.service, trigger, n)]
    store = post.service.store
    first = events.page_of_trigger(store, trigger.id, limit=2)
    second = events.page_of_trigger(store, trigger.id, limit=9, after=first[-1].id)
    assert [one.id for one in (*first, *second)] == made[::-1]
    assert [one.id for one in events.page_of_trigger(store, trigger.id, only=made[2])] == [made[2]]
    assert events.page_of_trigger(store, trigger.id, after="evt_nothing") == []


def test_old_events_go_but_not_while_they_wait(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url())
    post.emit(trigger, "old")
    post.turn()
    post.receiver.moods["/"] = Mood(500)
    post.emit(trigger, "waits")
    post.turn()
    post.clock.advance(30 * DAY + 1)
    assert retention.purge(post.service) == 1
    assert [one.body for one in events.page_of_trigger(post.service.store, trigger.id)] == [b'"waits"']
    assert [row["status"] for row in post.rows()] == ["waiting"]
    assert counts.count(post.service.store, trigger.id) == 1
    assert len(post.service.store.all("SELECT * FROM delivery_attempts")) == 1


def test_only_the_newest_of_each_trigger_are_kept(post: DeliveryHarness) -> None:
    few = replace(post.service, settings=replace(post.service.settings, events_kept=3))
    crowded, other = post.trigger(), post.trigger()
    emit(post.service, crowded, *range(300))
    emit(post.service, other, *range(3))
    assert retention.purge(few) == 297
    assert [one.body for one in events.page_of_trigger(few.store, crowded.id)] == [b"299", b"298", b"297"]
    assert len(events.page_of_trigger(few.store, other.id)) == 3
    assert retention.purge(few) == 0


def test_what_waits_for_a_webhook_that_is_switched_off_is_kept_as_long_as_events(post: DeliveryHarness) -> None:
    off, on = post.trigger(post.receiver.url("/", Mood(410))), post.trigger(post.receiver.url("/on"))
    post.emit(off, 1)
    post.turn()
    post.emit(off, 2)
    post.emit(on, 3)
    post.clock.advance(post.service.settings.event_days * DAY)
    assert retention.purge(post.service) == 0
    post.clock.advance(1)
    assert retention.purge(post.service) == 2
    assert [row["trigger_id"] for row in post.rows()] == [on.id], "what waits for one that works is never forgotten"


def test_the_last_24_hours(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url("/", Mood(410)))
    post.emit(trigger, 1)
    post.turn()
    post.clock.advance(DAY)
    post.emit(trigger, 2)
    found = stats.day(post.service, trigger.id)
    assert len(found["hours"]) == 24
    assert (found["failed"], found["delivered"], found["waiting"], found["events"]) == (0, 0, 1, 1)
    assert found["hours"][-1]["waiting"] == 1
    assert found["last_event_at"] == post.clock()
    assert "410" in found["last_error"], "of what was tried last"
    total = log.page(post.service.store, trigger.id, Filter(), cursors.Window())
    assert total.total_count == 2
