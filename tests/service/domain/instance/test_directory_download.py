"""The public directory is brought by the worker for whoever asks: followed, stopped, begun anew, noted as theirs."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.npm_registry import NpmRegistry
from tests.fakes.public_directory import archive, brought, written
from tests.service.pieces.conftest import _npm_registry as _npm_registry
from tests.service.pieces.conftest import served as served
from webapp import audit
from webapp.audit import Actor
from webapp.errors import NotFound, Unwritable, UpstreamFailed
from webapp.service.directory import archive as archives
from webapp.service.directory import program
from webapp.service.directory.archive import integrity_of
from webapp.service.directory.progress import Step
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import directory, directory_download
from webapp.service.domain.instance.directory import Busy
from webapp.service.domain.instance.directory_download import Download

OWNER = Actor("person", "ada@example.com")


def begin(service: Service) -> Download:
    with audit.acting(OWNER):
        return directory_download.begin(service)


def work(service: Service) -> Download | None:
    return directory_download.work(service, lambda: False)


def fails(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def bring(*_: Any) -> None:
        raise error

    monkeypatch.setattr(program, "bring", bring)


@pytest.mark.peer
def test_it_is_brought_for_whoever_asked(
    service: Service, served: NpmRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    object.__setattr__(service.settings, "piece_registry", served.url)
    monkeypatch.setattr(archives, "INTEGRITY", integrity_of(written(tmp_path)))
    served.publish(archive())
    assert (work(service), directory_download.current(service)) == (None, None)
    begun = begin(service)
    assert (begun.state, begun.is_active, directory_download.current(service)) == ("waiting", True, begun)
    assert begin(service) == begun  # it is that which is being brought
    ended = work(service)
    assert ended is not None and (ended.state, ended.version, ended.is_active) == ("done", "1.3.17", False)
    assert directory_download.current(service) == ended and work(service) is None
    (entry,) = service.store.all("SELECT actor_kind, actor, sentence FROM audit WHERE noun = 'directory'")
    assert (entry["actor_kind"], entry["actor"]) == ("person", "ada@example.com")
    assert entry["sentence"] == "Added the public directory 1.3.17, with 103 documents."
    begin(service)
    again = work(service)
    assert again is not None and (again.state, again.version) == ("done", "")  # as it is the newest
    served.publish(archive(version="1.4.0"))
    begin(service)
    newer = work(service)
    assert newer is not None and newer.version == "1.4.0"


def test_how_far_it_is_can_be_seen(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []

    def bring(_data: Path, _url: str, _wanted: Any, _now: int, progress: Any, _stopped: Any) -> None:
        steps: list[tuple[Step, int]] = [("looking", 0), ("downloading", 5), ("indexing", 9_999)]
        for step in steps:
            progress(*step)
            present = directory_download.current(service)
            assert present is not None
            seen.append(present.to_json())
        raise UpstreamFailed("The registry is away.")

    monkeypatch.setattr(program, "bring", bring)
    monkeypatch.setattr(directory_download, "_NOTED_EVERY_S", 0)
    begin(service)
    ended = work(service)
    assert [(each["state"], each["step"], each["done"], each["expected"]) for each in seen] == [
        ("working", "looking", 0, 0), ("working", "downloading", 5, 45_000_000), ("working", "indexing", 9_999, 9_999),
    ]  # fmt: skip
    assert ended is not None and (ended.state, ended.error) == ("failed", "The registry is away.")
    begin(service)  # which may be tried again
    directory_download.stop(service)
    assert directory_download.current(service) is None
    directory_download.stop(service)


def test_it_ends_when_it_is_stopped_and_when_another_was_asked_for(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def bring(*arguments: Any) -> None:
        stopped = arguments[-1]
        asked.append(stopped())
        directory_download.stop(service)
        asked.append(stopped())
        if len(asked) > 2:
            begin(service)
            asked.append(stopped())
        raise program.Stopped

    monkeypatch.setattr(program, "bring", bring)
    begin(service)
    assert work(service) is None and directory_download.current(service) is None
    begin(service)
    assert work(service) is None
    assert asked == [False, True, False, True, True]
    other = directory_download.current(service)
    assert other is not None and other.state == "waiting"


def test_a_worker_that_ends_leaves_it_to_the_next(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    fails(monkeypatch, program.Stopped())
    begun = begin(service)
    assert directory_download.work(service, lambda: True) is None
    assert directory_download.current(service) == begun
    fails(monkeypatch, KeyboardInterrupt())  # as if it was killed
    with pytest.raises(KeyboardInterrupt):
        work(service)
    left = directory_download.current(service)
    assert left is not None and left.state == "working"
    fails(monkeypatch, Unwritable("No room."))
    ended = work(service)
    assert ended is not None and (ended.state, ended.error) == ("failed", "No room.")


def test_it_waits_for_a_command_that_brings_it(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    fails(monkeypatch, AssertionError())
    begun = begin(service)
    with directory.alone(service):
        assert work(service) is None
    assert directory_download.current(service) == begun


def test_it_is_removed_unless_it_is_being_brought(service: Service, tmp_path: Path) -> None:
    present = brought(service.settings.data, tmp_path)
    begin(service)
    with pytest.raises(Busy, match="is being brought or updated just now"):
        directory_download.remove(service)
    directory_download.stop(service)
    assert directory_download.remove(service) == present
    with pytest.raises(NotFound, match="is not on this machine"):
        directory_download.remove(service)


@pytest.mark.parametrize("content", ["", "[]", "{}", json.dumps({"id": "x"})])
def test_a_file_that_cannot_be_read_counts_as_none(service: Service, content: str) -> None:
    (service.settings.data / directory_download.FILE).write_text(content)
    assert directory_download.current(service) is None
    assert begin(service).state == "waiting"


def test_what_cannot_be_written_is_one_sentence(service: Service) -> None:
    (service.settings.data / "directory-download.new").mkdir()
    with pytest.raises(Unwritable):
        begin(service)
