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


def test_folders_deeper_than_a_path_reaches_are_removed(tmp_path: Path) -> None:
    top = tmp_path / "mine-deep"
    top.mkdir()
    folder = os.open(top, os.O_RDONLY)
    for _ in range(1_500):
        os.mkdir("deeper", dir_fd=folder)
        inner = os.open("deeper", os.O_RDONLY, dir_fd=folder)
        os.close(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=inner))
        os.close(folder)
        folder = inner
    os.close(folder)
    os.utime(top, (0, 0))
    sweep(tmp_path, "mine-")
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_its_own_is_never_removed(tmp_path: Path) -> None:
    other, top = tmp_path / "other", tmp_path / "mine"
    (top / "shut" / "inner").mkdir(parents=True)
    other.mkdir()
    (other / "kept").touch()
    (top / "link").symlink_to(other)
    (top / "shut" / "inner" / "link").symlink_to(other / "kept")
    (top / "shut").chmod(0o500)
    scratch.empty(top)
    assert list(top.iterdir()) == [] and (other / "kept").exists()
    scratch.remove(top)
    scratch.remove(top)  # which is not there any more
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_what_keeps_its_owner_out_goes_too(tmp_path: Path) -> None:
    """As a user for whom rights hold, in a process of its own."""
    top = tmp_path / "mine"
    top.mkdir()
    tmp_path.chmod(0o777)
    top.chmod(0o777)
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            os.chdir(tmp_path)
            if os.geteuid() == 0:
                os.setuid(65_534)
            for name, rights in (("shut", 0), ("blind", 0o300), ("read", 0o500)):
                Path("mine", f"around-{name}").mkdir()
                Path("mine", name).mkdir(rights)
                Path("mine", f"around-{name}", name).mkdir(rights)
            Path("mine", "blind", "file").touch()
            scratch.empty(Path("mine"))
            code = len(list(Path("mine").iterdir()))
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
