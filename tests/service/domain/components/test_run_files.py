"""The files of a run: the newest of each name go in, what was written is kept, and a full stash fails no run."""

import base64
from typing import Any

import pytest

from webapp.service.components.calls import Reply, WrittenFile
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import file_stash, run_files
from webapp.service.domain.projects.projects import Scene

STASH = file_stash.new_stash_id()


def keep(service: Service, scene: Scene, name: str, content: bytes) -> None:
    with service.store.write() as tx:
        file_stash.keep(service, tx, scene, "alice", STASH, name, "text/plain", content)


def test_without_a_stash_there_are_no_files(service: Service, scene: Scene) -> None:
    reply = Reply(None, files=(WrittenFile("a.txt", b"x"),))
    assert run_files.stashed(service, scene, "alice", None) == {}
    assert run_files.kept(service, scene, "alice", None, reply) == (reply, [])
    assert run_files.kept(service, scene, "alice", STASH, Reply(None)) == (Reply(None), [])


def test_the_newest_file_of_each_name_goes_in(service: Service, scene: Scene, clock: Any) -> None:
    for content in (b"old", b"new"):
        keep(service, scene, "a.txt", content)
        clock.advance(1)
    given = run_files.stashed(service, scene, "alice", STASH)
    assert {name: base64.b64decode(content) for name, content in given.items()} == {"a.txt": b"new"}
    assert run_files.stashed(service, scene, "bob", STASH) == {}


def test_no_more_goes_in_than_a_stash_takes(service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(service, scene, "large.txt", b"x" * 10)
    keep(service, scene, "small.txt", b"x" * 4)
    monkeypatch.setattr(file_stash, "MAX_BYTES", 8)
    assert list(run_files.stashed(service, scene, "alice", STASH)) == ["small.txt"]


def test_what_was_written_is_kept_and_told(service: Service, scene: Scene) -> None:
    reply = Reply(None, files=(WrittenFile("report.pdf", b"%PDF"),))
    same, (told,) = run_files.kept(service, scene, "alice", STASH, reply)
    assert same is reply
    assert (told["localPath"], told["path"]) == ("report.pdf", "report.pdf")
    file, content = file_stash.find(service, scene, told["s3Key"])
    assert (file.media_type, content) == ("application/pdf", b"%PDF")
    assert told["get_url"].startswith("http")


def test_without_room_the_run_says_so_and_keeps_nothing(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_stash, "MAX_BYTES", 4)
    files = (WrittenFile("a.txt", b"x"), WrittenFile("b.txt", b"x" * 5))
    reply, told = run_files.kept(service, scene, "alice", STASH, Reply("value", files=files))
    assert (reply.value, told) == ("value", [])
    assert str(reply.observations[-1].msg).startswith("The files were not kept.")
    assert list(file_stash.of_stash(service, scene, "alice", STASH)) == []
