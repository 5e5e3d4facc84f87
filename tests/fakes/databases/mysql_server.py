"""A real MariaDB server of this machine, started for the tests over an empty folder; skipped where none is."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes.ports import free_port
from webapp.service.outbound.databases import DatabaseAccount

USER, PASSWORD, DATABASE = "ada", "right 'one' ü", "shop"
_SHARE, _TABLES = Path("/usr/share/mysql"), ("mysql_system_tables.sql", "mysql_performance_tables.sql")
_FIRST = f"""create database {DATABASE};
create database hidden;
create user '{USER}'@'%' identified by '{PASSWORD.replace("'", "''")}';
grant all on {DATABASE}.* to '{USER}'@'%';
"""


@contextmanager
def server(*more: str) -> Iterator[DatabaseAccount]:
    """A running server, as an account of it at the name db.test; stopped at the end. ``more`` are options of it."""
    program = _program()
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="my-") as name:
        folder = Path(name)
        (folder / "first.sql").write_text(_FIRST, "utf-8")
        common = ["--no-defaults", f"--datadir={folder / 'data'}", "--innodb-flush-log-at-trx-commit=0"]
        common += ["--innodb-log-file-size=4M", "--innodb-buffer-pool-size=16M"]
        if os.getuid() == 0:
            common.append("--user=root")
        (folder / "data" / "mysql").mkdir(parents=True)
        tables = b"".join([b"use mysql;\n", *((_SHARE / name).read_bytes() for name in _TABLES)])
        subprocess.run([program, *common, "--bootstrap"], input=tables, check=True, capture_output=True, timeout=60)
        command = [program, *common, f"--port={port}", "--bind-address=127.0.0.1", f"--socket={folder / 's'}"]
        command += [
            f"--pid-file={folder / 'pid'}",
            f"--init-file={folder / 'first.sql'}",
            "--character-set-server=utf8mb4",
        ]
        command += more
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _wait(process, port, folder / "log")
            yield DatabaseAccount("db.test", USER, PASSWORD, DATABASE, port)
        finally:
            process.kill()
            process.wait(timeout=20)


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise AssertionError(log.read_text("utf-8", "replace")[-2000:])
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"the server does not answer: {log.read_text('utf-8', 'replace')[-2000:]}")


def _program() -> str:
    program = shutil.which("mariadbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None and os.environ.get("CI") == "true":
        pytest.fail("MariaDB's server program is missing")
    if program is None:
        pytest.skip("MariaDB's server program is not installed")
    return program
