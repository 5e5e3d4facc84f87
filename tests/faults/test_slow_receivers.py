"""Fault 2, under load: endpoints of 50 that hang (one, and five), or one that fails at once, are no trouble to the
others, on a quiet machine and on one whose processors all have other work.

Two services deliver the same, round by round in turns; in one of them some of the endpoints are bad. That the others'
events arrive while the bad ones still are owed what they were sent decides. Their median and p99, from commit to
arrival, are printed beside those of the undisturbed service: other work on the machine would decide them.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Got, Mood
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.worker.delivery_engine import DeliveryEngine
from webapp.service.worker.delivery_slots import PER_ENDPOINT

ENDPOINTS = 50
FULL = int(os.environ.get("PATCHBAY_FAULT_KILLS") or "6") >= 100
WARM_UP, ROUNDS = 2, 40 if FULL else 12
BAD_ONES = 20
PAUSE_S = 0.08
PATIENCE_S = 120.0

pytestmark = [pytest.mark.faults, pytest.mark.alone]


@dataclass
class Side:
    """One of the two services: most of the endpoints, and the rest, which get more events and are well in one of the
    two."""

    post: DeliveryHarness
    engine: DeliveryEngine
    triggers: list[DeployedTrigger]
    bad: list[DeployedTrigger]
    sent: dict[str, float] = field(default_factory=dict)

    def round(self, number: int) -> None:
        """An event for each of the most, after some for each of the rest."""
        for trigger in self.bad:
            self.post.emit(trigger, *range(BAD_ONES))
            self.engine.wake()
        for trigger in self.triggers:
            name = f"{trigger.id}-{number}"
            self.post.emit(trigger, name)
            self.sent[name] = time.monotonic()
            self.engine.wake()
        time.sleep(PAUSE_S)

    def arrived(self) -> list[Got]:
        """What came in at most of them."""
        return [one for one in list(self.post.receiver.got) if not one.path.startswith("/bad")]

    def delays(self) -> tuple[float, float]:
        """The median and the p99 of the seconds from the commit of an event to its arrival, when all have arrived; the
        warm-up is left out."""
        ends = time.monotonic() + PATIENCE_S
        while len(self.arrived()) < len(self.sent):
            assert time.monotonic() < ends, f"{len(self.sent) - len(self.arrived())} did not arrive"
            time.sleep(0.02)
        names = {one.body.decode().strip('"'): one.at for one in self.arrived()}
        delays = sorted(names[name] - at for name, at in list(self.sent.items())[WARM_UP * len(self.triggers) :])
        return delays[len(delays) // 2], delays[int(len(delays) * 0.99)]


@contextmanager
def busy_processors(count: int) -> Iterator[None]:
    """Other work for ``count`` processors."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


@contextmanager
def delivering(post: DeliveryHarness, count: int, mood: Mood | None) -> Iterator[Side]:
    triggers = [post.trigger(post.receiver.url(f"/{n}")) for n in range(ENDPOINTS - count)]
    bad = [post.trigger(post.receiver.url(f"/bad-{n}", mood)) for n in range(count)]
    side = Side(post, DeliveryEngine(post.service), triggers, bad)
    side.engine.start()
    try:
        yield side
    finally:
        post.receiver.closing.set()
        side.engine.stop(5.0)


@pytest.mark.parametrize(
    ("count", "mood", "is_busy"),
    [
        (1, Mood(trick="hang"), False),
        (1, Mood(trick="hang"), True),
        (5, Mood(trick="hang"), False),
        (1, Mood(500), False),
    ],
    ids=["one hangs", "one hangs, busy", "five hang", "one fails"],
)
def test_bad_endpoints_of_fifty(
    posts: tuple[DeliveryHarness, DeliveryHarness],
    count: int,
    mood: Mood,
    is_busy: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:
    work = busy_processors(os.cpu_count() or 1 if is_busy else 0)
    with work, delivering(posts[0], count, None) as calm, delivering(posts[1], count, mood) as troubled:
        for number in range(WARM_UP + ROUNDS):
            calm.round(number)
            troubled.round(number)
        pairs = zip(calm.delays(), troubled.delays(), strict=True)
        post, bad = troubled.post, [trigger.id for trigger in troubled.bad]
        tried, rows = [len(post.receiver.of(f"/bad-{n}")) for n in range(count)], post.rows()
        ends = time.monotonic() + PATIENCE_S
        while troubled.engine.busy > PER_ENDPOINT * count:  # the last of the others' answers are on their way
            assert time.monotonic() < ends, "the bad ones hold more than their places"
            time.sleep(0.02)
    states = [post.endpoint(trigger) for trigger in troubled.bad]
    with capsys.disabled():
        print(
            f"\n{ENDPOINTS - count} endpoints beside {count} that {mood.trick or 'fail'}{', busy' * is_busy}:",
            file=sys.stderr,
        )
        for name, (without, with_them) in zip(("p50", "p99"), pairs, strict=True):
            ratio = f"{with_them / without:.2f} ×, to reach < 2 ×"
            print(
                f"  {name} {without * 1000:.1f} ms without, {with_them * 1000:.1f} ms with them ({ratio})",
                file=sys.stderr,
            )
        print(
            f"  {[state.state for state in states]}, {sum(state.sheds for state in states)} were put off",
            file=sys.stderr,
        )
    assert min(tried) >= 1
    assert any(row["next_at"] is not None for row in rows), "the others did not wait for them to be done"
    assert {row["attempt"] for row in rows if row["trigger_id"] not in bad} == {1}
    if mood.trick != "hang":
        assert (states[0].state, states[0].sheds > 0) == ("penalty", True)
