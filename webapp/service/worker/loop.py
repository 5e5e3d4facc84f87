"""The worker: a loop that refreshes and checks accounts and does chores, and engines with threads of their own.

The loop sleeps until the next work is due, at most :data:`LONGEST_SLEEP_S`. It and the engines wake at once when a web
process writes to the wake pipe.
"""

import logging
import os
import select
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from webapp.errors import PatchbayError, Unavailable
from webapp.kit import heartbeat
from webapp.kit.clock import SECOND, ClockMonitor
from webapp.service.components.runner import Runner
from webapp.service.domain.accounts import account_state, health, token_refresh
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.worker import chores
from webapp.service.worker.caretaker import Caretaker
from webapp.service.worker.catalog_reloader import CatalogReloader
from webapp.service.worker.checkpointer import Checkpointer
from webapp.service.worker.chores import Chore
from webapp.service.worker.delivery_engine import DeliveryEngine
from webapp.service.worker.directory_engine import DirectoryEngine
from webapp.service.worker.mail import MailServer
from webapp.service.worker.piece_engine import PieceEngine
from webapp.service.worker.reconnect_mailer import ReconnectMailer
from webapp.service.worker.trigger_engine import TriggerEngine
from webapp.settings import Settings

LONGEST_SLEEP_S = 15.0
RUNG_S = 1.0
REFRESHES_AT_ONCE = 8
GRACE_S = 8.0  # less than the supervisor gives us
log = logging.getLogger(__name__)
_ENGINES = (
    Checkpointer,
    Caretaker,
    CatalogReloader,
    TriggerEngine,
    DeliveryEngine,
    MailServer,
    PieceEngine,
    DirectoryEngine,
    ReconnectMailer,
)


class Engine(Protocol):
    """A part of the worker with threads of its own."""

    def start(self) -> None:
        """Begin."""

    def wake(self) -> None:
        """Look at once for work that is due."""

    def stop(self, grace_s: float) -> None:
        """Begin nothing more, and wait up to ``grace_s`` seconds for running work."""


def run(settings: Settings, stop: threading.Event, wake_fd: int | None = None, runner: Runner | None = None) -> None:
    """Work until ``stop`` is set; ``wake_fd`` becomes readable when there is new work.

    Components run in ``runner``; without one, in a runner of this process's own.
    """
    engines: list[Engine] = []

    def wake() -> None:
        for engine in engines:
            engine.wake()

    service = open_service(settings, runner=runner, wake=wake)
    due, monitor = chores.all_due(), ClockMonitor()
    try:
        for begin in _ENGINES:
            engine: Engine = begin(service)
            engine.start()
            engines.append(engine)
        others = service.store.listen(wake)
        with others, ThreadPoolExecutor(REFRESHES_AT_ONCE, thread_name_prefix="refresh") as pool:
            while not stop.is_set():
                heartbeat.beat(settings.data / heartbeat.WORKER)
                if monitor.is_set_back(service.clock()):
                    _logged("realign accounts", lambda: account_state.realign(service))
                turn(service, due, pool)
                _rest(stop, wake_fd, pause_s(service), wake)
    finally:
        _end(engines)
        close_service(service)


def _end(engines: Sequence[Engine]) -> None:
    """Stop all engines at once, so that none waits for another's grace."""
    threads = [threading.Thread(target=engine.stop, args=(GRACE_S,)) for engine in engines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def turn(service: Service, chores: list[Chore], pool: ThreadPoolExecutor) -> None:
    """Do all work that is due now."""
    _logged("refresh accounts", lambda: _refresh(service, pool))
    _logged("check accounts", lambda: _check(service, pool))
    now = service.clock()
    for chore in chores:
        if not now < chore.due <= now + chore.every:  # due, or too far away because the clock was set back
            chore.due = now + chore.every
            _logged(chore.name, lambda chore=chore: chore.verb(service))  # type: ignore[misc]


def _refresh(service: Service, pool: ThreadPoolExecutor) -> None:
    due = account_state.due_for_refresh(service, REFRESHES_AT_ONCE * 4)
    list(pool.map(lambda account: _logged("refresh an account", lambda: token_refresh.refresh(service, account)), due))


def _check(service: Service, pool: ThreadPoolExecutor) -> None:
    due = account_state.claim_checks(service, REFRESHES_AT_ONCE * 4)
    list(pool.map(lambda account: _logged("check an account", lambda: health.check(service, account)), due))


def _logged(name: str, verb: Callable[[], object]) -> None:
    """Run ``verb``, and log its error instead of raising it, so that other work continues."""
    try:
        verb()
    except PatchbayError as error:
        log.log(error.level if isinstance(error, Unavailable) else logging.INFO, "%s: %s", name, error.message)
    except Exception:
        log.exception("%s failed", name)


def pause_s(service: Service) -> float:
    """How long nothing is due, in seconds; 1.0 if the store is unavailable."""
    try:
        times = (account_state.earliest_refresh_at(service), account_state.earliest_check_at(service))
    except Unavailable:
        return 1.0
    due = [at for at in times if at is not None]
    if not due:
        return LONGEST_SLEEP_S
    return min(max((min(due) - service.clock()) / SECOND, 0.2), LONGEST_SLEEP_S)


def _rest(stop: threading.Event, wake_fd: int | None, seconds: float, wake: Callable[[], None]) -> None:
    """Sleep for ``seconds``; a byte in the wake pipe wakes the engines at once.

    Accounts may have changed then, so the sleep ends soon, but at the earliest :data:`RUNG_S` after it began, as every
    event writes to the pipe, and concerns no account.
    """
    began = time.monotonic()
    ends = began + seconds
    while not stop.is_set() and (left := ends - time.monotonic()) > 0:
        if _sleep(stop, wake_fd, left):
            wake()
            ends = min(ends, began + RUNG_S)


def _sleep(stop: threading.Event, wake_fd: int | None, seconds: float) -> bool:
    """Sleep, and return whether the wake pipe was written to."""
    if wake_fd is None:
        stop.wait(seconds)
        return False
    readable, _, _ = select.select([wake_fd], [], [], seconds)
    if readable:
        _drain(wake_fd)
    return bool(readable)


def _drain(wake_fd: int) -> None:
    try:
        os.read(wake_fd, 4096)
    except BlockingIOError:
        return
