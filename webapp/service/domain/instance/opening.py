"""Opening a data folder: the store, the keys, the catalog and the outbound client, put together once per process."""

import fcntl
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from webapp.kit.clock import Clock, now
from webapp.service.catalog.build import BuildReport, ensure
from webapp.service.catalog.importing import folders
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.sources import Places
from webapp.service.components.calls import PieceBounds
from webapp.service.components.executor import Executor
from webapp.service.components.runner import Runner
from webapp.service.domain.access import embedding, oauth_clients, tokens
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.base import generations
from webapp.service.domain.base.rate_limits import Limiter
from webapp.service.domain.base.service import Service, wake_nobody, waking
from webapp.service.domain.deliveries import endpoints
from webapp.service.domain.instance import backups, instance_key, takeover
from webapp.service.domain.projects import usage
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard
from webapp.settings import Settings
from webapp.store.move import refuse_unfinished
from webapp.store.stores import open_store

USER_AGENT = "Patchbay/0.1"
log = logging.getLogger(__name__)


def open_service(
    settings: Settings,
    clock: Clock = now,
    runner: Runner | None = None,
    wake: Callable[[], None] = wake_nobody,
) -> Service:
    """The service over ``settings.data``, its schema and catalog brought up to date.

    Without a ``runner`` it has one of its own, which starts when a component is first called. ``wake`` tells the
    worker that there is something to do; those on other machines hear it from the store.

    Raises :class:`webapp.service.domain.base.keyring.WrongKey`, :class:`webapp.errors.Unavailable`,
    :class:`webapp.errors.Conflict` where a move into the database is not finished.
    """
    backups.finish(settings.data)
    with ExitStack() as undo:
        store = open_store(settings)
        undo.callback(store.close)
        executor = Executor(runner or Runner.start(), _bounds(settings))
        undo.callback(executor.close)
        with _one_at_a_time(settings.data / ".opening"):
            store.migrate()
            refuse_unfinished(store)
            keys = instance_key.proven(settings, store, clock)
            report = _build(settings, runner)
        _warn(report)
        outbound = OutboundClient(Guard(settings.allow_hosts), user_agent=USER_AGENT)
        limits = Limiter(settings.limits_storage, clock, closed=settings.limits_away == "closed")
        parts = (settings, store, clock, keys, _catalog(settings), outbound, executor, limits, waking(wake, store))
        service = Service(*parts, sign=generations.begin(store, clock))
        undo.callback(takeover.give_up, service)
        while endpoints.seal_clear_addresses(service) or tokens.seal_addresses(service):
            pass
        if settings.sandbox:
            oauth_apps.ensure_sandbox(service)
        undo.pop_all()
    return service


def update_catalog(service: Service) -> None:
    """Build the catalog anew where the operator's apps or components changed; readers take it in by themselves.

    Raises :class:`webapp.errors.Unavailable` when the runner cannot be asked what components declare.
    """
    with _one_at_a_time(service.settings.data / ".opening"):
        report = _build(service.settings, service.executor)
    if report.built:
        _warn(report)


def close_service(service: Service) -> None:
    """Give back what :func:`open_service` took."""
    usage.flush(service)
    oauth_clients.flush_uses(service)
    embedding.flush(service)
    takeover.give_up(service)
    service.executor.close()
    service.catalog.close()
    service.store.close()


def _bounds(settings: Settings) -> PieceBounds:
    return PieceBounds(settings.piece_processes, settings.piece_memory_mb, settings.piece_idle_s)


def _build(settings: Settings, runner: Runner | Executor | None) -> BuildReport:
    """Build the catalog unless it stands, from the built-in apps and what the operator put into the data folder.

    A runner of our own is not begun for it, since not every process that opens a folder calls components.
    """
    folders.recover(settings.data)
    return ensure(settings.data / "catalog.db", Places.of(settings.data), runner.call if runner else None)


def _warn(report: BuildReport) -> None:
    for problem in report.problems:
        log.warning("This is left out of the catalog: %s", problem)


def _catalog(settings: Settings) -> Catalog:
    variables = {"sandbox": settings.sandbox_url} if settings.sandbox else {}
    return Catalog.open(settings.data / "catalog.db", public_url=settings.public_url, variables=variables)


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``, so that processes which start together migrate and build one after another."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
