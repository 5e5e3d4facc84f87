"""The service object, which is made once at the start of a process and passed to all domain functions, and sealed
columns.

A sealed column stores secrets encrypted with the data key of the row's project. Each table's module declares its own. A
column seals and opens its values, and lets a rotation of the keys read them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from webapp.errors import NotFound, Throttled
from webapp.kit.clock import Clock, Deadline
from webapp.quotas import REFUSALS, Quota
from webapp.service.catalog.app import App
from webapp.service.catalog.index import Catalog
from webapp.service.components.executor import Executor
from webapp.service.domain.base.keyring import KeyGone, Keyring, Place
from webapp.service.domain.base.rate_limits import Limit, Limiter
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.urls import parse_url
from webapp.settings import Settings
from webapp.store.contract import Store, Tx
from webapp.store.lock_files import LifeLock

RECEIVER = "/receiver"
MAX_URL = 2_000
WHOLE_INSTALLATION = "COALESCE(project_id, 'instance')"
"""The owner where a row without a project belongs to the whole installation."""


def wake_nobody() -> None:
    """Do nothing: this process has no worker to wake."""


def waking(wake: Callable[[], None], store: Store) -> Callable[[], None]:
    """A function that calls ``wake`` for this machine's worker, and notifies those of other machines that share
    ``store``.
    """

    def wake_all() -> None:
        wake()
        store.notify()

    return wake_all


@dataclass(frozen=True, slots=True)
class Service:
    """The parts that domain functions use. It has no state of its own.

    ``wake`` notifies the worker that there is work; it is called after the commit. ``life`` shows other processes that
    this one is alive (:mod:`generations`).
    """

    settings: Settings
    store: Store
    clock: Clock
    keys: Keyring
    catalog: Catalog
    outbound: OutboundClient
    executor: Executor
    limits: Limiter
    wake: Callable[[], None] = wake_nobody
    life: LifeLock | None = None

    @property
    def generation(self) -> int:
        """The number of this process in leases and locks; 0 without a life."""
        return self.life.number if self.life else 0

    def check_quota(self, quota: Quota, count: int) -> None:
        """Raise the error of ``quota`` if ``count`` exceeds it."""
        limit = self.settings.quotas[quota.name]
        if count > limit * quota.unit:
            REFUSALS.add(quota.name, limit)
            raise quota.error(quota.words(limit))

    def count(self, quota: Quota, key: str, amount: int = 1) -> None:
        """Count ``amount`` towards ``quota`` under ``key``; 0 only looks whether it is used up.

        Raises :class:`Throttled`, with the quota's words, beyond it.
        """
        number = self.settings.quotas[quota.name]
        limit, place = Limit(number * quota.unit, quota.window_s), f"{quota.name}|{key}"
        try:
            if amount:
                self.limits.hit(limit, place, amount)
            else:
                self.limits.check(limit, place)
        except Throttled as error:
            REFUSALS.add(quota.name, number)
            error.reason = quota.words(number)
            raise

    def app(self, slug_or_id: str) -> App:
        """The app with that slug or id. Raises :class:`NotFound`."""
        app = self.catalog.app(slug_or_id)
        if app is None:
            raise NotFound("There is no such app.")
        return app

    def client_to(self, url: str) -> OutboundClient:
        """The outbound client for events to ``url``; the built-in third party is allowed only at its receiver."""
        path = urlsplit(url).path
        inside = (path == RECEIVER or path.startswith(f"{RECEIVER}/")) and ".." not in path
        if not (self.settings.sandbox and inside):
            return self.outbound
        return self.outbound.allowing(urlsplit(self.settings.sandbox_url).netloc)

    def unreachable(self, url: str, deadline: Deadline) -> Failure | None:
        """Why the guard refuses ``url`` now, or None; the guard checks again at each request."""
        if len(url) > MAX_URL:
            return Failure("refused_by_guard", f"An address can have at most {MAX_URL:,} characters.")
        parsed = parse_url(url)
        if isinstance(parsed, Failure):
            return parsed
        guard = self.client_to(url).guard
        checked = guard.check(url)
        target = checked if isinstance(checked, Failure) else guard.pin(checked, deadline)
        return target if isinstance(target, Failure) else None

    def client_for(self, app: App) -> OutboundClient:
        """The outbound client for ``app``; the built-in third party is allowed only for its own apps."""
        if not (self.settings.sandbox and app.is_sandbox):
            return self.outbound
        return self.outbound.allowing(urlsplit(self.settings.sandbox_url).netloc)


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """One sealed column of ``table``, whose rows are identified by ``key``.

    ``owner`` is SQL for the owner of the data key. ``version`` is the column with that key's version, unless the box
    contains it. A rotation reads at most ``batch`` rows at once.
    """

    table: str
    column: str
    key: str = "id"
    owner: str = "project_id"
    version: str | None = None
    batch: int = 100

    def place(self, owner: str, row: str) -> Place:
        """The place of the value of one row."""
        return Place(owner, self.table, row, self.column.removesuffix("_sealed"))

    def seal(self, service: Service, tx: Tx, owner: str, row: str, plain: bytes) -> bytes:
        """Seal ``plain`` for ``row``, in the transaction that writes it."""
        return service.keys.seal_box(tx, self.place(owner, row), plain)

    def open(self, service: Service, owner: str, row: str, box: bytes) -> bytes:
        """Open ``box`` of ``row``; if a rotation has sealed it again since, read it again.

        Raises :class:`webapp.service.domain.base.keyring.KeyGone` if the row no longer exists.
        """
        try:
            return service.keys.open_box(self.place(owner, row), box)
        except KeyGone:
            row_now = service.store.one(
                f"SELECT {self.column} AS sealed FROM {self.table} WHERE {self.key} = :id",  # noqa: S608
                {"id": row},
            )
            if row_now is None or row_now["sealed"] in (None, box):
                raise
            return self.open(service, owner, row, row_now["sealed"])

    @property
    def page(self) -> str:
        """Selects ``id``, ``owner``, ``sealed`` and ``version`` of at most ``:limit`` rows after the id ``:after``."""
        return (
            f"SELECT {self.key} AS id, {self.owner} AS owner, {self.column} AS sealed, "  # noqa: S608
            f"{self.version or 'NULL'} AS version FROM {self.table} "
            f"WHERE {self.key} > :after AND {self.column} IS NOT NULL ORDER BY {self.key} LIMIT :limit"
        )

    @property
    def update(self) -> str:
        """The statement that writes ``:sealed``, and ``:version`` if there is such a column, to the row ``:id``."""
        version = f", {self.version} = :version" if self.version else ""
        return f"UPDATE {self.table} SET {self.column} = :sealed{version} WHERE {self.key} = :id"  # noqa: S608
