"""A real PostgreSQL server of this machine, started for the tests over an empty folder; skipped where there is none."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes.ports import free_port
from webapp.service.outbound.databases import DatabaseAccount

USER, PASSWORD = "ada", "right one"


@contextmanager
def server(more: str = "") -> Iterator[DatabaseAccount]:
    """A running server, as an account of it at the name db.test; stopped at the end. ``more`` are options of it."""
    tools = programs()
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="pg-") as name:
        folder = Path(name)
        (folder / "password").write_text(PASSWORD)
        if os.getuid() == 0:
            for path in (folder, folder / "password"):
                shutil.chown(path, "postgres")
        data = str(folder / "data")
        run(
            *(str(tools / "initdb"), "-D", data, "-U", USER, "-A", "scram-sha-256", "--no-sync"),
            *("--pwfile", str(folder / "password"), "--locale=C", "-E", "UTF8"),
        )
        options = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off {more}"
        run(str(tools / "pg_ctl"), "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield DatabaseAccount("db.test", USER, PASSWORD, "postgres", port)
        finally:
            run(str(tools / "pg_ctl"), "-D", data, "-m", "immediate", "stop")


def programs() -> Path:
    """The folder of the server's programs."""
    for program in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True):
        return program.parent
    on_path = shutil.which("initdb")
    if on_path is None and os.environ.get("CI") == "true":
        pytest.fail("PostgreSQL's server programs are missing")
    if on_path is None:
        pytest.skip("PostgreSQL's server programs are not installed")
    return Path(on_path).parent


def run(*command: str) -> None:
    """As the user postgres when we are root, because the server refuses to run as root."""
    prefix = ("runuser", "-u", "postgres", "--") if os.getuid() == 0 else ()
    done = subprocess.run([*prefix, *command], capture_output=True, cwd="/", timeout=60, text=True)
    assert done.returncode == 0, f"{command[0]}: {done.stderr or done.stdout}"
