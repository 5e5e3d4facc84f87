"""The file stash: clean names, bounds, and keys that fit one scene alone."""

from typing import Any

import pytest

from webapp.errors import Conflict, Invalid, NotFound, TooLarge
from webapp.kit.clock import DAY
from webapp.service.domain.components import file_stash


def keep(bench: Any, name: str = "a.txt", media_type: str = "text/plain", content: bytes = b"x") -> str:
    with bench.service.store.write() as tx:
        return file_stash.keep(bench.service, tx, bench.scene, "alice", None, name, media_type, content)


@pytest.mark.parametrize(
    "given, kept",
    [
        ("report.pdf", "report.pdf"), ("../../etc/passwd", "passwd"), ("C:\\temp\\a.txt", "a.txt"), (".env", "env"),
        ("", "file"), ("..", "file"), ("a\r\nb\x00.txt", "a__b_.txt"), ("evil\u202egpj.exe", "evil_gpj.exe"),
        ('a"b<c>.txt', "a_b_c_.txt"), ("x" * 300 + ".pdf", "x" * 196 + ".pdf"), ("x" * 300, "x" * 200),
        ("Übersicht 1.pdf ", "Übersicht 1.pdf"),
    ],
)  # fmt: skip
def test_names_are_cleaned(given: str, kept: str) -> None:
    assert file_stash.clean_name(given) == kept


def test_a_file_comes_back_as_it_was_kept(bench: Any) -> None:
    key = keep(bench, "a.txt", "Text/Plain", b"canary-content")
    file, content = file_stash.find(bench.service, bench.scene, key)
    assert (file.name, file.media_type, file.size, content) == ("a.txt", "text/plain", 14, b"canary-content")
    for row in bench.service.store.all("SELECT * FROM stashed_files"):
        assert b"canary-content" not in row["content_sealed"]
    assert keep(bench) != keep(bench), "each has a stash of its own"
    with bench.service.store.write() as tx:
        assert file_stash.drop_user(tx, bench.scene, "alice") == 3
    with pytest.raises(NotFound):
        file_stash.find(bench.service, bench.scene, key)


def test_what_is_no_media_type_is_none(bench: Any) -> None:
    file, _ = file_stash.find(bench.service, bench.scene, keep(bench, media_type="text/html\r\nX: y"))
    assert file.media_type == file_stash.ANY_MEDIA


def test_there_is_an_end_to_what_is_kept(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TooLarge):
        keep(bench, content=bytes(file_stash.MAX_BYTES + 1))
    monkeypatch.setattr(file_stash, "MAX_SCENE_BYTES", 10)
    keep(bench, content=bytes(6))
    with pytest.raises(TooLarge):
        keep(bench, content=bytes(5))
    bench.clock.advance(file_stash.RUN_DAYS * DAY)
    assert file_stash.purge(bench.service) == 1
    keep(bench, content=bytes(5))


def test_a_stash_is_named_or_made() -> None:
    assert file_stash.checked_stash_id("mine_1") == "mine_1"
    assert [file_stash.checked_stash_id(nothing) for nothing in (None, False)] == [None, None]
    assert file_stash.checked_stash_id("NEW") != file_stash.checked_stash_id(True)
    for wrong in ("a/b", "..", "x" * 65, "é", "a\n", 0, 1, 1.5, ["NEW"]):
        with pytest.raises(Invalid):
            file_stash.checked_stash_id(wrong)


def test_an_upload_is_what_its_name_says_whoever_sends_it(bench: Any) -> None:
    file = file_stash.upload(bench.service, bench.scene, "alice", "../../page.HTML", b"<script>")
    assert (file.name, file.media_type, file.size) == ("page.HTML", "text/html", 8)
    assert file_stash.get(bench.service, bench.scene, "alice", file.id) == file
    assert file_stash.get(bench.service, bench.scene, None, file.key) == file
    for user, reference in (("bob", file.id), ("bob", file.key), ("alice", file.key + "x"), ("alice", "file_x")):
        with pytest.raises(NotFound):
            file_stash.get(bench.service, bench.scene, user, reference)
    file_stash.remove(bench.service, file)
    assert bench.service.store.all("SELECT id FROM stashed_files") == []


def test_what_one_user_uploads_is_bounded(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Invalid):
        file_stash.upload(bench.service, bench.scene, "alice", "a.txt", b"")
    with pytest.raises(TooLarge):
        file_stash.upload(bench.service, bench.scene, "alice", "a.txt", bytes(file_stash.MAX_BYTES + 1))
    monkeypatch.setattr(file_stash, "MAX_USER_BYTES", 8)
    file_stash.upload(bench.service, bench.scene, "alice", "a.txt", bytes(6))
    with pytest.raises(TooLarge):
        file_stash.upload(bench.service, bench.scene, "alice", "a.txt", bytes(3))
    file_stash.upload(bench.service, bench.scene, "bob", "a.txt", bytes(3))


def test_an_announced_file_comes_once_and_in_time(bench: Any) -> None:
    announced = file_stash.announce(bench.scene, "alice", "../report.pdf")
    ticket = file_stash.upload_link(bench.service, announced).rpartition("/")[2]
    assert file_stash.announced(bench.service, ticket) == announced and announced.name == "report.pdf"
    file = file_stash.upload(bench.service, bench.scene, "alice", "report.pdf", b"x", file_id=announced.id)
    assert file.id == announced.id
    with pytest.raises(Conflict):
        file_stash.upload(bench.service, bench.scene, "alice", "report.pdf", b"y", file_id=announced.id)
    download = file_stash.link(bench.service, file.key).rpartition("/")[2]
    for other in (ticket[:-1], "", download):
        with pytest.raises(NotFound):
            file_stash.announced(bench.service, other)
    bench.clock.advance(file_stash.LINK_LIFETIME)
    with pytest.raises(NotFound):
        file_stash.announced(bench.service, ticket)
