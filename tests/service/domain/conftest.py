"""A service whose one own app, Acme, is a provider on loopback that the test steers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.fakes.catalog_bench import Bench as CatalogBench
from tests.fakes.catalog_bench import catalog_bench
from tests.fakes.declared.slack_events import Stage
from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.provider import APPS, FakeProvider, seat, serving
from tests.fakes.receiver import Receiver
from tests.once import folders, postgres
from tests.once.catalog import linked
from webapp.kit.clock import FakeClock
from webapp.service.catalog.app import App
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.access.connect_tokens import ConnectToken, TokenRequest
from webapp.service.domain.accounts import connections, oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.connections import OnCommit
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.oauth import TokenResult
from webapp.settings import Settings
from webapp.store.contract import Store
from webapp.store.postgres.store import PostgresStore


@pytest.fixture(scope="session")
def acme_port() -> Iterator[int]:
    """Where Acme answers in every test, so that the catalog that names it is built once."""
    with seat() as port:
        yield port


@pytest.fixture
def acme(acme_port: int) -> Iterator[FakeProvider]:
    """The provider behind the app ``acme``."""
    with serving(acme_port) as provider:
        yield provider


@pytest.fixture(scope="session")
def acme_folder(acme_port: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with Acme, the schema and one project, to be copied: making it anew is most of a test's time."""
    folder = tmp_path_factory.mktemp("acme")
    for slug, text in APPS.items():
        (folder / "apps" / slug).mkdir(parents=True)
        (folder / "apps" / slug / "app.toml").write_text(text.replace("{origin}", f"http://127.0.0.1:{acme_port}"))
    service = open_service(Settings.from_env({}, data=folder), FakeClock())
    project = projects.create(service, name="Shop", support_email="help@shop.example")
    oauth_apps.add(service, app="acme", client_id="c", client_secret="s", project_id=project.id)
    close_service(service)
    return folder


@dataclass
class Bench:
    """A service with one project, and what it takes to connect Acme in it."""

    service: Service
    clock: FakeClock
    acme: FakeProvider
    scene: Scene

    @property
    def app(self) -> App:
        app = self.service.catalog.app("acme")
        assert app is not None
        return app

    def token(self, user: str = "alice", **order: object) -> ConnectToken:
        """A live Connect token for ``user``."""
        made = connect_tokens.create(self.service, self.scene, TokenRequest(user, **order), client_id=None)  # type: ignore[arg-type]
        return connect_tokens.verify(self.service, made["token"])

    def result(self, **changes: object) -> TokenResult:
        """What the token endpoint would answer at the first exchange."""
        first = TokenResult("a0", "r0", 3600, None, "bearer", {})
        return replace(first, **changes)  # type: ignore[arg-type]

    def connect(
        self,
        *,
        token: ConnectToken | None = None,
        account_id: str | None = None,
        on_commit: OnCommit | None = None,
        **changes: object,
    ) -> Account:
        """Connect an account of Acme, with the first tokens changed as told."""
        token = token or self.token()
        client = oauth_apps.choose(self.service.store, self.scene.project_id, "acme")
        assert client is not None
        return connections.connect_with_grant(
            self.service, token, self.app, client, self.result(**changes),
            requested=("read", "write"), profile="full", fields={}, account_id=account_id, on_commit=on_commit,
        )  # fmt: skip


@pytest.fixture
def open_bench(data: Path, clock: FakeClock, acme: FakeProvider, acme_folder: Path) -> Iterator[Callable[[], Bench]]:
    """Opens the service over the same data folder as often as a test likes, as several processes would."""
    folders.copy(acme_folder, data)
    settings = Settings.from_env({"PATCHBAY_ALLOW_HOSTS": f"127.0.0.1:{acme.port}"}, data=data)
    opened: list[Service] = []

    def open_one() -> Bench:
        service = open_service(settings, clock)
        opened.append(service)
        project = projects.first(service.store)
        assert project is not None
        return Bench(service, clock, acme, Scene(project.id, "development"))

    yield open_one
    for service in opened:
        close_service(service)


@pytest.fixture
def bench(open_bench: Callable[[], Bench]) -> Bench:
    """One open service."""
    return open_bench()


@pytest.fixture
def post_on_postgres(
    data: Path, clock: FakeClock, catalog_folder: Path, receiver: Receiver
) -> Iterator[DeliveryHarness]:
    """The delivery side of a service over PostgreSQL."""
    name = postgres.new()
    linked(catalog_folder / folders.CATALOG, data)
    service = open_service(Settings.from_env({"PATCHBAY_DATABASE_URL": postgres.url(name)}, data=data), clock)
    yield DeliveryHarness(service, clock, Scene(projects.create(service, name="Acme").id, "development"), receiver)
    close_service(service)
    postgres.drop(name)


@pytest.fixture
def workers(post_on_postgres: DeliveryHarness) -> Iterator[list[Store]]:
    """The stores of four workers over the database of :func:`post_on_postgres`."""
    url = post_on_postgres.service.settings.database_url
    assert url
    stores: list[Store] = [PostgresStore(url, connections=3) for _ in range(4)]
    yield stores
    for store in stores:
        store.close()


@pytest.fixture(scope="session")
def slack_bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CatalogBench]:
    """A service that can reach the fakes of the catalog's apps."""
    with catalog_bench(tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("ca")) as opened:
        yield opened


@pytest.fixture
def stage(slack_bench: CatalogBench) -> Stage:
    """A fresh client at Slack, whose events come to its one address."""
    return Stage(slack_bench)
