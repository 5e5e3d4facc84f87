"""Fault 3: the clock jumps, the clocks change, the machine sleeps. No storm, no missed or doubled tick, no
token revived, and nothing waits for a time that the clock has been taken back from.

Hours pass in seconds: the clock is the test's own, and each step is one turn of the real engine.
"""

import itertools
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.fakes.deployed import plant_trigger
from tests.fakes.receiver import Mood, Receiver, receiving
from tests.fakes.triggers import deploy
from webapp.errors import Unauthorized
from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND, FakeClock
from webapp.service.components.calls import Emitted
from webapp.service.domain.access import access_tokens, connect_tokens, oauth_clients
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.base import leases
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import claims
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import fire
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.worker.delivery_engine import DeliveryEngine
from webapp.service.worker.trigger_engine import TriggerEngine

BERLIN = ZoneInfo("Europe/Berlin")
STEP = 20 * SECOND
QUARTER = 15 * MINUTE
PATIENCE_S = 60.0
SCHEDULES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "every minute": ("schedule-custom-interval", {"cron": {"intervalSeconds": 60}}),
    "*/15 * * * *": ("schedule-cron", {"cron": {"cron": "*/15 * * * *", "timezone": "Europe/Berlin"}}),
    "30 2 * * *": ("schedule-cron", {"cron": {"cron": "30 2 * * *", "timezone": "Europe/Berlin"}}),
    "a poll": ("~/poll", {"timer": {"intervalSeconds": 900}}),
}

pytestmark = pytest.mark.faults


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()) * SECOND


def shown(ms: int) -> str:
    return datetime.fromtimestamp(ms / SECOND, BERLIN).strftime("%d. %H:%M")


@dataclass
class Day:
    """A trigger of each schedule, and the engine that keeps them; ``largest`` is the most that one step set off."""

    service: Service
    clock: FakeClock
    engine: TriggerEngine
    triggers: Mapping[str, DeployedTrigger]
    largest: int = 0

    def live(self, ms: int) -> None:
        """Let ``ms`` pass, turn by turn."""
        ends = self.clock.at + ms
        while self.clock.at < ends:
            before = self.runs()
            self.engine.turn()
            patience = time.monotonic() + PATIENCE_S
            while self.engine.busy:
                assert time.monotonic() < patience, "a run does not end"
                time.sleep(0.005)
            self.largest = max(self.largest, self.runs() - before)
            self.clock.at = min(self.clock.at + STEP, ends)

    def runs(self) -> int:
        (events,) = self.service.store.tuples("SELECT COUNT(*) FROM events WHERE trigger_id LIKE 'ti_%'")
        (polls,) = self.service.store.tuples("SELECT COUNT(*) FROM trigger_runs WHERE cause = 'timer'")
        return int(events[0] + polls[0])

    def ticks(self, name: str) -> list[int]:
        """The ticks that were kept, in the order in which they were."""
        rows = self.service.store.tuples(
            "SELECT emitted_at FROM events WHERE trigger_id = :id ORDER BY id", {"id": self.triggers[name].id}
        )
        return [row[0] for row in rows]

    def polls(self) -> list[int]:
        """When the poll ran."""
        rows = self.service.store.tuples("SELECT at FROM trigger_runs WHERE cause = 'timer' ORDER BY id")
        return [row[0] for row in rows]


@pytest.fixture
def day(service: Service, scene: Scene, clock: FakeClock, request: pytest.FixtureRequest) -> Iterator[Day]:
    """It begins at the local time that the test names."""
    clock.at = at(request.param)
    triggers = {name: deploy(service, scene, key, given=given) for name, (key, given) in SCHEDULES.items()}
    engine = TriggerEngine(service)
    yield Day(service, clock, engine, triggers)
    engine.stop(5.0)


@dataclass
class Gone:
    """Tokens that have expired."""

    service: Service
    connect: str
    access: str

    def check(self) -> None:
        with pytest.raises(Unauthorized, match="expired"):
            connect_tokens.verify(self.service, self.connect)
        with pytest.raises(Unauthorized, match="expired"):
            access_tokens.verify(self.service, self.access)


def quarters(start: int, end: int) -> list[int]:
    """Every quarter of an hour after ``start``, up to ``end``."""
    return list(range((start // QUARTER + 1) * QUARTER, end + 1, QUARTER))


def minutes(anchor: int, end: int) -> list[int]:
    """Every minute after ``anchor``, up to ``end``."""
    return list(range(anchor + MINUTE, end + 1, MINUTE))


def tell(capsys: pytest.CaptureFixture[str], what: str, day: Day) -> None:
    with capsys.disabled():
        counts = ", ".join(f"{name}: {len(day.ticks(name))}" for name in SCHEDULES if name != "a poll")
        print(
            f"\n{what}: at most {day.largest} at once of {len(SCHEDULES)}; ticks {counts}; polls {len(day.polls())}",
            file=sys.stderr,
        )


@pytest.mark.parametrize("day", ["2027-06-01T00:07:00"], indirect=True)
@pytest.mark.parametrize(
    ("slept", "what"),
    [(2 * HOUR, "2 h of sleep"), (HOUR, "1 h ahead"), (DAY, "1 day ahead")],
    ids=["sleep", "1 h", "1 d"],
)
def test_time_that_was_skipped(day: Day, slept: int, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    start = day.clock.at
    client, _ = oauth_clients.create(day.service, name="Old")
    access = access_tokens.issue(day.service, client, None).token
    day.live(80 * MINUTE)
    left = day.clock.at - STEP  # the last turn
    day.clock.advance(slept)
    woke = day.clock.at
    day.live(40 * MINUTE)
    end = day.clock.at - STEP
    tell(capsys, what, day)
    for name, every in {
        "every minute": lambda a, b: [one for one in minutes(start, b) if one > a],
        "*/15 * * * *": quarters,
    }.items():
        before, missed, after = every(start, left), every(left, woke), every(woke, end)
        assert day.ticks(name) == [*before, *missed[-1:], *after], name
    nights = [one for one in (at("2027-06-01T02:30"), at("2027-06-02T02:30")) if left < one <= woke]
    normal = [one for one in (at("2027-06-01T02:30"), at("2027-06-02T02:30")) if woke < one <= end]
    assert day.ticks("30 2 * * *") == [*nights[-1:], *normal]
    polls = day.polls()
    assert len([one for one in polls if left < one <= woke + MINUTE]) <= 1
    assert max(later - one for one, later in itertools.pairwise(polls) if later < left) <= QUARTER + STEP
    assert max(later - one for one, later in itertools.pairwise(polls) if one > woke) <= QUARTER + STEP
    assert day.largest <= len(SCHEDULES)
    with pytest.raises(Unauthorized, match="expired"):
        access_tokens.verify(day.service, access)


@pytest.mark.parametrize("day", ["2027-06-02T00:07:00"], indirect=True)
@pytest.mark.parametrize("back", [HOUR, DAY], ids=["1 h", "1 d"])
def test_a_clock_that_is_set_back(day: Day, scene: Scene, back: int, capsys: pytest.CaptureFixture[str]) -> None:
    start = day.clock.at
    client, _ = oauth_clients.create(day.service, name="Old")
    made = connect_tokens.create(day.service, scene, TokenRequest("alice", expires_in=600), client_id=None)
    gone = Gone(day.service, made["token"], access_tokens.issue(day.service, client, None).token)
    day.live(160 * MINUTE)  # past the job of the night
    gone.check()
    left = day.clock.at - STEP
    day.clock.advance(-back)
    again = day.clock.at
    for _ in range(4):
        gone.check()
        day.live(20 * MINUTE)
    end = day.clock.at - STEP
    tell(capsys, f"{back // HOUR} h back", day)
    first = minutes(start, left)
    later = day.ticks("every minute")[len(first) :]
    assert day.ticks("every minute")[: len(first)] == first
    assert again < later[0] <= again + MINUTE
    assert later == list(range(later[0], end + 1, MINUTE))
    whole = quarters(start, left)
    assert day.ticks("*/15 * * * *") == [*whole, *quarters(left if back == HOUR else again, end)]
    assert day.ticks("30 2 * * *") == [at("2027-06-02T02:30")]
    polls = [one for one in day.polls() if one <= end]
    assert max(later - one for one, later in itertools.pairwise(polls[-4:])) <= QUARTER + STEP
    assert day.largest <= len(SCHEDULES)


@pytest.mark.parametrize(
    ("day", "night"),
    [("2027-03-28T00:07:00", "2027-03-28T03:00"), ("2027-10-31T00:07:00", "2027-10-31T02:30")],
    indirect=["day"],
    ids=["forward", "back"],
)
def test_the_clocks_change(day: Day, night: str, capsys: pytest.CaptureFixture[str]) -> None:
    start = day.clock.at
    day.live(4 * HOUR)
    end = day.clock.at - STEP
    tell(capsys, f"the clocks change, {shown(start)} to {shown(end)}", day)
    assert day.ticks("every minute") == minutes(start, end)
    assert day.ticks("*/15 * * * *") == quarters(start, end)
    assert day.ticks("30 2 * * *") == [at(night)]
    assert {later - one for one, later in itertools.pairwise(day.polls())} <= {QUARTER, QUARTER + STEP, QUARTER - STEP}
    assert day.largest <= len(SCHEDULES)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


@pytest.mark.parametrize("moved", [HOUR, DAY, -HOUR, -DAY], ids=["+1 h", "+1 d", "-1 h", "-1 d"])
def test_deliveries_keep_their_pauses(
    service: Service, scene: Scene, clock: FakeClock, receiver: Receiver, moved: int
) -> None:
    """One that failed waits for its next try, and one is in the hands of a worker that died."""
    service = replace(service, outbound=service.outbound.allowing(receiver.netloc))
    fails = plant_trigger(service, scene, [receiver.url("/fails", Mood(500))])
    dies = plant_trigger(service, scene, [receiver.url("/dies")])
    fire.emit(service, dies, [Emitted({"n": 1}, None, None, clock())])
    with service.store.write() as tx:
        assert len(claims.claim(tx, clock(), lambda *_: 1)) == 1
    fire.emit(service, fails, [Emitted({"n": 2}, None, None, clock())])
    engine = DeliveryEngine(service)
    engine.start()
    try:
        until(lambda: len(receiver.of("/fails")) == 1 and not engine.busy and tries(service) == 1, engine)
        assert receiver.of("/dies") == []
        clock.advance(moved)
        receiver.moods.clear()
        if moved < 0:
            engine.wake()
            until(lambda: waits(service) <= clock() + leases.DELIVERY, engine)
        clock.advance(leases.DELIVERY + SECOND)
        until(lambda: waits(service) == 0, engine)
    finally:
        engine.stop(5.0)
    assert (len(receiver.of("/fails")), len(receiver.of("/dies"))) == (2, 1)


def until(done: Any, engine: DeliveryEngine) -> None:
    ends = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < ends, "it waits for a time that does not come"
        engine.wake()
        time.sleep(0.01)


def tries(service: Service) -> int:
    row = service.store.one("SELECT MAX(tries) AS n FROM deliveries")
    return int(row["n"]) if row else 0


def waits(service: Service) -> int:
    """Until when the last delivery waits; 0 when none does."""
    row = service.store.one("SELECT MAX(next_at) AS at FROM deliveries")
    return int(row["at"] or 0) if row else 0
