"""The worker: one loop that claims due work and calls one domain verb for each piece.

It sleeps until the next piece is due, at most :data:`LONGEST_SLEEP_S`, and wakes at once when the web process
writes to its end of the wake pipe. It also is the only one that runs the store's checkpoints.
"""

import logging
import os
import select
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from webapp.errors import PatchbayError, Unavailable
from webapp.kit.clock import MINUTE, SECOND
from webapp.service.domain import attempts, dynamic_props, health, link_sessions, refreshing, runs, tokens
from webapp.service.domain.opening import close_service, open_service
from webapp.service.domain.service import Service
from webapp.settings import Settings

LONGEST_SLEEP_S = 15.0
REFRESHES_AT_ONCE = 8
log = logging.getLogger(__name__)


@dataclass(slots=True)
class Chore:
    """Something done every ``every`` milliseconds."""

    name: str
    every: int
    verb: Callable[[Service], object]
    due: int = 0


def run(settings: Settings, stop: threading.Event, wake_fd: int | None = None) -> None:
    """Work until ``stop`` is set; ``wake_fd`` becomes readable when there is something new to do."""
    service = open_service(settings)
    chores = [
        Chore("checkpoint", MINUTE, lambda s: s.store.checkpoint()),
        Chore("purge tokens", 10 * MINUTE, tokens.purge),
        Chore("purge attempts", 10 * MINUTE, attempts.purge),
        Chore("purge link sessions", 10 * MINUTE, link_sessions.purge),
        Chore("purge runs", 10 * MINUTE, runs.purge),
        Chore("purge dynamic props", 60 * MINUTE, dynamic_props.purge),
    ]
    try:
        with ThreadPoolExecutor(REFRESHES_AT_ONCE, thread_name_prefix="refresh") as pool:
            while not stop.is_set():
                turn(service, chores, pool)
                _sleep(stop, wake_fd, pause_s(service))
    finally:
        close_service(service)


def turn(service: Service, chores: list[Chore], pool: ThreadPoolExecutor) -> None:
    """Do everything that is due now."""
    _shielded("refresh accounts", lambda: _refresh(service, pool))
    _shielded("check accounts", lambda: _check(service, pool))
    now = service.clock()
    for chore in chores:
        if chore.due <= now:
            chore.due = now + chore.every
            _shielded(chore.name, lambda chore=chore: chore.verb(service))  # type: ignore[misc]


def _refresh(service: Service, pool: ThreadPoolExecutor) -> None:
    due = refreshing.due(service, REFRESHES_AT_ONCE * 4)
    list(pool.map(lambda account: _shielded("refresh an account", lambda: refreshing.renew(service, account)), due))


def _check(service: Service, pool: ThreadPoolExecutor) -> None:
    due = health.claim_due(service, REFRESHES_AT_ONCE * 4)
    list(pool.map(lambda account: _shielded("check an account", lambda: health.check(service, account)), due))


def _shielded(name: str, verb: Callable[[], object]) -> None:
    """Run ``verb``; what goes wrong in one piece of work must not stop the others."""
    try:
        verb()
    except PatchbayError as error:
        log.info("%s: %s", name, error.message)
    except Exception:
        log.exception("%s failed", name)


def pause_s(service: Service) -> float:
    """How long nothing is due, in seconds; a moment when the store cannot tell."""
    try:
        due = [at for at in (refreshing.next_due_at(service), health.next_due_at(service)) if at is not None]
    except Unavailable:
        return 1.0
    if not due:
        return LONGEST_SLEEP_S
    return min(max((min(due) - service.clock()) / SECOND, 0.2), LONGEST_SLEEP_S)


def _sleep(stop: threading.Event, wake_fd: int | None, seconds: float) -> None:
    if wake_fd is None:
        stop.wait(seconds)
        return
    readable, _, _ = select.select([wake_fd], [], [], seconds)
    if readable:
        _drain(wake_fd)


def _drain(wake_fd: int) -> None:
    try:
        os.read(wake_fd, 4096)
    except BlockingIOError:
        return
