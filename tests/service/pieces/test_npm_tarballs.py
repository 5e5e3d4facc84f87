"""Tarballs: nothing leads out of the place, and nothing but files is taken."""

import gzip
import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from tests.fakes.npm_registry import package, tarball
from webapp.errors import Invalid
from webapp.service.pieces import npm_tarballs
from webapp.service.pieces.package_locks import Locked
from webapp.service.pieces.packages import MB


def unpack(content: bytes, target: Path, path: str = "node_modules/@acme/x") -> None:
    locked = Locked(path, "@acme/x", "1.0.0", "MIT", hashlib.sha512(content).digest())
    npm_tarballs.unpack([locked], npm_tarballs.by_digest([content]), target, 1)


def test_a_package_comes_to_its_place(tmp_path: Path) -> None:
    content = package("@acme/x", files={"src/i18n/de.json": "{}"})
    unpack(content, tmp_path)
    own = tmp_path / "node_modules" / "@acme" / "x"
    assert (own / "index.js").is_file()
    assert (own / "src" / "i18n" / "de.json").read_text() == "{}"
    assert npm_tarballs.manifest(content, "x.tgz")["name"] == "@acme/x"


def member(kind: bytes, name: str = "package/x") -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    return target.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        tarball({"../../outside.js": "x"}), tarball({"/etc/outside": "x"}, top=""), tarball({"x": "x"}, top=""),
        member(tarfile.SYMTYPE), member(tarfile.LNKTYPE), member(tarfile.CHRTYPE), member(tarfile.FIFOTYPE),
        tarball({"large": b"\0" * ((1 << 20) + 1)}), b"no tarball", package("@acme/x")[:200],
    ],
)  # fmt: skip
def test_what_is_no_sound_package_is_refused(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(Invalid):
        unpack(content, tmp_path / "target")
    assert list(tmp_path.rglob("*outside*")) == []


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.REGTYPE])
def test_what_unpacks_to_more_is_not_unpacked_wherever_it_stands(kind: bytes, tmp_path: Path) -> None:
    info, size = tarfile.TarInfo("package/x"), 64 * MB
    info.type, info.size = kind, size
    target = io.BytesIO()
    with gzip.GzipFile(fileobj=target, mode="wb", compresslevel=1) as file:
        file.write(info.tobuf(tarfile.USTAR_FORMAT))
        file.write(bytes(size))
    with pytest.raises(Invalid, match="unpacks to more than it may"):
        unpack(target.getvalue(), tmp_path)


@pytest.mark.parametrize(
    "files", [{"a": "x", "a/b": "x"}, {"n" * 300: "x"}, {"a/" * 1200 + "b": "x"}], ids=["both", "long", "deep"]
)
def test_what_no_disk_takes_is_a_sentence(files: dict[str, str | bytes], tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot be written here"):
        unpack(tarball(files), tmp_path)


def test_a_manifest_that_continues_is_none() -> None:
    content = tarball({"package.json": '{"name": "x", "y": [' + "[]," * npm_tarballs.MOST_MANIFEST + "[]]}"})
    with pytest.raises(Invalid, match=r"holds no package\.json"):
        npm_tarballs.manifest(content, "x.tgz")


def test_another_tarball_than_the_lock_names_is_missing(tmp_path: Path) -> None:
    locked = Locked("node_modules/x", "x", "1.0.0", "", b"\1" * 64)
    with pytest.raises(Invalid, match=r"tarball of x 1\.0\.0 is missing"):
        npm_tarballs.unpack([locked], npm_tarballs.by_digest([package("x")]), tmp_path, 1)


def test_files_that_cannot_be_read_are_reported(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot be read"):
        npm_tarballs.read(tmp_path / "none.tgz", 1)
    (tmp_path / "large.tgz").write_bytes(b"\0" * ((1 << 20) + 1))
    with pytest.raises(Invalid, match="PATCHBAY_PIECE_MB"):
        npm_tarballs.read(tmp_path / "large.tgz", 1)
    with pytest.raises(Invalid, match=r"holds no package\.json"):
        npm_tarballs.manifest(tarball({"index.js": ""}), "x.tgz")
