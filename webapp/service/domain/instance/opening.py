"""Opens a data folder: creates the store, the keys, the catalog and the outbound client, once per process."""

import logging
from collections.abc import Callable
from contextlib import ExitStack

from webapp.kit.clock import Clock, now
from webapp.service.components.calls import PieceBounds
from webapp.service.components.executor import Executor
from webapp.service.components.runner import Runner
from webapp.service.domain.access import api_calls, connect_tokens, oauth_clients, refused_calls
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.base import generations
from webapp.service.domain.base.catalog_file import build, one_at_a_time, open_catalog, warn
from webapp.service.domain.base.rate_limits import Limiter
from webapp.service.domain.base.service import Service, wake_nobody, waking
from webapp.service.domain.deliveries import endpoints
from webapp.service.domain.instance import backups, instance_key, takeover
from webapp.service.domain.projects import usage
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.headers import USER_AGENT
from webapp.settings import Settings
from webapp.store.move import refuse_unfinished
from webapp.store.stores import open_store

log = logging.getLogger(__name__)


def open_service(
    settings: Settings,
    clock: Clock = now,
    runner: Runner | None = None,
    wake: Callable[[], None] = wake_nobody,
) -> Service:
    """The service of ``settings.data``, with its schema and catalog up to date.

    Without a ``runner`` it starts its own when a component is first called. ``wake`` notifies the worker
    that there is work; workers on other machines are notified by the store.

    Raises :class:`webapp.service.domain.base.keyring.WrongKey`, :class:`webapp.errors.Unavailable`,
    :class:`webapp.errors.Conflict` if a move into the database is incomplete.
    """
    backups.finish(settings.data)
    with ExitStack() as undo:
        store = open_store(settings)
        undo.callback(store.close)
        executor = Executor(runner or Runner.start(), _bounds(settings))
        undo.callback(executor.close)
        with one_at_a_time(settings.data / ".opening"):
            store.migrate()
            refuse_unfinished(store)
            keys = instance_key.proven(settings, store, clock)
            report = build(settings, runner)
        warn(report)
        outbound = OutboundClient(Guard(settings.allow_hosts), user_agent=USER_AGENT)
        limits = Limiter(settings.limits_storage, clock, closed=settings.limits_away == "closed")
        parts = (settings, store, clock, keys, open_catalog(settings), outbound, executor, limits, waking(wake, store))
        service = Service(*parts, life=generations.begin(store, clock))
        undo.callback(takeover.give_up, service)
        while endpoints.seal_clear_addresses(service) or connect_tokens.seal_addresses(service):
            pass
        if settings.sandbox:
            oauth_apps.ensure_sandbox(service)
        undo.pop_all()
    return service


def close_service(service: Service) -> None:
    """Release what :func:`open_service` opened."""
    usage.flush(service)
    oauth_clients.flush_uses(service)
    refused_calls.flush(service)
    api_calls.flush(service)
    takeover.give_up(service)
    service.executor.close()
    service.catalog.close()
    service.store.close()


def _bounds(settings: Settings) -> PieceBounds:
    return PieceBounds(settings.piece_processes, settings.piece_memory_mb, settings.piece_idle_s)
