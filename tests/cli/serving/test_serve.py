"""``patchbay serve`` as an operator meets it: one line, restarts, a graceful end, no orphans.

The parts of the service alone: each refuses in a sentence what cannot work, and a runner is there for the others.

What commands begin with: limits in memory are shared where several processes count.

The address to open: printed once the health check answers, and not a moment before.

Several web processes count in one folder, where they are measured; it ends with the process that made it.
"""

import atexit
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Thread, Timer
from typing import Any
from urllib.parse import urlsplit

import click
import pytest
import requests

from tests.cli.conftest import COMMAND, ROOT, Shell
from tests.cli.in_process import Commands
from tests.fakes.ports import free_port
from webapp.cli.serving import serve
from webapp.cli.serving.process import LEAVE
from webapp.cli.serving.serve import Announcement, begin_process, web_children
from webapp.service.components.calls import Call
from webapp.service.components.runner import Runner
from webapp.service.components.wire import SOCKET
from webapp.service.domain.base import limit_counters
from webapp.settings import Settings
from webapp.store import lock_files

Start = Callable[[], Any]
Eventually = Callable[[Callable[[], Any]], Any]


def get(port: int, path: str = "/healthz") -> int:
    try:
        with requests.Session() as session:
            session.trust_env = False
            return session.get(f"http://localhost:{port}{path}", timeout=5, allow_redirects=False).status_code
    except requests.ConnectionError:
        return 0


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.faults
def test_one_line_with_the_address_to_open_and_a_clean_end(start: Start, shell: Any) -> None:
    server = start()
    found = re.fullmatch(r"Patchbay is ready: (http://localhost:\d+/start\?token=[\w-]+)\n", server.line)
    assert found
    parts = urlsplit(found[1])
    assert get(server.port, f"{parts.path}?{parts.query}") in (200, 303), "the printed address works"
    assert get(server.port) == 200
    assert get(server.port + 1, "/") == 200, "the sandbox answers on its own port"
    children = server.children()
    assert len(children) == 4
    assert server.stop() == 0
    assert not any(map(alive, children))
    assert server.process.stdout.read() == ""
    assert server.errors() == ""


@pytest.mark.faults
def test_ctrl_c_ends_it_too_and_the_port_is_free_at_once(start: Start) -> None:
    server = start()
    assert server.stop(signal.SIGINT) == 0
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", server.port))


@pytest.mark.faults
def test_what_dies_is_started_again(start: Start, eventually: Eventually) -> None:
    server = start()
    before = server.children()
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    eventually(lambda: len(server.children()) == 4 and not set(server.children()) & set(before))
    eventually(lambda: get(server.port) == get(server.port + 1, "/") == 200)
    for name in ("web", "worker", "runner", "sandbox"):
        assert f"The {name} process ended (by SIGKILL); starting it again" in server.errors()


@pytest.mark.faults
def test_when_the_supervisor_is_killed_its_children_end(start: Start, eventually: Eventually) -> None:
    server = start()
    children = server.children()
    server.process.kill()
    server.process.wait(5)
    eventually(lambda: not any(map(alive, children)))
    assert get(server.port) == 0


@pytest.mark.faults
def test_a_request_that_has_begun_is_finished(start: Start) -> None:
    """A large page is asked for and read slowly, while the end comes."""
    server = start()
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        server.process.send_signal(signal.SIGTERM)
        client.settimeout(5)
        assert client.recv(4096).startswith(b"HTTP/1.1 200 OK")
    assert server.process.wait(15) == 0


@pytest.mark.faults
def test_idle_costs_nothing(start: Start) -> None:
    server = start()
    pids = [server.process.pid, *server.children()]
    time.sleep(0.5)

    def ticks() -> int:
        stats = [Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split() for pid in pids]
        return sum(int(one[11]) + int(one[12]) for one in stats)

    before = ticks()
    time.sleep(2)
    assert (ticks() - before) / os.sysconf("SC_CLK_TCK") < 0.1


def test_a_taken_port_is_one_sentence(shell: Any) -> None:
    with socket.create_server(("127.0.0.1", int(shell.env["PATCHBAY_PORT"]))):
        sentence = shell.refused("serve")
    port = shell.env["PATCHBAY_PORT"]
    assert sentence == (
        f"Error: Port {port} on 127.0.0.1 cannot be used (address already in use); "
        "stop what uses it, or set PATCHBAY_PORT to another."
    )


def test_a_bad_setting_is_one_sentence(shell: Any) -> None:
    shell.env = {**shell.env, "PATCHBAY_ENVIRONMENT": "staging"}
    assert shell.refused("serve") == ("Error: PATCHBAY_ENVIRONMENT must be development or production, not 'staging'.")


def test_a_port_that_is_none_is_one_sentence(shell: Any) -> None:
    assert shell.refused("serve", "--port", "0") == (
        "Error: Invalid value for '--port': 0 is not in the range 1<=x<=65535."
    )


@pytest.mark.faults
def test_a_wrong_key_refuses_to_start(shell: Any) -> None:
    shell.json("init")
    shell.env = {**shell.env, "PATCHBAY_SECRET_KEY": "wR4sD9fN2jG7lH5mY0bV3tC8xK1zQ6uEaP"}
    assert "does not open this database" in shell.refused("serve")


@pytest.mark.faults
def test_a_second_service_on_one_folder_is_refused_in_one_sentence(start: Start, shell: Any) -> None:
    server = start()
    elsewhere = replace(shell, env={**shell.env, "PATCHBAY_PORT": str(free_port())})
    sentence = (
        f"Error: Patchbay already runs on {shell.env['PATCHBAY_DATA']} (process {server.process.pid}); stop it first, "
        "or set PATCHBAY_DATA to another folder."
    )
    assert elsewhere.refused("serve") == sentence
    assert elsewhere.refused("worker") == sentence
    assert get(server.port) == 200
    assert server.stop() == 0


@pytest.mark.faults
def test_a_service_that_starts_while_the_one_before_ends_waits_for_it(start: Start) -> None:
    first = start()
    with socket.create_connection(("127.0.0.1", first.port)) as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        first.process.send_signal(signal.SIGTERM)
        second = start()
        assert get(second.port) == 200
    assert first.process.wait(15) == 0


@pytest.mark.faults
def test_a_database_of_a_newer_version_refuses_to_start(shell: Any, data: Path) -> None:
    shell.json("init")
    with closing(sqlite3.connect(data / "patchbay.db")) as database, database:
        database.execute("UPDATE _sqlite_migrations SET name = 'm999_words' WHERE name = 'm009_ended_tokens'")
    assert shell.refused("serve").startswith("Error: The database was made by a newer version of Patchbay: ")


@pytest.mark.faults
def test_commands_work_beside_it_and_the_second_start_has_no_token(start: Start, shell: Any) -> None:
    server = start()
    ready = shell.json("init")
    assert shell.json("init") == ready
    shell.json("user", "create", "--email", "alice@example.com", "--password", "a good long one", "--role", "owner")
    with requests.Session() as session:
        session.trust_env = False
        answer = session.post(
            f"http://localhost:{server.port}/v1/oauth/token",
            json={"grant_type": "client_credentials", "client_id": ready["client_id"],
                  "client_secret": ready["client_secret"]},
            timeout=5,
        )  # fmt: skip
    assert answer.status_code == 200 and answer.json()["token_type"].lower() == "bearer"
    assert server.stop() == 0
    assert re.fullmatch(r"Patchbay is ready: http://localhost:\d+/\n", start().line)


@pytest.mark.faults
def test_the_runner_carries_no_setting_and_is_reached_again_after_its_death(
    start: Start, eventually: Eventually
) -> None:
    server = start()
    runner = next(
        pid for pid in server.children() if b"components.runner_process" in Path(f"/proc/{pid}/cmdline").read_bytes()
    )
    assert b"PATCHBAY_" not in Path(f"/proc/{runner}/environ").read_bytes()
    address = re.search(r"main\('([^']+)'", Path(f"/proc/{runner}/cmdline").read_text())
    assert address is not None
    folder = Path(address[1]).parent
    assert folder.stat().st_mode & 0o777 == 0o700
    component = folder / "echo" / "1.0.0.py"
    component.parent.mkdir()
    component.write_text(
        "from webapp.service.components.authoring import Action\n"
        "class Echo(Action):\n    def run(self, ctx): return ctx.props.n\n"
    )
    asker = Runner.connect(Path(address[1]))
    assert asker.call(Call(path=str(component), props={"n": 1})).value == 1
    os.kill(runner, signal.SIGKILL)
    eventually(lambda: not alive(runner))
    assert asker.call(Call(path=str(component), props={"n": 2})).value == 2
    shutil.rmtree(component.parent)
    assert server.stop() == 0
    assert not folder.exists()


def test_a_second_web_or_worker_on_an_embedded_folder_refuses(shell: Shell, data: Path) -> None:
    locks = lock_files.WebLock(data / "patchbay.db"), lock_files.WorkerLock(data / "patchbay.db")
    assert shell.refused("web") == (
        f"Error: Patchbay already answers from {data} (process {os.getpid()}); stop it first. For several web "
        "processes set PATCHBAY_WEB."
    )
    assert shell.refused("worker").startswith(f"Error: Patchbay already runs on {data} (process {os.getpid()})")
    for lock in locks:
        lock.close()


@pytest.mark.parametrize(
    ("mode", "folder", "sentence"),
    [
        (None, "", "Set PATCHBAY_RUNNER to a folder for the runner's socket"),
        (0o755, "open", "with mode 700: whoever enters it runs code."),
        (None, "l" * 100, "PATCHBAY_RUNNER is too long for a socket"),
    ],
    ids=["no folder", "open to others", "too long"],
)
def test_a_runner_that_cannot_listen_says_so(
    patchbay: Commands, tmp_path: Path, mode: int | None, folder: str, sentence: str
) -> None:
    path = tmp_path / folder if folder else None
    if path and mode:
        path.mkdir(mode=mode)
    env = {**patchbay.env, "PATCHBAY_RUNNER": str(path or "")}
    assert sentence in replace(patchbay, env=env).refused("runner")


@pytest.mark.faults
def test_a_runner_alone_answers_and_there_is_one_in_a_folder(
    shell: Shell, tmp_path: Path, eventually: Callable[[Callable[[], Any]], Any]
) -> None:
    folder = tmp_path / "r"
    shell = replace(shell, env={**shell.env, "PATCHBAY_RUNNER": str(folder)})
    component = tmp_path / "echo.py"
    component.write_text(
        "from webapp.service.components.authoring import Action\n"
        "class Echo(Action):\n    def run(self, ctx): return ctx.props.n\n"
    )
    with subprocess.Popen([*COMMAND, "runner"], env=shell.env, cwd=ROOT) as process:
        eventually((folder / SOCKET).exists)
        assert Runner.connect(folder / SOCKET).call(Call(path=str(component), props={"n": 1})).value == 1
        assert shell.refused("runner") == f"Error: A runner already listens in {folder}; stop it first."
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0
    assert not (folder / SOCKET).exists()


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    before = signal.getsignal(LEAVE)
    yield
    signal.signal(LEAVE, before)


@pytest.mark.parametrize(("processes", "shared", "names"), [(1, False, ["web"]), (2, True, ["web-1", "web-2"])])
def test_several_web_processes_share_limits_and_have_names(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, processes: int, shared: bool, names: list[str]
) -> None:
    for name in ("configure", "process"):
        monkeypatch.setattr(f"webapp.cli.serving.serve.{name}", Quiet())
    monkeypatch.setattr(
        "webapp.cli.serving.serve.settings_from_env",
        lambda port: Settings.from_env({"PATCHBAY_WEB": str(processes)}, data=settings.data),
    )
    signal.signal(LEAVE, signal.SIG_DFL)
    begun = begin_process(None)
    assert signal.getsignal(LEAVE) is not signal.SIG_DFL, "who asks for what is not there yet ends nothing"
    os.kill(os.getpid(), LEAVE)
    assert begun.limits_storage.startswith(limit_counters.SHARED) is shared
    children = web_children(begun, lambda stop, share: None)
    assert [child.name for child in children] == names and all(child.answers for child in children)


class Quiet:
    """Changes nothing of this process."""

    def __call__(self, *_: object, **__: object) -> None: ...

    def limit_spare_memory(self) -> None: ...

    def collect_garbage_rarely(self) -> None: ...


@pytest.fixture
def settings_of_announcement(tmp_path: Path) -> Settings:
    return Settings.from_env({"PATCHBAY_PUBLIC_URL": "https://connect.example.com"}, data=tmp_path)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def answer(listener: socket.socket, status: bytes) -> None:
    connection, _ = listener.accept()
    with connection:
        assert connection.recv(4096).startswith(b"GET /healthz HTTP/1.1\r\n")
        connection.sendall(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n")


@pytest.mark.parametrize(
    ("token", "line"),
    [
        ("a+b", "Patchbay is ready: https://connect.example.com/start?token=a%2Bb\n"),
        (None, "Patchbay is ready: https://connect.example.com/\n"),
    ],
)
def test_the_address_is_printed_when_the_service_answers(
    settings_of_announcement: Settings,
    listener: socket.socket,
    token: str | None,
    line: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    announce = Announcement(settings_of_announcement, listener, token)
    for status in (b"503 Service Unavailable", b"200 OK"):
        server = Thread(target=answer, args=(listener, status))
        server.start()
        assert announce() is (status == b"200 OK")
        server.join()
    assert capsys.readouterr().out == line


def test_nothing_is_printed_while_nobody_answers(
    settings_of_announcement: Settings, listener: socket.socket, capsys: pytest.CaptureFixture[str]
) -> None:
    announce = Announcement(settings_of_announcement, listener, "token")
    listener.close()
    assert not announce()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("web", "token", "shared"), [("2", "m" * 20, True), ("1", "m" * 20, False), ("2", "", False)])
def test_there_is_a_folder_where_several_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, web: str, token: str, shared: bool
) -> None:
    monkeypatch.setenv(serve.METRICS_FOLDER, "")
    ends: list[Callable[[], None]] = []
    monkeypatch.setattr(atexit, "register", ends.append)
    env = {"PATCHBAY_WEB": web, **({"PATCHBAY_METRICS_TOKEN": token} if token else {})}
    serve.share_metrics(Settings.from_env(env, data=tmp_path))
    folder = os.environ[serve.METRICS_FOLDER]
    assert bool(folder) == shared == bool(ends)
    for end in ends:
        assert Path(folder).is_dir()
        end()
        assert not Path(folder).exists()


def test_the_port_of_a_web_process_that_is_slow_to_end_is_waited_for() -> None:
    """One that was still starting when its supervisor was killed has it until it has started."""
    port = free_port()
    with socket.socket() as old:
        old.bind(("127.0.0.1", port))
        old.listen()
        with pytest.raises(click.ClickException, match=f"Port {port} on 127.0.0.1 cannot be used"):
            serve._listening_on("127.0.0.1", port, "PATCHBAY_PORT")
        ending = Timer(0.3, old.close)
        ending.start()
        (listener,) = serve._listening_on("127.0.0.1", port, "PATCHBAY_PORT", serve.PORT_S)
        listener.close()
        ending.join()
    assert serve.PORT_S >= lock_files.PATIENCE_S
