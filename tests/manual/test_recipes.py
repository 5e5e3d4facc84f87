"""The recipes and the tutorial run as they are printed, in a served folder with the providers of :mod:`world`."""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from werkzeug.serving import make_server

from tests.fakes.databases.postgres_server import PASSWORD, USER, server
from tests.fakes.installation import Installation
from tests.fakes.ports import free_port
from tests.fakes.provider_api import Quiet
from tests.fakes.smtp_server import MailServer
from tests.fakes.socket_server import serving
from tests.manual.documents import text_of
from tests.manual.walkthrough import Command, File, Shell, patchbay_on_path, sections, steps, walk
from tests.manual.world import World, exchange
from webapp.kit import assets
from webapp.kit.clock import now
from webapp.sandbox.app import create_sandbox
from webapp.service.domain.accounts import oauth_apps, redirect_uris
from webapp.service.outbound.transport import Transport
from webapp.service.worker.catalog_reloader import CatalogReloader
from webapp.service.worker.delivery_engine import DeliveryEngine
from webapp.service.worker.loop import Engine
from webapp.service.worker.piece_engine import PieceEngine
from webapp.service.worker.trigger_engine import TriggerEngine
from webapp.settings import Settings

RECIPES = sections(text_of("recipes"))
BEGIN = "Before you begin"
QUICK = (
    "Your own OAuth client", "Notify on new e-mail", "Post to a channel when an issue is opened",
    "A settings page with the portal", "Reconnect mails", "Limits", "Accounts of another service",
)  # fmt: skip
"""The recipes that run with each ``make test``; the others build catalogs, or need other programs."""


class Stage:
    """A folder in which the manual is followed: once it says so, ``instance`` in it is served.

    ``world`` is around it. The engines work as the worker's do. ``places`` are what stands in the text by a default
    installation, and what is here instead; ``env`` is what commands have in their environment.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.late_ms = folder, 0
        self._open = True
        self._engines: list[Engine] = []
        self.port = free_port(1, 2)
        self.env = {
            "PATCHBAY_DATA": str(folder / "instance"),
            "PATCHBAY_PORT": str(self.port),
            "PATCHBAY_PUBLIC_URL": f"http://localhost:{self.port}",
        }
        (folder / "instance").mkdir(parents=True)
        self.installation = Installation(
            folder / "instance", port=self.port, clock=lambda: now() + self.late_ms, wake=self.wake,
            PATCHBAY_SECRET_KEY="", PATCHBAY_PUBLIC_URL=f"http://localhost:{self.port}",
            PATCHBAY_SANDBOX_PORT=str(self.port + 1),
        )  # fmt: skip
        self.world = World(f"http://localhost:{self.port}", f"http://localhost:{self.port + 1}", self.wait)
        ports = {8600: self.port, 8601: self.port + 1, 3000: self.port + 2}
        forms = ("localhost:{}", '"localhost", {}')
        self.places = {form.format(old): form.format(new) for old, new in ports.items() for form in forms}

    def follow(self, text: str) -> None:
        """Do what ``text`` says, in a terminal of its own."""
        path = f"{self.folder.parent / 'bin'}:{os.environ['PATH']}"
        home = {"HOME": str(self.folder), "LANG": "C.UTF-8"}
        shell = Shell(self.folder, {"PATH": path, **home, **self.env}, self.world.saw)
        try:
            walk(text, shell, self.places, pause=self.notice, stop=self.stop)
        finally:
            shell.close()

    def serve(self, env: Mapping[str, str]) -> str:
        """Serve it, instead of what was served before."""
        self.stop()
        self.installation.begin_again(Settings.from_env(dict(env), data=self.folder / "instance"))
        self.installation.start()
        self._open = True
        service = self.installation.service
        self._reloader = CatalogReloader(service)
        self._engines = [TriggerEngine(service), DeliveryEngine(service), PieceEngine(service)]
        for engine in self._engines:
            engine.start()
        return f"Patchbay is ready: {self.world.home}/\n"

    def stop(self) -> None:
        """End what is served."""
        while self._engines:
            self._engines.pop().stop(5.0)
        if self._open:
            self.installation.stop()
            self._open = False

    def notice(self) -> None:
        """Take up what was changed in the folder, once two looks see the same."""
        if self._engines:
            self._reloader.turn()
            self._reloader.turn()

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.late_ms += round(seconds * 1000)
        self.wake()

    def wake(self) -> None:
        """Let the engines look for work."""
        for engine in self._engines:
            engine.wake()


@contextmanager
def staged(folder: Path) -> Iterator[Stage]:
    """A stage in ``folder``, with the sandbox beside it."""
    stage = Stage(folder / "here")
    service = stage.installation.service
    sandbox = create_sandbox(
        stage.folder / "instance" / "sandbox", stage.world.sandbox, *oauth_apps.ensure_sandbox(service),
        [redirect_uris.of_new_client(service, "sandbox")], assets.templates_dir(), assets.static_dir(),
    )  # fmt: skip
    third = make_server("localhost", stage.port + 1, sandbox, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=third.serve_forever, args=[0.05])
    thread.start()
    (folder / "bin").mkdir()
    try:
        with (
            pytest.MonkeyPatch.context() as patch,
            patchbay_on_path(folder / "bin", stage.serve),
            serving(MailServer("nobody", "nothing")) as mail_server,
        ):
            for form in ("localhost:{}", '"localhost", {}'):
                stage.places[form.format(2525)] = form.format(mail_server.port)
            patch.setattr(Transport, "exchange", exchange(stage.world))
            yield stage
    finally:
        stage.stop()
        third.shutdown()
        thread.join()
        third.server_close()


@pytest.mark.parametrize("name", [name for name in RECIPES if name not in ("", BEGIN)])
def test_a_recipe_has_at_most_40_lines_to_copy(name: str) -> None:
    done = list(steps(RECIPES[name]))
    files = [step.content for step in done if isinstance(step, File)]
    typed = [step.typed for step in done if isinstance(step, Command)]
    assert typed and sum(len(each.splitlines()) for each in (*files, *typed)) <= 40


def test_the_page_is_followed_from_its_top(tmp_path: Path) -> None:
    with staged(tmp_path) as stage:
        for name in (BEGIN, *QUICK):
            stage.follow(RECIPES[name])


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """What every recipe begins with has been done."""
    with staged(tmp_path_factory.mktemp("recipes")) as made:
        made.follow(RECIPES[BEGIN])
        yield made


@pytest.mark.peer
@pytest.mark.parametrize("name", [name for name in RECIPES if name not in ("", BEGIN, "PostgreSQL", *QUICK)])
def test_a_recipe_runs_as_printed(name: str, stage: Stage) -> None:
    stage.follow(RECIPES[name])


@pytest.mark.peer
def test_the_recipe_of_postgresql_runs_as_printed(tmp_path: Path) -> None:
    with server() as database, staged(tmp_path) as stage:
        stage.env["ADMIN"] = f"postgresql://{USER}:{quote(PASSWORD)}@127.0.0.1:{database.port}/postgres"
        stage.places["localhost:5432"] = f"127.0.0.1:{database.port}"
        stage.follow(RECIPES[BEGIN])
        stage.follow(RECIPES["PostgreSQL"])


@pytest.mark.peer
def test_the_tutorial_runs_as_printed(tmp_path: Path) -> None:
    with staged(tmp_path) as stage:
        stage.follow(text_of("tutorial"))
