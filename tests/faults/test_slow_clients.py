"""A thousand connections that send one byte every few seconds, and twenty senders of mail who say nothing, are no
trouble to a healthy client (:mod:`slow_clients`).

It calls the API and sends mails, without them and beside them in turns, so that other work on the machine meets both;
every call and mail must succeed. The median of its p99 beside them is held to less than twice that without.
"""

import http.client
import smtplib
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Shell
from tests.faults.running import Client, Running, client_of
from tests.faults.slow_clients import SLOW

ROUNDS, CALLS, MAILS, IDLE = 5, 500, 100, 20
MOST = 2.0

pytestmark = [pytest.mark.faults, pytest.mark.alone]


def p99_ms(count: int, once: Callable[[], None]) -> float:
    """How long ``once`` takes."""
    times = []
    for _ in range(count):
        began = time.perf_counter()
        once()
        times.append(time.perf_counter() - began)
    return sorted(times)[int(count * 0.99) - 1] * 1000


def measured(server: Running, client: Client, mail_port: int, address: str) -> tuple[float, float]:
    """The p99 of calls and of mails, in milliseconds."""
    connection = http.client.HTTPConnection(server.base.removeprefix("http://"), timeout=30)
    path = f"{client.project.removeprefix(server.base)}/deployed-triggers"

    def call() -> None:
        """As any client does: a kept connection that was ended while it was idle is opened again, within the time."""
        for last in (False, True):
            try:
                connection.request("GET", path, headers=client.headers)
                answer = connection.getresponse()
                answer.read()
            except ConnectionError:
                connection.close()
                if last:
                    raise
            else:
                assert answer.status == 200
                return

    def mail() -> None:
        with smtplib.SMTP("127.0.0.1", mail_port, timeout=30) as sender:
            assert sender.sendmail("ada@example.com", [address], b"Subject: x\r\n\r\nx") == {}

    calls, mails = p99_ms(CALLS, call), p99_ms(MAILS, mail)
    connection.close()
    return calls, mails


@contextmanager
def slow_clients(port: int, mail_port: int) -> Iterator[list[int]]:
    """Hold them open; afterwards, how many were open still and how many were ended."""
    idle = [socket.create_connection(("127.0.0.1", mail_port), 5) for _ in range(IDLE)]
    command = [sys.executable, "-m", "tests.faults.slow_clients", str(port)]
    counts: list[int] = []
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline()
        yield counts
        counts += map(int, process.communicate(timeout=60)[0].split())
    for connection in idle:
        connection.close()


def test_slow_clients_hold_up_nobody(shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = int(shell.env["PATCHBAY_PORT"])
    env = {**shell.env, "PATCHBAY_SANDBOX": "off", "PATCHBAY_MAIL": "on", "PATCHBAY_MAIL_PORT": str(port + 25)}
    server = Running(replace(shell, env=env), tmp_path / "serve.log")
    server.start()
    alone, beside, held = [], [], []
    try:
        client = client_of(server)
        address = str(client.deploy("email-new-email")["email_address"])
        measured(server, client, port + 25, address)
        for _ in range(ROUNDS):
            alone.append(measured(server, client, port + 25, address))
            with slow_clients(port, port + 25) as counts:
                beside.append(measured(server, client, port + 25, address))
            held.append(counts[0])
    finally:
        server.kill()
    assert min(held) >= 0.9 * SLOW, server.last_words()
    for what, before, after in zip(("calls", "mails"), medians(alone), medians(beside), strict=True):
        ratio = after / before
        with capsys.disabled():
            print(
                f"\np99 of {what}: {before:.1f} ms alone, {after:.1f} ms beside {SLOW} slow clients: {ratio:.2f} x",
                file=sys.stderr,
            )
        assert ratio < MOST


def medians(rounds: list[tuple[float, float]]) -> list[float]:
    """That of calls and that of mails."""
    return [statistics.median(times) for times in zip(*rounds, strict=True)]
