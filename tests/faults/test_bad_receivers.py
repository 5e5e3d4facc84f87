"""Fault 2: whatever a receiver does, the schedule holds, and its worker is free in time.

All kinds fail side by side. What decides is what was written down; times are printed beside what is to be reached.
"""

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.fakes.certificates import Authority
from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Mood, Receiver, black_hole, closed_port, receiving
from webapp.kit.clock import SECOND
from webapp.service.domain.deliveries import retry
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.worker.delivery_engine import DeliveryEngine

DEADLINE_S = 1.0
RETRY_AFTER_S = 120
PATIENCE_S = 60.0
ANSWERS = {
    "500": Mood(500),
    "302 to a private address": Mood(302),
    "410": Mood(410),
    "429 with Retry-After": Mood(429, {"Retry-After": str(RETRY_AFTER_S)}),
    "one byte a second": Mood(trick="drip"),
    "endless body": Mood(500, trick="endless"),
    "endless body of a 200": Mood(200, trick="endless"),
    "no answer": Mood(trick="hang"),
    "reset": Mood(trick="reset"),
    "good": Mood(),
}
HELD = ("one byte a second", "no answer", "black hole")  # for as long as the deadline lets them

pytestmark = [pytest.mark.faults, pytest.mark.alone]


@dataclass
class Street:
    """A receiver of each kind, each behind a trigger of its own; ``private`` is where the redirect leads."""

    post: DeliveryHarness
    private: socket.socket
    triggers: dict[str, DeployedTrigger] = field(default_factory=dict)

    def kind_of(self, trigger_id: str | None) -> str:
        return next(kind for kind, one in self.triggers.items() if one.id == trigger_id)

    def private_calls(self) -> int:
        """How many have come to where the redirect leads."""
        self.private.setblocking(False)
        calls = 0
        try:
            while True:
                self.private.accept()[0].close()
                calls += 1
        except BlockingIOError:
            return calls


@contextmanager
def street(post: DeliveryHarness, folder: Path) -> Iterator[Street]:
    receiver: Receiver = post.receiver
    with ExitStack() as stack:
        private = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0))))
        inside = f"http://127.0.0.1:{private.getsockname()[1]}/inside"
        moods = ANSWERS | {"302 to a private address": Mood(302, {"Location": inside})}
        urls = {kind: receiver.url(f"/{number}", mood) for number, (kind, mood) in enumerate(moods.items())}
        tls = stack.enter_context(receiving(Authority(folder).context("localhost")))
        netlocs = {
            "refused": closed_port(),
            "black hole": stack.enter_context(black_hole()),
            "bad certificate": f"localhost:{tls.server_address[1]}",
        }
        post.allow(*netlocs.values())
        urls |= {kind: f"http://{netloc}/" for kind, netloc in netlocs.items()}
        urls["bad certificate"] = urls["bad certificate"].replace("http:", "https:")
        urls["no TLS"] = f"https://{receiver.netloc}/"
        yield Street(post, private, {kind: post.trigger(url) for kind, url in urls.items()})


def test_the_schedule_holds(post: DeliveryHarness, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    post.service = replace(post.service, clock=post.clock)
    with street(post, tmp_path) as found:
        for trigger in found.triggers.values():
            post.emit(trigger)
        pauses: dict[str, list[int]] = {kind: [] for kind in found.triggers}
        while any(row["next_at"] is not None for row in post.rows()):
            post.clock.at = max(post.clock.at, min(row["next_at"] for row in post.rows() if row["next_at"] is not None))
            for outcome in post.turn(deadline_s=0.3):
                row = next(one for one in post.rows() if one["id"] == outcome.task.id)
                if row["next_at"] is not None:
                    pauses[found.kind_of(row["trigger_id"])].append(row["next_at"] - post.clock.at)
        assert found.private_calls() == 0
        ends = {found.kind_of(row["trigger_id"]): (row["status"], row["attempt"]) for row in post.rows()}
    with capsys.disabled():
        print(
            f"\nschedule in s: {' '.join(f'{ms / SECOND:g}' for ms in retry.SCHEDULE)} (± {retry.JITTER:.0%})",
            file=sys.stderr,
        )
        for kind, waited in pauses.items():
            print(f"  {kind:<26} {ends[kind]!s:<18} {' '.join(f'{ms / SECOND:.0f}' for ms in waited)}", file=sys.stderr)
    once = {"good": ("delivered", 1), "endless body of a 200": ("delivered", 1), "410": ("failed", 1)}
    assert ends == {kind: once.get(kind, ("failed", len(retry.SCHEDULE))) for kind in found.triggers}
    for kind, waited in pauses.items():
        assert len(waited) == ends[kind][1] - 1
        for ms, planned in zip(waited, retry.SCHEDULE[1:], strict=False):
            if kind.startswith("429"):
                planned = max(planned, RETRY_AFTER_S * SECOND)
            assert (1 - retry.JITTER) * planned <= ms <= (1 + retry.JITTER) * planned, (kind, ms, planned)


def test_every_worker_is_free_again(post: DeliveryHarness, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with street(post, tmp_path) as found:
        engine = DeliveryEngine(post.service, deadline_s=DEADLINE_S)
        engine.start()
        try:
            for trigger in found.triggers.values():
                post.emit(trigger)
            engine.wake()
            ends = time.monotonic() + PATIENCE_S
            while engine.busy or any(row["attempt"] < 1 or row["lease_until"] for row in post.rows()):
                assert time.monotonic() < ends, "a worker is held"
                time.sleep(0.02)
            assert not post.receiver.closing.is_set(), "those who hold a worker still do"
        finally:
            engine.stop(5.0)
        assert found.private_calls() == 0
        rows = {found.kind_of(row["trigger_id"]): row for row in post.rows()}
        state = {kind: post.endpoint(trigger).state for kind, trigger in found.triggers.items()}
    with capsys.disabled():
        print(
            f"\na worker is free after, in ms (to reach ≤ {DEADLINE_S + 1:g} s, the deadline and one second):",
            file=sys.stderr,
        )
        for kind, row in rows.items():
            print(f"  {kind:<26} {row['took_ms']:>6}  {row['last_error'] or 'delivered'}", file=sys.stderr)
    assert {kind for kind, row in rows.items() if row["last_error"] is None} == {"good", "endless body of a 200"}
    assert all(rows[kind]["took_ms"] >= DEADLINE_S * SECOND for kind in HELD), "they were given their time"
    assert [kind for kind, one in state.items() if one != "happy"] == ["410"]
