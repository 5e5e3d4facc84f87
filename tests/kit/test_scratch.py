"""Scratch folders: private, and gone with their makers, however these ended."""

import os
import stat
import subprocess
import sys
from pathlib import Path

from webapp.kit import scratch
from webapp.kit.scratch import Scratch, sweep

KILLED = """
import os, signal, sys
from pathlib import Path
from webapp.kit.scratch import Scratch
folder = Scratch("mine-", Path(sys.argv[1]))
(folder.path / "half").write_text("x")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_folder_is_private_and_goes_with_its_end(tmp_path: Path) -> None:
    with Scratch("mine-", tmp_path) as folder:
        (folder / "deep").mkdir()
        assert folder.parent == tmp_path and stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_by_the_next_and_nothing_else(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], timeout=30)
    (left,) = tmp_path.iterdir()
    other = tmp_path / "other-folder"
    other.mkdir()
    (tmp_path / "mine-file").touch()
    (tmp_path / "mine-link").symlink_to(other)
    young, old = tmp_path / "mine-young", tmp_path / "mine-old"
    young.mkdir()
    old.mkdir()
    os.utime(old, (0, 0))
    with Scratch("mine-", tmp_path) as folder, Scratch("mine-", tmp_path) as beside:
        assert not left.exists() and not old.exists()
        assert folder.exists() and beside.exists() and young.exists() and other.exists()
    assert {path.name for path in tmp_path.iterdir()} == {"other-folder", "mine-file", "mine-link", "mine-young"}


def test_another_users_folder_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "mine-theirs"
    folder.mkdir()
    (folder / scratch.LOCK).touch()
    if os.geteuid() == 0:
        os.chown(folder, 12345, 12345)
        sweep(tmp_path, "mine-")
        assert folder.exists()
