"""Releases the leases and locks of a dead process at once, instead of when they expire.

Its unfinished work is due again, and its late writes are rejected; a run of an action is never repeated, but shown as
interrupted. Deployments that it left incomplete are for :func:`deployments.recover`, which then finds them free.
"""

import logging
from collections.abc import Callable

from webapp.errors import Unavailable
from webapp.service.domain.accounts import account_state, attempts
from webapp.service.domain.base import generations
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import runs
from webapp.service.domain.deliveries import deliveries
from webapp.service.domain.pieces import pieces
from webapp.service.domain.triggers import inbox, lifecycle
from webapp.store.contract import Tx

_RELEASE: tuple[Callable[[Tx, Service, int], object], ...] = (
    deliveries.take_over,
    inbox.take_over,
    lifecycle.take_over,
    account_state.take_over,
    attempts.take_over,
    runs.take_over,
    pieces.take_over,
)
log = logging.getLogger(__name__)


def take_over(service: Service) -> int:
    """Take over from every generation that is dead; how many there were. Raises :class:`Unavailable`."""
    taken = 0
    for number in generations.dead(service):
        with service.store.write() as tx:
            if generations.bury(tx, service, number):
                _release(tx, service, number)
                taken += 1
    if taken:
        service.wake()
    return taken


def give_up(service: Service) -> None:
    """End this process's generation, and release what it still holds."""
    if service.life is None:
        return
    service.life.end()  # first, or a heartbeat that waits for the store would say that it lives
    try:
        with service.store.write() as tx:
            if generations.forget(tx, service.generation):
                _release(tx, service, service.generation)
    except Unavailable as error:
        log.info("What this process held is taken over by the next: %s", error.message)


def _release(tx: Tx, service: Service, number: int) -> None:
    for release in _RELEASE:
        release(tx, service, number)
