"""What the domain works with: one bundle, made once at the start of a process and handed to every verb."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from webapp.errors import NotFound
from webapp.kit.clock import Clock
from webapp.service.catalog.app import App
from webapp.service.catalog.index import Catalog
from webapp.service.components.runner import Runner
from webapp.service.domain.base.keyring import Keyring
from webapp.service.outbound.client import OutboundClient
from webapp.settings import Settings
from webapp.store.contract import Store


def wake_nobody() -> None:
    """Wakes nobody: there is no worker beside this process."""


@dataclass(frozen=True, slots=True)
class Service:
    """The parts that every verb may use. It holds no state of its own.

    ``wake`` tells the worker that there is something to do; call it after the commit that made it so.
    """

    settings: Settings
    store: Store
    clock: Clock
    keys: Keyring
    catalog: Catalog
    outbound: OutboundClient
    runner: Runner
    wake: Callable[[], None] = wake_nobody

    def app(self, slug_or_id: str) -> App:
        """The app with that slug or id. Raises :class:`NotFound`."""
        app = self.catalog.app(slug_or_id)
        if app is None:
            raise NotFound("There is no such app.")
        return app

    def client_for(self, app: App) -> OutboundClient:
        """The outbound client for ``app``: the built-in third party is open to its own apps alone."""
        if not (self.settings.sandbox and app.is_sandbox):
            return self.outbound
        return self.outbound.allowing(urlsplit(self.settings.sandbox_url).netloc)
