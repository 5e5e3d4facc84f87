"""Taking over what a dead process held: its leases and locks end at once, rather than when their time is over.

What it was in the middle of is due again, and whatever of it should still write is fenced off; a run of an action is
never begun again, but shown as cut off. What its hooks left half-way is for :func:`deployments.settle`, which then
finds it free.
"""

import logging
from collections.abc import Callable

from webapp.errors import Unavailable
from webapp.service.domain.accounts import attempts
from webapp.service.domain.accounts import lifecycle as account_lifecycle
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
    account_lifecycle.take_over,
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
    """End this process's own generation: what it still holds is free at once."""
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
