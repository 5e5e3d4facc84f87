"""What each process of ``patchbay serve`` begins with, and how it says that it cannot go on.

What is ready before the processes of ``serve`` start: the schema, and what the supervisor has to know.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from webapp.cli.serving import process_types
from webapp.cli.serving.process import Stop
from webapp.cli.serving.process_types import prepare
from webapp.errors import Unavailable
from webapp.kit.clock import now
from webapp.people import start_tokens
from webapp.service.components.runner import Runner
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings

PAGES = {"babel", "flask", "jinja2", "markdown_it", "werkzeug", "wtforms"}
API = {"limits", "prometheus_client", "webapp.app", "webapp.dashboard", "webapp.service.api", "webapp.service.link"}
SERVICE = {"orjson", "webapp.service", "webapp.store"}
PIECES = {f"webapp.service.components.pieces.{name}" for name in ("caller", "carrier", "conversation", "hosts", "host")}
SELDOM = {
    "feedparser", "psycopg", "segno", "structlog", "webapp.service.catalog.importing.plans", "yaml", "zxcvbn",
}  # fmt: skip
"""What only some accounts, pages or settings need, so that serving does not wait for it."""
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)
NOWHERE = Path("/nowhere/runner.sock")  # no runner is asked while the catalog stands


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def wakeup() -> Iterator[process_types.Wakeup]:
    fresh = process_types.Wakeup.new()
    yield fresh
    fresh.sender.close()
    fresh.receiver.close()


def loaded(modules: Sequence[str]) -> set[str]:
    """What a fresh process has imported after ``modules``."""
    program = f"import sys, {', '.join(modules)}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("modules", "needless"),
    [
        (["webapp.cli.serving.serve"], PAGES | API | {"cryptography", "pydantic", "sqlite_utils", "urllib3"}),
        (
            ["webapp.service.components.runner_process"],
            PAGES | API | PIECES | {"cryptography", "pydantic", "sqlite_utils"},
        ),
        (process_types.WORKER, ((PAGES | API | PIECES) - {"babel"}) | SELDOM),  # it mails people in their language
        (process_types.SANDBOX, API | SERVICE),
        (process_types.WEB, PIECES | {"aiosmtpd", "webapp.sandbox"} | SELDOM),
    ],
    ids=["command", "runner", "worker", "sandbox", "web"],
)
def test_a_process_loads_nothing_that_only_others_need(modules: Sequence[str], needless: set[str]) -> None:
    assert loaded(modules) & needless == set()


def test_waking_never_blocks(wakeup: process_types.Wakeup) -> None:
    with pytest.raises(BlockingIOError):
        wakeup.receiver.recv(1)
    wakeup.wake()
    assert wakeup.receiver.recv(8) == b"\0"

    def fill() -> None:
        for _ in range(100_000):
            wakeup.wake()

    waking = threading.Thread(target=fill, daemon=True)
    waking.start()
    waking.join(10)
    assert not waking.is_alive(), "nobody reads, and the pipe is full"


def test_the_end_wakes_a_worker_that_sleeps(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, wakeup: process_types.Wakeup
) -> None:
    stop = Stop().on(signal.SIGUSR1)
    seen: list[object] = []

    def work(settings: Settings, stop: Stop, wake_fd: int, components: Runner) -> None:
        os.kill(os.getpid(), signal.SIGUSR1)
        assert stop.wait(1)
        seen.extend((settings, stop, wake_fd, wakeup.receiver.recv(8)))

    monkeypatch.setattr("webapp.service.worker.loop.run", work)
    process_types.worker(settings, wakeup, None, stop)
    assert seen == [settings, stop, wakeup.receiver.fileno(), b"\0"]


@pytest.mark.parametrize(
    ("env", "slots"),
    [
        ({}, 1),
        ({"PATCHBAY_LIMITS_STORAGE": "shared://7"}, 1),
        ({"PATCHBAY_LIMITS_STORAGE": "redis://localhost"}, 4),
        ({"PATCHBAY_DATABASE_URL": "postgresql://localhost/patchbay"}, 4),
    ],
)
def test_requests_compute_one_by_one_unless_they_wait_for_servers(
    env: dict[str, str], slots: int, tmp_path: Path
) -> None:
    assert process_types._slots(Settings.from_env(env, data=tmp_path)) == slots


def test_the_sandbox_answers_in_its_own_folder(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    served: dict[str, Any] = {}

    def serve(app: Flask, sockets: object, *, threads: int, stop: Stop) -> None:
        served.update(status=app.test_client().get("/", base_url=settings.sandbox_url).status_code, threads=threads)

    monkeypatch.setattr("webapp.cli.serving.httpd.serve", serve)
    process_types.sandbox(
        settings,
        (),
        process_types.SandboxClient("patchbay", "secret", "http://localhost/callback", "example", "secret"),
        Stop(),
    )
    assert served == {"status": 200, "threads": 4}
    assert (settings.data / "sandbox").is_dir()


class Replaced(Exception):
    """In the place of a program that would go on in ours."""


def test_the_runner_is_a_program_that_holds_nothing_of_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    begun: list[Any] = []

    def execve(*program: object) -> None:
        begun.extend(program)
        raise Replaced

    monkeypatch.setattr(os, "execve", execve)
    monkeypatch.setenv("PATCHBAY_SECRET_KEY", "kT7vQ2mX9cL4pR8wZ1sN6dF3hJ5gB0yAeU")
    monkeypatch.setenv("LANG", "C.UTF-8")
    reading, writing = os.pipe()
    stop = Stop()
    stop.lifeline = reading
    try:
        with pytest.raises(Replaced):
            process_types.runner(tmp_path / "runner.sock", stop)
        assert os.get_inheritable(reading)
    finally:
        os.close(reading)
        os.close(writing)
    program, arguments, environment = begun
    assert program == arguments[0]
    assert arguments[-1].endswith(f"main('{tmp_path}/runner.sock', {reading})")
    assert environment["LANG"] == "C.UTF-8" and not [name for name in environment if name.startswith("PATCHBAY_")]
    assert signal.SIGTERM in signal.pthread_sigmask(signal.SIG_BLOCK, ()), "the program itself unblocks it"


def test_a_runner_that_is_told_to_end_before_it_begins_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "execve", lambda *_: pytest.fail("it began"))
    reading, writing = os.pipe()
    stop = Stop()
    stop.lifeline = reading
    stop.set()
    try:
        with pytest.raises(SystemExit) as end:
            process_types.runner(tmp_path / "runner.sock", stop)
    finally:
        os.close(reading)
        os.close(writing)
    assert end.value.code == 0


def test_a_process_without_a_supervisor_ends_by_either_signal() -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        stop = process_types.stop_on_signals()
        os.kill(os.getpid(), number)
        assert stop.wait(1)


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (
            PermissionError(13, "Permission denied", "/data"),
            78,
            "Error: /data cannot be used (permission denied); check PATCHBAY_DATA.\n",
        ),
        (Unavailable("The database is busy; try again."), 75, "Error: The database is busy; try again.\n"),
    ],
    ids=["trying again cannot help", "it can"],
)
def test_what_keeps_web_from_working_is_one_sentence_and_a_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    settings: Settings,
    error: Exception,
    code: int,
    sentence: str,
) -> None:
    monkeypatch.setattr("webapp.service.domain.instance.opening.open_service", raising(error))
    with pytest.raises(SystemExit) as end:
        process_types.web(settings, (), lambda: None, None, Stop())
    assert (end.value.code, capsys.readouterr().err) == (code, sentence)


def test_a_bug_keeps_its_traceback(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, wakeup: process_types.Wakeup
) -> None:
    monkeypatch.setattr("webapp.service.worker.loop.run", raising(KeyError("x")))
    with pytest.raises(KeyError):
        process_types.worker(settings, wakeup, None, Stop())


def raising(error: Exception) -> Callable[..., None]:
    """A function that raises ``error``."""

    def call(*_: object, **__: object) -> None:
        raise error

    return call


@pytest.fixture
def prepared_settings(data: Path) -> Settings:
    return Settings.from_env({"PATCHBAY_PORT": "8600"}, data=data)


def test_the_start_token_lets_the_first_person_in_and_the_sandbox_learns_its_client(
    prepared_settings: Settings,
) -> None:
    prepared = json.loads(json.dumps(prepare(prepared_settings, NOWHERE)))
    service = open_service(prepared_settings)
    client_id, client_secret = oauth_apps.ensure_sandbox(service)
    example_id, example_secret = oauth_clients.example(service)
    assert start_tokens.is_valid(service.store, now, prepared["start_token"])
    close_service(service)
    assert prepared["sandbox"] == {
        "client_id": client_id,
        "client_secret": client_secret,
        "redirect_uri": "http://localhost:8600/connect/oauth/callback",
        "example_id": example_id,
        "example_secret": example_secret,
    }


def test_without_a_sandbox_nobody_learns_a_client(data: Path) -> None:
    assert prepare(Settings.from_env({"PATCHBAY_SANDBOX": "off"}, data=data), NOWHERE)["sandbox"] is None


def test_there_is_no_start_token_once_somebody_can_sign_in(prepared_settings: Settings) -> None:
    token = prepare(prepared_settings, NOWHERE)["start_token"]
    service = open_service(prepared_settings)
    start_tokens.create_owner(service.store, now, token=token, email="ada@example.com", password="a good long one")
    close_service(service)
    assert prepare(prepared_settings, NOWHERE)["start_token"] is None
