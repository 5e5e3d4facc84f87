"""Refuses a primary that its standby has replaced.

Each promotion of a standby begins a new timeline (PostgreSQL's manual, "Timelines"). A primary that comes back
afterwards still takes writes, on the timeline before: they would wait for a standby that is gone, or be lost. So each
process remembers the newest timeline that it has seen, in a file that the processes of a machine share, and refuses a
server on an older one. If the address names several hosts, all of them are asked, and the newest one is used.

A server that does not say its timeline, as some hosted ones do not, is not checked. A file of another cluster, by its
system identifier, counts for nothing.
"""

import json
import logging
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

ANSWER_S = 2  # the least that libpq waits
SILENT_S = 10.0  # for which a host is not asked that did not answer in time
_SQL = """
SELECT (SELECT system_identifier FROM pg_control_system())::text,
       ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int
"""
log = logging.getLogger(__name__)
C = TypeVar("C", bound=psycopg.Connection[Any])


@dataclass(frozen=True, slots=True)
class Timeline:
    """A timeline of the cluster ``system``, by its system identifier."""

    system: str
    number: int


class ReplacedPrimary(psycopg.OperationalError):
    """The server was replaced by its standby. The message is the sentence to show."""


class Timelines:
    """Opens connections to ``url`` on the newest timeline; ``remembered`` is the file that keeps it."""

    def __init__(self, url: str, remembered: Path | None = None) -> None:
        self._url, self._file, self._hosts = url, remembered, _hosts(url)
        self._newest: Timeline | None = None
        self._lock = threading.Lock()
        self._silent_until = dict.fromkeys(self._hosts, 0.0)
        self._logged = ""
        self.refusal: str | None = None

    def connect(self, open_connection: Callable[[str], C]) -> C:
        """A connection that ``open_connection`` makes of an address. Raises :class:`ReplacedPrimary`."""
        if len(self._hosts) > 1:
            self._ask_all()
        connection = open_connection(self._url)
        if self._admits(connection):
            self.refusal, self._logged = None, ""
            return connection
        sentence = self._sentence(connection)
        connection.close()
        for address in self._hosts if len(self._hosts) > 1 else ():
            with suppress(psycopg.OperationalError):
                other = open_connection(address)
                if self._admits(other):
                    self.refusal = None
                    self._log_once(f"{sentence} Another host of PATCHBAY_DATABASE_URL is used.")
                    return other
                other.close()
        self.refusal = sentence
        self._log_once(sentence)
        raise ReplacedPrimary(sentence)

    def _log_once(self, sentence: str) -> None:
        if sentence != self._logged:
            self._logged = sentence
            log.error(sentence)

    def _ask_all(self) -> None:
        """Ask all hosts for their timelines, side by side."""
        hosts = [host for host in self._hosts if self._silent_until[host] <= time.monotonic()]
        with ThreadPoolExecutor(len(self._hosts)) as threads:
            list(threads.map(self._ask, hosts))

    def _ask(self, address: str) -> None:
        waiting = make_conninfo(address, connect_timeout=ANSWER_S)
        try:
            with psycopg.connect(waiting, autocommit=True) as connection:
                self._admits(connection)
        except psycopg.errors.ConnectionTimeout:
            self._silent_until[address] = time.monotonic() + SILENT_S
        except psycopg.Error:
            return  # it is down, or a standby

    def _admits(self, connection: psycopg.Connection[Any]) -> bool:
        """Whether ``connection`` leads to the newest timeline, as far as that is known; a newer one is remembered."""
        timeline = _timeline_of(connection)
        if timeline is None:
            return True
        with self._lock:
            newest = self._read()
            if newest is not None and newest.system == timeline.system and newest.number >= timeline.number:
                return newest.number == timeline.number
            self._write(timeline)
        return True

    def _sentence(self, connection: psycopg.Connection[Any]) -> str:
        info, newest, timeline = connection.info, self._newest, _timeline_of(connection)
        return (
            f"The database server {info.host}:{info.port} was replaced by its standby: it is on timeline "
            f"{timeline.number if timeline else '?'}, and timeline {newest.number if newest else '?'} was written. "
            "Stop it, and make it a standby of the new one with pg_rewind."
        )

    def _read(self) -> Timeline | None:
        if self._file is not None:
            with suppress(OSError, ValueError, TypeError):
                stored = Timeline(**json.loads(self._file.read_text(encoding="utf-8")))
                if self._newest is None or stored.system != self._newest.system or stored.number > self._newest.number:
                    self._newest = stored
        return self._newest

    def _write(self, timeline: Timeline) -> None:
        self._newest = timeline
        if self._file is None:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._file.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        fresh.write_text(json.dumps(asdict(timeline)), encoding="utf-8")
        fresh.replace(self._file)


def _timeline_of(connection: psycopg.Connection[Any]) -> Timeline | None:
    """The timeline that the server writes; None if it is a standby or does not say."""
    try:
        row = connection.execute(_SQL).fetchone()
    except psycopg.DatabaseError:
        return None
    return Timeline(row[0], row[1]) if row else None


def _hosts(url: str) -> list[str]:
    """The address of each host that ``url`` names."""
    known = conninfo_to_dict(url)
    names = {name: str(known[name]).split(",") for name in ("host", "hostaddr", "port") if known.get(name)}
    count = max((len(values) for name, values in names.items() if name != "port"), default=1)
    return [
        make_conninfo(url, **{name: values[number if len(values) > 1 else 0] for name, values in names.items()})
        for number in range(count)
    ]
