"""The delivery engine: one thread that claims and writes down, and a pool that sends.

The pump wakes when something was recorded or sent, or is due. Each turn is one transaction: what came of the last
attempts, and the claim of the next. Results that come in a stream share a commit, which is what lets a durable commit
each keep up with hundreds of deliveries a second. Each endpoint may have only so many deliveries on their way, fewer
the busier the pool is and one while it fails, so that one which hangs never holds up the others. A place is taken
until what came of it is written down: whoever pulls the plug has no more than those places sent twice.
"""

import logging
import queue
import threading
import time
from collections import Counter

from webapp.errors import PatchbayError, Unavailable
from webapp.kit.clock import SECOND, ClockMonitor
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import claims, deliveries, outcomes
from webapp.service.domain.deliveries.claims import Task
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.deliveries.outcomes import Outcome
from webapp.service.domain.triggers.delivering import DEADLINE_S, Sender

SENDERS = 64
PER_ENDPOINT = 16
IN_PENALTY = 1
GATHER_S = 0.01
ENOUGH = 64
LONGEST_SLEEP_S = 1.0  # a web process without our bell (`patchbay web`) is heard within a second
AFTER_TROUBLE_S = 0.5
_OUR_FAULT = "Patchbay could not make this attempt; its log says why."
log = logging.getLogger(__name__)


class DeliveryEngine:
    """Delivers what is due until it is stopped."""

    def __init__(self, service: Service, *, senders: int = SENDERS, deadline_s: float = DEADLINE_S) -> None:
        """``deadline_s`` bounds one request from the name look-up to the last byte."""
        self._service = service
        self._sender = Sender(service, deadline_s=deadline_s)
        self._senders = senders
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._unwritten: list[Outcome] = []
        self._lock = threading.Lock()
        self._places: Counter[str] = Counter()  # by endpoint: claimed, and what came of it not written down
        self._busy = 0
        self._clock_monitor = ClockMonitor()
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._pump = threading.Thread(target=self._run, name="deliveries", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._pump.start()

    def wake(self) -> None:
        """There may be something to deliver: look at once."""
        self._wake.set()

    def stop(self, grace_s: float) -> None:
        """Claim nothing more, let what is on its way end within ``grace_s``, and write down what came of it.

        What does not end in time is due again when its lease is over.
        """
        self._stopping.set()
        self._wake.set()
        ends = time.monotonic() + grace_s
        self._pump.join(max(grace_s, 0.1))
        while self.busy and time.monotonic() < ends:
            time.sleep(0.02)
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join(max(ends - time.monotonic(), 0.05) if self.busy else 1.0)
        if not self._pump.is_alive():
            self._write_last_results()

    @property
    def busy(self) -> int:
        """How many deliveries are on their way."""
        with self._lock:
            return self._busy

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._turn()
                pause = self._pause_s()
            except Unavailable as error:
                log.info("deliveries: %s", error.message)
                pause = AFTER_TROUBLE_S
            except Exception:
                log.exception("A turn of the delivery engine failed.")
                pause = AFTER_TROUBLE_S
            if self._wake.wait(pause):
                self._gather()

    def _gather(self) -> None:
        """While deliveries are on their way, wait a moment for more results to share the commit."""
        self._wake.clear()
        ends = time.monotonic() + GATHER_S
        while self.busy and self._results.qsize() < ENOUGH and not self._stopping.is_set():
            left = ends - time.monotonic()
            if left <= 0 or not self._wake.wait(left):
                return
            self._wake.clear()

    def _turn(self) -> None:
        self._take_results()
        now = self._service.clock()
        if self._clock_monitor.is_set_back(now):
            with self._service.store.write() as tx:
                deliveries.realign(tx, now)
        due = deliveries.next_due_at(self._service.store)
        if not self._unwritten and (due is None or due > now):
            return
        with self._service.store.write() as tx:
            outcomes.finish(tx, self._unwritten, now)
            tasks = claims.claim(tx, now, self._room, self._service.generation)
        self._unwritten.clear()
        self._hand_out(tasks)

    def _take_results(self) -> None:
        """Their places are free from here on, since they are filled only by the transaction that writes these down."""
        while not self._results.empty():
            outcome = self._results.get()
            self._unwritten.append(outcome)
            self._leave(outcome.task)

    def _leave(self, task: Task) -> None:
        with self._lock:
            self._places[task.endpoint.id] -= 1
            if not self._places[task.endpoint.id]:
                del self._places[task.endpoint.id]

    def _room(self, endpoint: Endpoint, claimed: int) -> int:
        """How many more may go to ``endpoint``: a share of the free senders, so that some are left for the others."""
        with self._lock:
            there = self._places[endpoint.id]
            free = self._senders - self._places.total() - claimed
        if endpoint.state == "penalty":
            return min(IN_PENALTY - there, free)
        return min(PER_ENDPOINT - there, max(free // 4, 1), free)

    def _hand_out(self, tasks: list[Task]) -> None:
        with self._lock:
            self._places.update(task.endpoint.id for task in tasks)
            self._busy += len(tasks)
            needed = min(self._busy, self._senders)
        while len(self._threads) < needed:
            thread = threading.Thread(target=self._work, name=f"sender-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        for task in tasks:
            self._tasks.put(task)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                self._results.put(self._sender.send(task))
            except LookupError:
                self._leave(task)
                log.info("A delivery was removed while it was on its way.")
            except PatchbayError as error:  # the store cannot answer: no fault of the receiver's
                self._leave(task)
                log.info("A delivery is due again when its lease is over: %s", error.message)
            except Exception:
                log.exception("A delivery could not be attempted.")
                self._results.put(Outcome(task, self._service.clock(), 0, None, _OUR_FAULT))
            finally:
                with self._lock:
                    self._busy -= 1
                self._wake.set()

    def _pause_s(self) -> float:
        """How long nothing is due. What is due already waits for room, and room makes itself heard."""
        now = self._service.clock()
        due = deliveries.next_due_at(self._service.store, now)
        if due is None:
            return LONGEST_SLEEP_S
        return min(max((due - now) / SECOND, 0.001), LONGEST_SLEEP_S)

    def _write_last_results(self) -> None:
        self._take_results()
        if not self._unwritten:
            return
        try:
            with self._service.store.write() as tx:
                outcomes.finish(tx, self._unwritten, self._service.clock())
        except Unavailable as error:
            log.warning("The last results of deliveries could not be written: %s", error.message)
