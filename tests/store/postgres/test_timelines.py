"""A server on an older timeline than one that was seen is refused; of several hosts, the one on the newest is used."""

import json
import logging
from pathlib import Path
from typing import Any

import psycopg
import pytest

from webapp.store.postgres import timelines
from webapp.store.postgres.timelines import ReplacedPrimary, Timelines

TWO = "postgresql://ada@one,two:5433/patchbay?target_session_attrs=read-write"
ONE = "postgresql://ada@one/patchbay"


class Info:
    host, port = "one", 5432


class Server:
    """A connection to a server on a timeline; None is one that says nothing of it."""

    info = Info()

    def __init__(self, number: int | None, system: str = "7") -> None:
        self.number, self.system, self.closed = number, system, False

    def execute(self, sql: str) -> "Server":
        if self.number is None:
            raise psycopg.errors.InsufficientPrivilege
        return self

    def fetchone(self) -> tuple[Any, ...]:
        return self.system, self.number

    def close(self) -> None:
        self.closed = True

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def opening(*servers: Server) -> Any:
    left = list(servers)
    return lambda address: left.pop(0)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "data" / "timeline.json"


def test_a_newer_timeline_is_remembered_on_this_machine(kept: Path) -> None:
    first = Timelines(ONE, kept)
    first.connect(opening(Server(1)))
    first.connect(opening(Server(2)))
    assert json.loads(kept.read_text()) == {"system": "7", "number": 2}
    with pytest.raises(ReplacedPrimary):
        Timelines(ONE, kept).connect(opening(Server(1)))


def test_what_was_replaced_is_refused_and_said_once(kept: Path, caplog: pytest.LogCaptureFixture) -> None:
    ours, old = Timelines(ONE, kept), Server(3)
    ours.connect(opening(Server(4)))
    with caplog.at_level(logging.ERROR, timelines.__name__):
        for _ in range(3):
            with pytest.raises(ReplacedPrimary) as refused:
                ours.connect(opening(old))
    assert str(refused.value) == ours.refusal
    assert ours.refusal is not None and "it is on timeline 3, and timeline 4 was written" in ours.refusal
    assert old.closed and caplog.messages == [ours.refusal]
    ours.connect(opening(Server(4)))
    assert ours.refusal is None


def test_another_host_of_the_address_is_used(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    there = {"one": 1, "two": 2}
    monkeypatch.setattr(
        psycopg, "connect", lambda address, **_: Server(there["two" if "host=two" in address else "one"])
    )
    asked = list[str]()

    def open_connection(address: str) -> Any:
        asked.append(address)
        return Server(there["two" if "host=two" in address else "one"])

    ours = Timelines(TWO)
    connection: Any = ours.connect(open_connection)
    assert connection.number == 2 and ours.refusal is None
    assert asked[0] == TWO and "host=two" in asked[-1] and "port=5433" in asked[-1] and "read-write" in asked[-1]
    assert ["Another host of PATCHBAY_DATABASE_URL is used." in said for said in caplog.messages] == [True]


@pytest.mark.parametrize("server", [Server(None), Server(1, system="8")])
def test_what_does_not_say_and_another_cluster_are_accepted(kept: Path, server: Server) -> None:
    ours = Timelines(ONE, kept)
    ours.connect(opening(Server(5)))
    assert ours.connect(opening(server)) is server


def test_a_file_that_cannot_be_read_is_written_anew(kept: Path) -> None:
    kept.parent.mkdir()
    kept.write_text("{")
    Timelines(ONE, kept).connect(opening(Server(2)))
    assert json.loads(kept.read_text())["number"] == 2
