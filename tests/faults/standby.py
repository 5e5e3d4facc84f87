"""A PostgreSQL server with a standby that takes each commit over before it is acknowledged; the one can be killed and
the other promoted."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.fakes.databases.postgres_server import programs, run
from tests.fakes.ports import free_port

USER = "ada"


@dataclass
class Pair:
    """Two servers, the first of which takes writes."""

    folder: Path
    ports: tuple[int, int]
    synchronous: bool = True

    @property
    def url(self) -> str:
        """The address by which whoever takes writes is found."""
        first, second = self.ports
        hosts = f"127.0.0.1:{first},127.0.0.1:{second}"
        return f"postgresql://{USER}@{hosts}/postgres?target_session_attrs=read-write&connect_timeout=2"

    def kill_primary(self) -> None:
        """End the first, as a machine does that loses its power."""
        self._control(0, "-m", "immediate", "stop")

    def promote(self) -> None:
        """Have the second take writes."""
        self._control(1, "promote")

    def start_old_primary(self) -> None:
        """Start the first again, as its machine does when its power is back. It still takes writes."""
        self._start(0)

    def rewind_old_primary(self) -> None:
        """Make the first a standby of the second, as the manual says."""
        self._control(0, "-m", "fast", "stop")
        source = f"host=127.0.0.1 port={self.ports[1]} user={USER} dbname=postgres application_name=rewound"
        run(
            str(programs() / "pg_rewind"), "--target-pgdata", self._data(0), "--source-server", source,
            "--write-recovery-conf", "--no-sync",
        )  # fmt: skip
        self._start(0)

    def connect(self, number: int) -> psycopg.Connection[Any]:
        """A connection to one of them."""
        return psycopg.connect(f"host=127.0.0.1 port={self.ports[number]} user={USER} dbname=postgres", autocommit=True)

    def begin(self) -> None:
        """Start both."""
        tools = programs()
        data = self._data(0)
        run(str(tools / "initdb"), "-D", data, "-U", USER, "-A", "trust", "--no-sync", "--locale=C", "-E", "UTF8", "-k")
        self._start(0)
        source = f"host=127.0.0.1 port={self.ports[0]} user={USER} application_name=standby"
        run(str(tools / "pg_basebackup"), "-D", self._data(1), "-d", source, "-R", "-c", "fast", "--no-sync")
        self._start(1)
        if self.synchronous:
            with self.connect(0) as first:
                first.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
                first.execute("SELECT pg_reload_conf()")

    def end(self) -> None:
        """Stop what still runs."""
        for number in (0, 1):
            if (self.folder / str(number) / "postmaster.pid").exists():
                self._control(number, "-m", "immediate", "stop")

    def _start(self, number: int) -> None:
        options = f"-h 127.0.0.1 -p {self.ports[number]} -k {self.folder} -c fsync=off -c wal_keep_size=64MB"
        self._control(number, "-l", str(self.folder / f"{number}.log"), "-o", options, "start")

    def _control(self, number: int, *command: str) -> None:
        run(str(programs() / "pg_ctl"), "-D", self._data(number), "-w", *command)

    def _data(self, number: int) -> str:
        return str(self.folder / str(number))


@contextmanager
def pair(*, synchronous: bool = True) -> Iterator[Pair]:
    """Both, started; stopped at the end. With ``synchronous``, a commit waits until the standby has it."""
    port = free_port()
    ports = (port, port + 1)
    with tempfile.TemporaryDirectory(prefix="pg-") as name:
        if os.getuid() == 0:
            shutil.chown(name, "postgres")
        servers = Pair(Path(name), ports, synchronous)
        try:
            servers.begin()
            yield servers
        finally:
            servers.end()
