"""A ``patchbay serve``, or a part of it, that is killed and started again, with everything that belongs to it; and what
is done to it."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from tests.cli.conftest import COMMAND, ROOT, Shell

PATIENCE_S = 180.0  # without any progress, four leases long


@dataclass
class Running:
    """The server, its log, and how long each of its starts took."""

    shell: Shell
    log: Path
    process: subprocess.Popen[str] | None = None
    starts_s: list[float] = field(default_factory=list)
    command: str = "serve"

    @property
    def base(self) -> str:
        """Where it answers."""
        env = self.shell.env
        return env.get("PATCHBAY_PUBLIC_URL") or f"http://localhost:{env['PATCHBAY_PORT']}"

    @property
    def data(self) -> Path:
        """Its data folder."""
        return Path(self.shell.env["PATCHBAY_DATA"])

    def last_words(self) -> str:
        """The end of its log."""
        return self.log.read_text()[-2000:]

    def start(self) -> None:
        """Start it, and wait until it is ready; a worker says nothing of that."""
        began = time.monotonic()
        with self.log.open("a") as errors:
            self.process = subprocess.Popen(
                [*COMMAND, self.command], env=self.shell.env, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors,
                text=True, start_new_session=True,
            )  # fmt: skip
        assert self.process.stdout is not None
        if self.command != "worker":
            assert self.process.stdout.readline(), self.log.read_text()
        self.starts_s.append(time.monotonic() - began)

    def kill(self) -> None:
        """All of it, at once: the supervisor and every child. It is over when the port is free."""
        assert self.process is not None
        with self.process:
            os.killpg(self.process.pid, signal.SIGKILL)
        until_more(lambda: int(is_free(int(self.shell.env["PATCHBAY_PORT"]))), 1)


@dataclass
class Client:
    """An OAuth client of the server, in one project and in development."""

    project: str
    headers: dict[str, str]

    def deploy(self, component: str, webhook_url: str | None = None, **values: Any) -> dict[str, Any]:
        """A deployed trigger of alice."""
        order = {"id": component, "external_user_id": "alice", "webhook_url": webhook_url, "configured_props": values}
        made = requests.post(f"{self.project}/triggers/deploy", json=order, headers=self.headers, timeout=20)
        assert made.ok, made.text
        trigger: dict[str, Any] = made.json()["data"]
        return trigger


def client_of(server: Running) -> Client:
    """The client for scripts, with a token."""
    ready = server.shell.json("init")
    asked = {"grant_type": "client_credentials", **{name: ready[name] for name in ("client_id", "client_secret")}}
    token = requests.post(f"{server.base}/v1/oauth/token", json=asked, timeout=10).json()["access_token"]
    headers = {"Authorization": f"Bearer {token}", "x-pd-environment": "development"}
    return Client(f"{server.base}/v1/connect/{ready['project_id']}", headers)


def until_more(count: Callable[[], int], wanted: int, why: Callable[[], str] = str, every_s: float = 0.02) -> None:
    """Wait until ``count`` has reached ``wanted``, for as long as it grows."""
    best, ends = count(), time.monotonic() + PATIENCE_S
    while best < wanted:
        assert time.monotonic() < ends, f"{best} of {wanted}; {why()}"
        time.sleep(every_s)
        if (found := count()) > best:
            best, ends = found, time.monotonic() + PATIENCE_S


def is_free(port: int) -> bool:
    """Whether nobody listens on ``port`` of this machine."""
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def processes_of(server: Running) -> dict[str, int]:
    """The processes by what they do: the runner is a program of its own, and the web process listens."""
    assert server.process is not None
    parent = server.process.pid
    children = [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
    port = f":{int(server.shell.env['PATCHBAY_PORT']):04X} "
    listening = {
        f"socket:[{line.split()[9]}]" for line in Path("/proc/net/tcp").read_text().splitlines() if port in line
    }
    roles = dict[str, int]()
    for pid in children:
        with suppress(OSError):  # one that has just died
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            if command != Path(f"/proc/{parent}/cmdline").read_bytes():
                roles["runner"] = pid
            elif any(_target(entry) in listening for entry in Path(f"/proc/{pid}/fd").iterdir()):
                roles["web"] = pid
            else:
                roles["worker"] = pid
    return roles


def _target(entry: Path) -> str:
    with suppress(OSError):
        return str(entry.readlink())
    return ""
