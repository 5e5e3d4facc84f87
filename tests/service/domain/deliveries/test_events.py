"""A request is kept once, as bytes, and its payload composed when it is asked for.

Large bodies in parts: whole when they are read, sealed one by one, gone with what they belong to.

Bodies as they are sent: composed of requests, small and large, and gone when the event is.

What is recorded, how it is listed, and how long it is kept.
"""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.deployed import emit, plant_trigger_of
from tests.fakes.receiver import Mood
from tests.fakes.triggers import request_of
from webapp.kit import cursors
from webapp.kit.clock import DAY
from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import events, log, stats
from webapp.service.domain.deliveries.events import MAX_DEPTH, Event, ReceivedRequest
from webapp.service.domain.deliveries.log import Filter
from webapp.service.domain.instance import event_retention, rotation
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import inbox

LARGE = "é" * events.SMALL


def request(content: bytes, content_type: str = "text/plain") -> ReceivedRequest:
    facts = {
        "method": "POST",
        "headers": {"content-type": content_type},
        "body": None,
        "bodyRaw": None,
        "url": "https://a",
    }
    return ReceivedRequest(facts, content)


def payload(content: bytes) -> dict[str, Any]:
    return request(content).payload()


CONTENTS = [b"", b"{}", b"\n\x01\n", "é\ud7ff\U0001f600".encode() * 100_000, b"\xff\xe2\x82" * 100_000, b'["\\n"]' * 9]


@pytest.mark.parametrize("content", CONTENTS)
def test_what_was_packed_is_what_is_unpacked(content: bytes) -> None:
    came = request(content)
    packed, beside = came.packed()
    assert events.is_packed(packed) and not events.is_packed(orjson.dumps(came.payload()))
    assert events.unpacked(packed, beside) == came
    assert (beside, len(packed) < 200) == ((content, True) if len(content) > events.SMALL else (b"", len(packed) < 200))
    assert list(came.payload()) == ["method", "headers", "body", "bodyRaw", "url"]


@pytest.mark.parametrize("content", CONTENTS)
def test_the_size_is_known_without_writing_it(content: bytes) -> None:
    length, size = len(orjson.dumps(request(content).payload())), request(content).size()
    assert length <= size <= length + len(orjson.dumps(content.decode("utf-8", "replace"))) + 20


def test_control_characters_are_kept_as_the_bytes_that_came() -> None:
    came = request(b"\x01" * 1_000_000)
    assert sum(map(len, came.packed())) < 1_000_200
    assert 12_000_000 < came.size() < 12_000_200


@pytest.mark.parametrize("content_type", ["application/json", "Application/Problem+JSON; charset=utf-8"])
def test_what_says_that_it_is_json_is_read(content_type: str) -> None:
    assert request(b"12", content_type).payload()["body"] == 12


def test_a_form_with_files_is_text_although_it_may_look_like_json() -> None:
    assert request(b'{"a": 1}', "text/plain").payload()["body"] == {"a": 1}
    assert request(b'{"a": 1}', "multipart/form-data; boundary={").payload()["body"] == '{"a": 1}'


@pytest.mark.parametrize(("depth", "kind"), [(MAX_DEPTH, list), (MAX_DEPTH + 1, str), (100_000, str)])
def test_deep_bodies(depth: int, kind: type) -> None:
    assert isinstance(payload(b"[" * depth + b"]" * depth)["body"], kind)


def test_numbers_beyond_64_bits_do_no_harm() -> None:
    assert payload(b"[1e400, 1]")["body"] == "[1e400, 1]"
    assert payload(b"[123456789012345678901234567890]")["bodyRaw"] == "[123456789012345678901234567890]"


def test_a_body_is_whole_again_whatever_its_length(service: Service, scene: Scene) -> None:
    trigger, _ = plant_trigger_of(service, scene, "http-new-requests")
    inbox.add(service, trigger, request_of(1))
    ((request_id,),) = service.store.tuples("SELECT id FROM trigger_inbox")
    for content in (b"x", bytes(range(256)) * 1024, b"y" * (events.PART_BYTES + 1)):
        with service.store.write() as tx:
            tx.run("DELETE FROM body_parts")
            events.store_parts(tx, service, scene.project_id, "request_id", request_id, content)
        assert events.read_parts(service, scene.project_id, "request_id", request_id) == content
    kept = service.store.tuples("SELECT part_sealed FROM body_parts")
    assert len(kept) == 2 and b"yyyy" not in kept[0][0]
    with service.store.write() as tx:
        tx.run("DELETE FROM trigger_inbox")
    with pytest.raises(LookupError):
        events.read_parts(service, scene.project_id, "request_id", request_id)


@pytest.mark.parametrize("body", ["small", LARGE])
def test_a_request_is_delivered_and_shown_as_its_payload(post: DeliveryHarness, body: str) -> None:
    trigger = post.trigger(post.receiver.url())
    request = request_of(body)
    with post.service.store.write() as tx:
        event = events.record_request(tx, post.service, trigger, request, "POST /", request.size())
    post.turn()
    (delivered,) = post.receiver.got
    assert orjson.loads(delivered.body) == request.payload()
    (listed,) = events.opened(post.service, events.page_of_trigger(post.service.store, trigger.id))
    assert listed.body == delivered.body == events.body_of(post.service, event.id)
    assert events.body_size(post.service.store, event.id) == request.size() >= len(delivered.body)
    rotation.rotate(post.service)
    assert events.body_of(post.service, event.id) == delivered.body


def test_a_large_body_is_kept_once_and_goes_with_its_event(post: DeliveryHarness) -> None:
    trigger, request = post.trigger(), request_of(LARGE)
    with post.service.store.write() as tx:
        event: Event = events.record_request(tx, post.service, trigger, request, "POST /", request.size())
    sizes = "SELECT SUM(LENGTH(body_sealed)) + (SELECT SUM(LENGTH(part_sealed)) FROM body_parts) FROM events"
    ((kept,),) = post.service.store.tuples(sizes)
    assert event.kept <= kept < event.kept + 200 and event.kept < len(request.content) + 200
    with post.service.store.write() as tx:
        events.delete(tx, [event.id])
    assert post.service.store.tuples("SELECT COUNT(*) FROM body_parts") == [(0,)]
    with pytest.raises(LookupError):
        events.body_of(post.service, event.id)


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
    assert events.body_bytes(odd).isascii()


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
    assert event_retention.purge(post.service) == 1
    assert [one.body for one in events.page_of_trigger(post.service.store, trigger.id)] == [b'"waits"']
    assert [row["status"] for row in post.rows()] == ["waiting"]
    assert stats.count(post.service.store, trigger.id) == 1
    assert len(post.service.store.all("SELECT * FROM delivery_attempts")) == 1


def test_only_the_newest_of_each_trigger_are_kept(post: DeliveryHarness) -> None:
    few = replace(post.service, settings=replace(post.service.settings, events_kept=3))
    crowded, other = post.trigger(), post.trigger()
    emit(post.service, crowded, *range(300))
    emit(post.service, other, *range(3))
    assert event_retention.purge(few) == 297
    assert [one.body for one in events.page_of_trigger(few.store, crowded.id)] == [b"299", b"298", b"297"]
    assert len(events.page_of_trigger(few.store, other.id)) == 3
    assert event_retention.purge(few) == 0


def test_what_waits_for_a_webhook_that_is_switched_off_is_kept_as_long_as_events(post: DeliveryHarness) -> None:
    off, on = post.trigger(post.receiver.url("/", Mood(410))), post.trigger(post.receiver.url("/on"))
    post.emit(off, 1)
    post.turn()
    post.emit(off, 2)
    post.emit(on, 3)
    post.clock.advance(post.service.settings.event_days * DAY)
    assert event_retention.purge(post.service) == 0
    post.clock.advance(1)
    assert event_retention.purge(post.service) == 2
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
