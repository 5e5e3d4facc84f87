"""The trigger engine: one thread that claims due triggers, and a thread for each run of a component.

Native timers fire in the engine's own thread, hundreds in one transaction. Polls, queued requests and renewals are
claimed only while fewer than :data:`RUNS` are running. The engine sleeps until the next is due, and wakes when a
transaction was committed or a run ended.
"""

import logging
import threading
import time
from collections.abc import Callable

from webapp.errors import PatchbayError, Unavailable
from webapp.kit.clock import SECOND, ClockMonitor
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers import fire, inbox, lifecycle, renewal, subscriptions
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.inbox import QueuedRequest
from webapp.service.domain.triggers.subscriptions import Subscription

RUNS = 16
LONGEST_SLEEP_S = 1.0  # a web process that cannot wake it (`patchbay web`) is noticed within a second
AFTER_TROUBLE_S = 0.5
APART_S = 0.02
"""The least time between two turns that a wake-up causes: every commit wakes the engine, and most are events."""
log = logging.getLogger(__name__)


class TriggerEngine:
    """Runs due triggers until it is stopped."""

    def __init__(self, service: Service, *, runs: int = RUNS) -> None:
        """Run up to ``runs`` components at the same time."""
        self._service, self._runs = service, runs
        self._wake, self._stopping = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._polling: dict[str, DeployedTrigger] = {}
        self._counted = 0
        self._clock_monitor = ClockMonitor()
        self._thread = threading.Thread(target=self._run, name="triggers", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """Look for due triggers at once, or :data:`APART_S` after the last turn began."""
        self._wake.set()

    def stop(self, grace_s: float) -> None:
        """Claim nothing more, wait up to ``grace_s`` seconds for runs, and release polls that have not ended."""
        self._stopping.set()
        self._wake.set()
        ends = time.monotonic() + grace_s
        if self._thread.is_alive():
            self._thread.join(max(grace_s, 0.1))
        while self.busy and time.monotonic() < ends:
            time.sleep(0.02)
        with self._lock:
            left = list(self._polling.values())
        for trigger in left:
            _logged("release a poll", lambda trigger=trigger: lifecycle.release(self._service, trigger))  # type: ignore[misc]  # a default argument binds it

    @property
    def busy(self) -> int:
        """How many runs have not ended."""
        with self._lock:
            return len(self._polling) + self._counted

    def turn(self) -> None:
        """Begin all due work, up to the number of runs allowed."""
        self._check_the_clock()
        while fire.fire_timers(self._service) == fire.BATCH:
            if self._stopping.is_set():
                return
        room = self._runs - self.busy
        if room > 0:
            for trigger in lifecycle.claim_polls(self._service, room):
                self._poll(trigger)
        for subscription in subscriptions.claim(self._service, max(self._runs - self.busy, 0)):
            self._renew(subscription)
        while self.busy < self._runs and (waiting := inbox.claim(self._service)) is not None:
            self._request(waiting)

    def pause_s(self) -> float:
        """How long nothing is due, in seconds; timers only, while no further run is allowed."""
        now = self._service.clock()
        due = [lifecycle.next_timer_at(self._service)]
        if self.busy < self._runs:
            due += [lifecycle.next_poll_at(self._service), inbox.next_due_at(self._service.store, now)]
            due.append(subscriptions.next_at(self._service))
        times = [at for at in due if at is not None]
        if not times:
            return LONGEST_SLEEP_S
        return min(max((min(times) - now) / SECOND, 0.01), LONGEST_SLEEP_S)

    def _run(self) -> None:
        while not self._stopping.is_set():
            began = time.monotonic()
            try:
                self.turn()
                pause = self.pause_s()
            except Unavailable as error:
                log.log(error.level, "triggers: %s", error.message)
                pause = AFTER_TROUBLE_S
            except Exception:
                log.exception("A turn of the trigger engine failed.")
                pause = AFTER_TROUBLE_S
            if self._wake.wait(pause):
                self._stopping.wait(max(0.0, began + APART_S - time.monotonic()))
            self._wake.clear()

    def _check_the_clock(self) -> None:
        """At the start and whenever the clock was set back, recompute due times that are too far away."""
        now = self._service.clock()
        if self._clock_monitor.is_set_back(now):
            with self._service.store.write() as tx:
                inbox.realign(tx, now)
            changed = lifecycle.realign(self._service) + subscriptions.realign(self._service)
            if changed:
                log.info("The clock was set back; %d schedules were recomputed.", changed)

    def _poll(self, trigger: DeployedTrigger) -> None:
        key = f"{trigger.id} {trigger.turn}"
        with self._lock:
            self._polling[key] = trigger

        def leave() -> None:
            del self._polling[key]

        self._begin(f"poll {trigger.id}", lambda: fire.poll(self._service, trigger), leave)

    def _request(self, waiting: QueuedRequest) -> None:
        name = f"a request to {waiting.trigger_id}"
        self._begin_counted(name, lambda: inbox.run_queued(self._service, waiting))

    def _renew(self, claimed: Subscription) -> None:
        self._begin_counted(f"renew {claimed.trigger_id}", lambda: renewal.renew(self._service, claimed))

    def _begin_counted(self, name: str, work: Callable[[], object]) -> None:
        with self._lock:
            self._counted += 1

        def leave() -> None:
            self._counted -= 1

        self._begin(name, work, leave)

    def _begin(self, name: str, work: Callable[[], object], leave: Callable[[], None]) -> None:
        def run() -> None:
            try:
                _logged(name, work)
            finally:
                with self._lock:
                    leave()
                self._wake.set()

        threading.Thread(target=run, name=name, daemon=True).start()


def _logged(name: str, work: Callable[[], object]) -> None:
    """Run ``work``, and log its error instead of raising it; its lease ends, and it is due again."""
    try:
        work()
    except PatchbayError as error:
        log.info("%s: %s", name, error.message)
    except Exception:
        log.exception("%s failed", name)
