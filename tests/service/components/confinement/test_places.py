"""Places of calls: numbers are given again, folders never, and each is its user's alone."""

import os
import stat
from pathlib import Path

import pytest

from webapp.service.components.confinement.confinement import Confinement
from webapp.service.components.confinement.places import Places


def test_a_number_is_given_again_and_a_folder_never(tmp_path: Path) -> None:
    places = Places(tmp_path, Confinement())
    first, second = places.take(), places.take()
    assert (first.number, second.number) == (0, 1)
    (first.folder / "left").write_text("x")
    places.leave(first)
    third = places.take()
    assert third.number == 0 and third.folder != first.folder
    assert not first.folder.exists() and second.folder.is_dir()
    assert stat.S_IMODE(second.folder.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives users")
def test_a_folder_belongs_to_the_user_of_its_call(tmp_path: Path) -> None:
    places = Places(tmp_path, Confinement(first_user=64_000))
    assert [places.take().folder.stat().st_uid for _ in range(2)] == [64_000, 64_001]
