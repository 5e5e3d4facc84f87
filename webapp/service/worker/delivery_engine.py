"""The delivery engine: one thread that claims deliveries and stores their outcomes, and a pool that sends them.

The claiming thread wakes when an event was recorded, a delivery was sent or one is due. Each turn is one transaction,
which stores the outcomes of the last attempts and claims the next deliveries. Outcomes that arrive together share a
commit, so that durable commits keep up with hundreds of deliveries a second. :mod:`.delivery_slots` limits how many are
in flight; a slot is occupied until the outcome is stored, so at most those are sent twice after a crash.
"""

import logging
import queue
import threading
import time
from functools import partial

from webapp.errors import PatchbayError, Unavailable
from webapp.kit.clock import SECOND, ClockMonitor
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import claims, deliveries
from webapp.service.domain.deliveries.claims import Outcome, Task
from webapp.service.domain.deliveries.sender import DEADLINE_S, Sender
from webapp.service.domain.triggers import deployed_triggers
from webapp.service.worker.delivery_slots import SENDERS, SLOW_S, DeliverySlots
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
        self._sender = Sender(service, partial(deployed_triggers.mask_of, service), deadline_s=deadline_s)
        self._slots = DeliverySlots(senders)
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
        """Look at once for deliveries that are due."""
        self._wake.set()

    def stop(self, grace_s: float) -> None:
        """Claim nothing more, wait up to ``grace_s`` seconds for deliveries in flight, and store their outcomes.

        A delivery that does not end in time is due again when its lease ends.
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
        """How many deliveries are in flight."""
        return self._slots.busy

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
        """While deliveries are in flight, wait a moment for more outcomes to share the commit."""
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
        self._slots.look()
        tasks = self._settle_and_claim(now)
        self._unwritten.clear()
        self._hand_out(tasks)

    def _settle_and_claim(self, now: int) -> list[Task]:
        """Store and claim in one transaction, shared with other workers; after a conflict exclusively for a while."""
        shared = time.monotonic() >= self.alone_until
        try:
            with self._service.store.write(shared=shared) as tx:
                claims.finish(tx, self._unwritten, now)
                return claims.claim(tx, now, self._slots.room, self._service.generation)
        except NotShared:
            self.alone_until = time.monotonic() + ALONE_S
            return self._settle_and_claim(now)

    def _take_results(self) -> None:
        """Take the outcomes and free their slots, which only the transaction that stores them fills again."""
        while not self._results.empty():
            outcome = self._results.get()
            self._unwritten.append(outcome)
            self._slots.leave(outcome.task)

    def _hand_out(self, tasks: list[Task]) -> None:
        self._slots.take(tasks)
        while len(self._threads) < self._slots.busy:
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
                self._slots.leave(task)
                log.info("A delivery was removed while it was in flight.")
            except PatchbayError as error:  # the store cannot answer: no fault of the receiver's
                self._slots.leave(task)
                log.info("A delivery is due again when its lease ends: %s", error.message)
            except Exception:
                log.exception("A delivery could not be attempted.")
                self._results.put(Outcome(task, self._service.clock(), 0, None, _OUR_FAULT))
            finally:
                self._slots.arrive(task)
                self._wake.set()

    def _pause_s(self) -> float:
        """How long to wait for the next delivery, in seconds.

        Deliveries that are due already wait for a slot: one in flight ends, which wakes this thread, or becomes slow.
        """
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
