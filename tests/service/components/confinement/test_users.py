"""A user of its own for each call: only root has some to give, and none of them may read what is private."""

import os
from pathlib import Path

import pytest

from tests.service.components.confinement.conftest import Forked, attempt
from webapp.service.components.confinement import users

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives users")


@root
@pytest.mark.parametrize(
    ("mapped", "number"),
    [
        ("0 0 4294967295\n", 1_879_048_192),
        ("0 1000 1\n1 100000 65535\n", 64_000),
        ("0 1000 1\n", None),
        ("no numbers\n", None),
    ],
)
def test_the_first_number_is_one_that_exists_here(
    monkeypatch: pytest.MonkeyPatch, mapped: str, number: int | None
) -> None:
    monkeypatch.setattr(Path, "read_text", lambda *_: mapped)
    assert users.first() == number


def test_who_is_not_root_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert users.first() is None


@root
@pytest.mark.parametrize(("reads_all", "read"), [(False, "PermissionError"), (True, "done")])
def test_another_user_reads_what_is_private_only_where_it_is_said(
    forked: Forked, tmp_path: Path, reads_all: bool, read: str
) -> None:
    private = tmp_path / "key"
    private.write_text("x")
    private.chmod(0o600)
    number, parent = users.first(), os.getpid()
    assert number is not None

    def work() -> list[object]:
        users.become(number + 1, reads_all=reads_all)
        return [
            os.getresuid() == (number + 1,) * 3,
            attempt(private.read_text),
            attempt(lambda: private.write_text("y")),
            attempt(lambda: os.kill(parent, 0)),
            attempt(lambda: os.setuid(0)),
            os.system(f"cat {private} 2>/dev/null") == 0,
        ]

    no = "PermissionError"
    assert forked(work) == [True, read, no, no, no, False]


def test_a_file_below_a_private_folder_is_not_for_all(tmp_path: Path) -> None:
    assert users.readable_by_all(Path("/bin/sh").resolve())
    path = tmp_path / "file"
    path.write_text("x")
    tmp_path.chmod(0o700)
    assert not users.readable_by_all(path)
