"""The delivery engine: one thread that claims and writes down, and a pool that sends.

The pump wakes when something was recorded or sent, or is due. Each turn is one transaction: what came of the last
attempts, and the claim of the next. Results that come in a stream share a commit, which is what lets a durable commit
each keep up with hundreds of deliveries a second. How many each endpoint may have on their way says :mod:`places`; a
place is taken until what came of it is written down, so whoever pulls the plug has no more than those sent twice.
"""

import logging
import queue
import threading
import time

from webapp.errors import PatchbayError, Unavailable
from webapp.kit.clock import SECOND, ClockMonitor
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import claims, deliveries
from webapp.service.domain.deliveries.claims import Outcome, Task
from webapp.service.domain.triggers.sender import DEADLINE_S, Sender
from webapp.service.worker.places import SENDERS, SLOW_S, Places
from webapp.store.contract import NotShared

GATHER_S = 0.01
ENOUGH = 64
LONGEST_SLEEP_S = 1.0  # a web process that cannot wake it (`patchbay web`) is noticed within a second
AFTER_TROUBLE_S = 0.5
ALONE_S = 1.0
_OUR_FAULT = "Patchbay could not make this attempt; its log says why."
log = logging.getLogger(__name__)


class DeliveryEngine:
    """Delivers what is due until it is stopped."""

    def __init__(self, service: Service, *, senders: int = SENDERS, deadline_s: float = DEADLINE_S) -> None:
        """``deadline_s`` bounds one request from the name look-up to the last byte."""
        self._service = service
        self._sender = Sender(service, deadline_s=deadline_s)
        self._places = Places(senders)
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._unwritten: list[Outcome] = []
        self._clock_monitor, self.alone_until = ClockMonitor(), 0.0
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
        return self._places.busy

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._turn()
                pause = self._pause_s()
            except Unavailable as error:
                log.log(error.level, "deliveries: %s", error.message)
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
        self._places.look()
        tasks = self._settle_and_claim(now)
        self._unwritten.clear()
        self._hand_out(tasks)

    def _settle_and_claim(self, now: int) -> list[Task]:
        """Beside other workers while all is well; after trouble for a moment alone."""
        shared = time.monotonic() >= self.alone_until
        try:
            with self._service.store.write(shared=shared) as tx:
                claims.finish(tx, self._unwritten, now)
                return claims.claim(tx, now, self._places.room, self._service.generation)
        except NotShared:
            self.alone_until = time.monotonic() + ALONE_S
            return self._settle_and_claim(now)

    def _take_results(self) -> None:
        """Their places are free from here on, since they are filled only by the transaction that writes these down."""
        while not self._results.empty():
            outcome = self._results.get()
            self._unwritten.append(outcome)
            self._places.leave(outcome.task)

    def _hand_out(self, tasks: list[Task]) -> None:
        self._places.take(tasks)
        while len(self._threads) < self._places.busy:
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
                self._places.leave(task)
                log.info("A delivery was removed while it was on its way.")
            except PatchbayError as error:  # the store cannot answer: no fault of the receiver's
                self._places.leave(task)
                log.info("A delivery is due again when its lease is over: %s", error.message)
            except Exception:
                log.exception("A delivery could not be attempted.")
                self._results.put(Outcome(task, self._service.clock(), 0, None, _OUR_FAULT))
            finally:
                self._places.arrive(task)
                self._wake.set()

    def _pause_s(self) -> float:
        """How long nothing is due. What is due already waits for room: that makes itself heard, or comes while what is
        on its way turns out to be slow."""
        now, longest_s = self._service.clock(), SLOW_S if self.busy else LONGEST_SLEEP_S
        due = deliveries.next_due_at(self._service.store, now)
        if due is None:
            return longest_s
        return min(max((due - now) / SECOND, 0.001), longest_s)

    def _write_last_results(self) -> None:
        self._take_results()
        if not self._unwritten:
            return
        try:
            with self._service.store.write() as tx:
                claims.finish(tx, self._unwritten, self._service.clock())
        except Unavailable as error:
            log.warning("The last results of deliveries could not be written: %s", error.message)
