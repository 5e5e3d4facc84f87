"""The files of a run: what its values name goes in, the stash's newest files too, and what was written is kept.

A file that is absent, another user's, empty or too large is a sentence, and leaves nothing behind.
"""

import base64
from dataclasses import replace
from typing import Any

import pytest

from webapp.errors import Invalid
from webapp.service.components.calls import Reply, WrittenFile
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_requests, components, file_stash, run_files, runs
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.projects.projects import Scene

STASH = file_stash.new_stash_id()
HELLO = "data:text/plain;name=gr%C3%BC%C3%9Fe.txt;base64,aGVsbG8="


def request(service: Service, scene: Scene, user: str = "alice", **given: Any) -> ComponentRequest:
    return ComponentRequest(scene, user, component_requests.find(service, "~/measures", None), given)


def upload(service: Service, scene: Scene, content: bytes = b"12345", user: str = "alice") -> file_stash.StashedFile:
    return file_stash.upload(service, scene, user, "report.pdf", content)


def keep_files(service: Service, scene: Scene, name: str, content: bytes) -> None:
    with service.store.write() as tx:
        file_stash.keep(service, tx, scene, "alice", STASH, name, "text/plain", content)


def files(service: Service) -> int:
    return len(service.store.all("SELECT id FROM stashed_files"))


def sentence(service: Service, asked: ComponentRequest) -> str:
    with pytest.raises(Invalid) as refusal:
        components.run(service, asked)
    return refusal.value.message


def test_a_run_gets_the_files_that_its_values_name(service: Service, scene: Scene) -> None:
    one, other = upload(service, scene), upload(service, scene, b"123")
    asked = request(service, scene, file=one.key, more=[other.id, {"__lv": {"label": "x", "value": HELLO}}])
    outcome = components.run(service, asked)
    assert outcome["ret"] == [
        {"place": "/tmp/report.pdf", "size": 5},
        {"place": "/tmp/report (2).pdf", "size": 3},
        {"place": "/tmp/grüße.txt", "size": 5},
    ]
    (run_id,) = [row["id"] for row in service.store.all("SELECT id FROM runs")]
    kept = runs.details(service, scene, run_id)["configured_props"]
    assert (kept["file"], kept["more"][0]) == (one.key, other.key), "they say which file it was, also a day later"
    assert kept["more"][1].endswith("/grüße.txt") and "aGVsbG8" not in str(kept)
    again = components.run(service, replace(asked, configured=kept))
    assert again["ret"] == outcome["ret"]


def test_nine_megabytes_get_there(service: Service, scene: Scene) -> None:
    large = upload(service, scene, bytes(9_000_000))
    (measured,) = components.run(service, request(service, scene, file=large.id))["ret"]
    assert measured["size"] == 9_000_000


@pytest.mark.parametrize(
    "value, said",
    [
        ("file_nobody", "There is no such file"),
        ("1day/proj_x/development/stash_y/u/file_z/a.pdf", "There is no such file"),
        ("data:text/plain;base64,", "The file is empty"),
        ("data:text/plain;base64,###", "It is not a data URL that can be read"),
        ("data:text/plain", "It is not a data URL that can be read"),
    ],
)
def test_what_is_no_file_is_said_before_anything_runs(service: Service, scene: Scene, value: str, said: str) -> None:
    assert said in sentence(service, request(service, scene, file=value, more=[HELLO]))
    assert files(service) == 0 and service.store.all("SELECT id FROM runs") == []


def test_another_users_file_is_like_an_absent_one(service: Service, scene: Scene) -> None:
    own = upload(service, scene)
    absent = sentence(service, request(service, scene, "bob", file="file_nobody"))
    for reference in (own.id, own.key):
        assert sentence(service, request(service, scene, "bob", file=reference)) == absent


def test_files_of_a_run_are_bounded_together(service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = upload(service, scene), upload(service, scene)
    monkeypatch.setattr(file_stash, "MAX_BYTES", 9)
    assert "10 MiB together" in sentence(service, request(service, scene, file=one.id, more=[other.id]))
    assert components.run(service, request(service, scene, file=one.id, more=[one.id]))["ret"][1]["size"] == 5


def test_a_data_url_is_short_for_a_person(service: Service, scene: Scene) -> None:
    props = request(service, scene).component.props
    shown = run_files.described(props, {"file": HELLO, "more": ["https://a.example/x", HELLO], "other": HELLO})
    digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    assert shown["file"] == f"grüße.txt (5 bytes, SHA-256 {digest})"
    assert shown["more"] == ["https://a.example/x", shown["file"]] and shown["other"] == HELLO


def test_no_trigger_outlives_its_files(service: Service, scene: Scene) -> None:
    props = request(service, scene).component.props
    assert run_files.lasting_problems(props, {"file": "https://a.example/x", "more": ["a.txt"]}) == []
    (problem,) = run_files.lasting_problems(props, {"file": "file_abc", "more": []})
    assert (problem.field, "address" in problem.message) == ("configured_props.file", True)


def test_without_a_stash_there_are_no_files(service: Service, scene: Scene) -> None:
    reply = Reply(None, files=(WrittenFile("a.txt", b"x"),))
    assert run_files.with_stash(service, request(service, scene), {"a": "eA=="}) == {"a": "eA=="}
    assert run_files.kept_files(service, scene, "alice", None, reply) == (reply, [])
    assert run_files.kept_files(service, scene, "alice", STASH, Reply(None)) == (Reply(None), [])


def test_the_newest_file_of_each_name_goes_in(service: Service, scene: Scene, clock: Any) -> None:
    for content in (b"old", b"new"):
        keep_files(service, scene, "a.txt", content)
        clock.advance(1)
    found = run_files.with_stash(service, replace(request(service, scene), stash_id=STASH), {"b.txt": "eA=="})
    assert {name: base64.b64decode(content) for name, content in found.items()} == {"a.txt": b"new", "b.txt": b"x"}
    assert run_files.with_stash(service, replace(request(service, scene, "bob"), stash_id=STASH), {}) == {}


def test_no_more_goes_in_than_a_stash_takes(service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_files(service, scene, "large.txt", b"x" * 10)
    keep_files(service, scene, "small.txt", b"x" * 4)
    monkeypatch.setattr(file_stash, "MAX_BYTES", 8)
    asked = replace(request(service, scene), stash_id=STASH)
    assert list(run_files.with_stash(service, asked, {})) == ["small.txt"]
    assert list(run_files.with_stash(service, asked, {"b": base64.b64encode(b"12345").decode()})) == ["b"]


def test_what_was_written_is_kept_and_reported(service: Service, scene: Scene) -> None:
    reply = Reply(None, files=(WrittenFile("report.pdf", b"%PDF"),))
    same, (told,) = run_files.kept_files(service, scene, "alice", STASH, reply)
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
    reply, told = run_files.kept_files(service, scene, "alice", STASH, Reply("value", files=files))
    assert (reply.value, told) == ("value", [])
    assert str(reply.observations[-1].msg).startswith("The files were not kept.")
    assert list(file_stash.of_stash(service, scene, "alice", STASH)) == []
