"""The log is folded by its size, is tried again while a reader holds it, and trouble is said once."""

import logging
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.service.domain.conftest import Bench
from webapp.errors import Unavailable
from webapp.service.worker import checkpointer
from webapp.service.worker.checkpointer import Checkpointer
from webapp.store.contract import LARGE_LOG, MIN_FREE, Sizes
from webapp.store.table import add_to_counts

MB = 1 << 20


@dataclass
class Disk:
    """A store of which only the sizes count."""

    sizes_now: Sizes = field(default_factory=lambda: Sizes(10 * MB, 0, 10_000 * MB))
    held: bool = False
    folded: int = 0
    spare: int = 0
    """How often there is room to give back."""
    folder: Path | None = None

    def sizes(self) -> Sizes:
        return self.sizes_now

    def checkpoint(self) -> bool:
        self.folded += 1
        if not self.held:
            self.sizes_now = replace(self.sizes_now, log=0)
        return not self.held

    def shrink(self) -> bool:
        self.spare -= 1
        return self.spare >= 0

    def set(self, **changes: Any) -> None:
        self.sizes_now = replace(self.sizes_now, **changes)


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def looking(bench: Bench, disk: Disk) -> Checkpointer:
    looking = Checkpointer(replace(bench.service, store=disk))  # type: ignore[arg-type]
    looking._folded_at = time.monotonic()
    return looking


def test_it_folds_by_size_and_at_least_once_a_minute(disk: Disk, looking: Checkpointer) -> None:
    disk.set(log=checkpointer.FOLD_FROM - 1)
    assert looking.turn() == checkpointer.EVERY_S and disk.folded == 0
    disk.set(log=checkpointer.FOLD_FROM)
    assert looking.turn() == checkpointer.EVERY_S and disk.folded == 1
    disk.set(log=1)
    looking._folded_at -= checkpointer.AT_LEAST_EVERY_S
    looking.turn()
    assert disk.folded == 2
    looking._folded_at -= checkpointer.AT_LEAST_EVERY_S
    looking.turn()
    assert disk.folded == 2, "an empty log is left alone"


def test_room_is_given_back_piece_by_piece_then_looked_for_once_a_minute(disk: Disk, looking: Checkpointer) -> None:
    disk.spare = 2
    for _ in range(5):
        looking.turn()
    assert disk.spare == -1
    looking._shrink_at -= checkpointer.AT_LEAST_EVERY_S
    looking.turn()
    assert disk.spare == -2


def test_on_a_small_disk_it_folds_early(disk: Disk, looking: Checkpointer) -> None:
    disk.set(log=5 * MB, free=20 * MB)
    looking.turn()
    assert disk.folded == 1
    disk.set(log=checkpointer.SMALLEST, free=0)
    looking.turn()
    disk.set(log=checkpointer.SMALLEST, free=None)
    looking.turn()
    assert disk.folded == 2


def test_while_a_reader_holds_the_log_it_tries_less_often_and_says_so_once(
    disk: Disk, looking: Checkpointer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    disk.set(log=LARGE_LOG)
    disk.held = True
    assert [looking.turn() for _ in range(3)] == [checkpointer.IN_VAIN_S] * 3
    (warning,) = caplog.records
    assert warning.levelname == "WARNING"
    assert "has 128 MiB and cannot be folded, because a program has been reading for long" in warning.getMessage()
    disk.held = False
    looking.turn()
    looking.turn()
    assert [entry.getMessage() for entry in caplog.records[1:]] == ["The log of the database was folded; it has 0 MiB."]


def test_a_disk_that_gets_full_is_said_once_and_so_is_its_end(
    disk: Disk, looking: Checkpointer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    for free in (MIN_FREE, MIN_FREE - 1, 10 * MB, MIN_FREE + 1, 512 * MB, 600 * MB):
        disk.set(free=free)
        looking.turn()
    said = [(entry.levelname, entry.getMessage().replace(str(looking._folder), "DATA")) for entry in caplog.records]
    assert said == [
        ("WARNING", "Only 256 MiB are free in DATA; make room before nothing can be written."),
        ("INFO", "512 MiB are free again in DATA."),
    ]


@pytest.mark.faults
@pytest.mark.embedded
def test_the_log_of_a_busy_database_stays_small(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpointer, "FOLD_FROM", MB)
    monkeypatch.setattr(checkpointer, "EVERY_S", 0.01)
    store, sizes, enough = bench.service.store, list[int](), threading.Event()
    engine = Checkpointer(bench.service)
    engine.start()

    def write(thread: int) -> None:
        n = 0
        while not enough.is_set():
            with store.write() as tx:
                add_to_counts(tx, [f"{thread} {n} {'x' * 3_000}"], 1)
            n += 1
            time.sleep(0.005)  # as fast as a disk is, which memory is not

    threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    ends = time.monotonic() + 20
    while store.sizes().database < 24 * MB and time.monotonic() < ends:
        sizes.append(store.sizes().log)
        time.sleep(0.005)
    enough.set()
    for thread in threads:
        thread.join()
    engine.stop(5)
    assert store.sizes().database >= 24 * MB and max(sizes) < 12 * MB


@pytest.mark.parametrize(("folder", "begins"), [(None, False), (Path("data"), True)])
def test_a_server_that_folds_by_itself_is_not_asked_for_its_size(
    disk: Disk, looking: Checkpointer, folder: Path | None, begins: bool
) -> None:
    disk.folder = folder
    looking.start()
    assert looking._thread.is_alive() == begins
    looking.stop(5)
    assert not looking._thread.is_alive()


@pytest.mark.embedded
def test_trouble_does_not_end_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    troubles: list[Exception] = [OSError("gone"), RuntimeError("a bug"), Unavailable()]
    turned = threading.Event()

    def turn(_: Checkpointer) -> float:
        if troubles:
            raise troubles.pop()
        turned.set()
        return 0.01

    monkeypatch.setattr(Checkpointer, "turn", turn)
    monkeypatch.setattr(checkpointer, "IN_VAIN_S", 0.05)
    engine = Checkpointer(bench.service)
    engine.start()
    assert turned.wait(5)
    engine.stop(5)
