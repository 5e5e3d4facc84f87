"""A service over an empty data folder, two apps of the tests' own, and the tiny provider behind them.

``tinykeys`` connects by an API key, ``tinyoauth`` by OAuth; both belong to the provider, which answers on loopback.
"""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.own_components import stock
from tests.fakes.receiver import Receiver, receiving
from tests.fakes.user_data import plant_account
from tests.once import folders
from tests.once.runners import SharedRunner
from webapp.kit.clock import FakeClock
from webapp.service.catalog.build import ensure
from webapp.service.catalog.sources import Places
from webapp.service.components.executor import Executor
from webapp.service.components.runner import Runner
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Project, Scene
from webapp.settings import Settings

GOOD_KEY = "canary-good-key"

TINY_KEYS = """
slug = "tinykeys"
name = "Tiny Keys"
description = "Connects by one key."
categories = ["testing"]
featured_weight = 7
auth_type = "keys"
logo = {{ letter = "K", color = "#336699" }}
docs_url = "{base}/docs"
sources = ["{base}/docs"]
base_url = "{base}"
allowed_hosts = ["{netloc}"]

[[fields]]
name = "api_key"
label = "API key"
secret = true

[[fields]]
name = "region"
label = "Region"
optional = true
default = "eu"
options = ["eu", "us"]

[[credentials]]
place = "header"
name = "X-Api-Key"
value = "{{api_key}}"
source = "{base}/docs"

[test]
url = "/me"
source = "{base}/docs"

[identity]
id = "id"
name = "name"
source = "{base}/docs"
"""

TINY_OAUTH = """
slug = "tinyoauth"
name = "Tiny OAuth"
description = "Connects by OAuth."
categories = ["testing"]
auth_type = "oauth"
logo = {{ letter = "O", color = "#993366" }}
docs_url = "{base}/docs"
sources = ["{base}/docs"]
base_url = "{base}"
allowed_hosts = ["{netloc}"]

[[credentials]]
place = "bearer"
source = "{base}/docs"

[oauth]
authorize_url = "{base}/authorize"
token_url = "{base}/token"
revoke_url = "{base}/revoke"
refresh = "rotating"
sources = ["{base}/docs"]
client = {{ console_url = "{base}/console", steps = ["Make a client there."], source = "{base}/docs" }}
scopes = [
  {{ scope = "profile", words = "see who you are", functional = true }},
  {{ scope = "tasks", words = "read your tasks" }},
]
scope_profiles = [{{ name = "read_only", scopes = ["profile"] }}]

[test]
url = "/me"
source = "{base}/docs"

[identity]
id = "id"
name = "name"
source = "{base}/docs"
"""

CATEGORIES = """
[[categories]]
slug = "testing"
name = "Testing"
description = "Apps of the tests."
"""


class Provider(ThreadingHTTPServer):
    """The third party of the tests. ``down`` makes it answer 503; ``calls`` lists what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.down = False
        self.calls: list[str] = []

    @property
    def netloc(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def base(self) -> str:
        return f"http://{self.netloc}"


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        self.server.calls.append(self.path)
        key, authorization = self.headers.get("X-Api-Key"), self.headers.get("Authorization", "")
        good = key == GOOD_KEY or authorization.startswith("Bearer canary-access")
        if self.server.down:
            self._answer(503, {"error": "maintenance"})
        elif good:
            self._answer(200, {"id": "u-1", "name": "Ada"})
        else:
            self._answer(401, {"error": "bad key"})

    def do_POST(self) -> None:
        self.server.calls.append(self.path)
        form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        if self.server.down:
            self._answer(503, {"error": "maintenance"})
        elif self.path == "/revoke":
            self._answer(200, {})
        elif form.get("refresh_token") == ["canary-refresh"]:
            again = {"access_token": "canary-access-2", "refresh_token": "canary-refresh", "expires_in": 3600}
            self._answer(200, {**again, "token_type": "Bearer"})
        else:
            self._answer(400, {"error": "invalid_grant"})

    def _answer(self, status: int, body: object) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def provider_server() -> Iterator[Provider]:
    """The tests' own third party, running."""
    server = Provider()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def provider(provider_server: Provider) -> Provider:
    """The third party, up and with an empty list of calls."""
    provider_server.down = False
    provider_server.calls.clear()
    return provider_server


@pytest.fixture(scope="session")
def catalog_folder(tmp_path_factory: pytest.TempPathFactory, provider_server: Provider) -> Path:
    """A folder with the tests' apps and the catalog built from them, to be copied into a data folder."""
    folder = tmp_path_factory.mktemp("catalog")
    for slug, text in (("tinykeys", TINY_KEYS), ("tinyoauth", TINY_OAUTH)):
        (folder / "apps" / slug).mkdir(parents=True)
        facts = text.format(base=provider_server.base, netloc=provider_server.netloc)
        (folder / "apps" / slug / "app.toml").write_text(facts)
    (folder / "apps" / "categories.toml").write_text(CATEGORIES)
    stock(folder / "components")
    assert ensure(folder / "catalog.db", Places.of(folder)).problems == ()
    return folder


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    """The runner of all tests; it starts when a component is first called."""
    with SharedRunner.start() as started:
        yield started


@pytest.fixture(scope="session")
def open_at(catalog_folder: Path, provider_server: Provider) -> Callable[[Path, FakeClock], Service]:
    """Opens a service over a folder, with the tests' apps in it; whoever opens it closes it.

    The schema is made once and copied: making it anew for each test is most of what a test would take.
    """
    env = {"PATCHBAY_ALLOW_HOSTS": provider_server.netloc, "PATCHBAY_SECRET_KEY": "kT7vQ2mX9cL4pR8wZ1sN6dF3hJ5gB0yAeU"}
    close_service(open_service(Settings.from_env(env, data=catalog_folder), FakeClock()))

    def open_one(folder: Path, clock: FakeClock) -> Service:
        return open_service(Settings.from_env(env, data=folders.copy(catalog_folder, folder)), clock)

    return open_one


@pytest.fixture
def service(
    data: Path,
    clock: FakeClock,
    provider: Provider,
    runner: Runner,
    open_at: Callable[[Path, FakeClock], Service],
) -> Iterator[Service]:
    """A service with its own data folder and a clock that moves only when told to."""
    opened = open_at(data, clock)
    yield replace(opened, executor=Executor(runner))
    close_service(opened)


@pytest.fixture
def project(service: Service) -> Project:
    """A project."""
    return projects.create(service, name="Acme", app_name="Acme App", support_email="help@acme.example")


@pytest.fixture
def scene(project: Project) -> Scene:
    """The project's development environment."""
    return Scene(project.id, "development")


Plant = Callable[..., Account]


@pytest.fixture(scope="session")
def plant_in() -> Callable[[Service, Scene], Plant]:
    """Puts accounts into a service without asking a provider."""

    def plant_for(service: Service, scene: Scene) -> Plant:
        def plant(external_id: str = "alice", app: str = "tinykeys", **changes: object) -> Account:
            values = changes.pop("values", {"api_key": GOOD_KEY})
            return plant_account(service, scene, external_id, app, values, **changes)

        return plant

    return plant_for


@pytest.fixture
def plant(service: Service, scene: Scene, plant_in: Callable[[Service, Scene], Plant]) -> Plant:
    """Puts accounts into :func:`scene`."""
    return plant_in(service, scene)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Where deliveries go."""
    with receiving() as server:
        yield server


@pytest.fixture
def post(service: Service, clock: FakeClock, scene: Scene, receiver: Receiver) -> DeliveryHarness:
    """The delivery side of :func:`service`, with a receiver that it may reach."""
    made = DeliveryHarness(service, clock, scene, receiver)
    made.allow(receiver.netloc)
    return made
