"""A trial happens elsewhere, whatever becomes of it.

Confinement as a whole: what it says, and that it closes where what it said cannot be kept.

A look at what confines, in a process of its own, leaves this one as it is.
"""

import os
import signal
import socket
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.service.components.confinement.conftest import Forked, attempt
from tests.service.components.confinement.test_namespaces import lower
from webapp.service.components.confinement import kernel, landlock, namespaces, readable_paths, users
from webapp.service.components.confinement.confinement import Confinement, look, works
from webapp.service.components.confinement.landlock import Restriction


def test_what_fails_there_is_reported_here() -> None:
    def fail() -> None:
        raise PermissionError

    assert works(lambda: None) and works(lambda: True)
    assert not works(fail) and not works(lambda: False)
    assert not works(lambda: os.kill(os.getpid(), signal.SIGKILL))
    folder = Path.cwd()
    assert works(lambda: os.chdir("/")) and Path.cwd() == folder


def test_without_anything_every_promise_is_taken_back() -> None:
    measures = Confinement().measures()
    assert {measure.name for measure in measures} == {
        *("files", "network", "signals", "processes", "count", "calls", "programs"),
    }
    assert not any(measure.holds for measure in measures)
    assert all(measure.sentence.startswith("Code of a") for measure in measures)


def test_with_everything_every_promise_holds() -> None:
    whole = Confinement(landlock=7, network=True, filter=True, counted=True)
    assert all(measure.holds for measure in whole.measures())
    assert whole.report()[0]["name"] == "files"
    older = {measure.name: measure.holds for measure in Confinement(landlock=5, network=True, filter=True).measures()}
    assert older == {
        "files": True, "network": True, "signals": False, "processes": True, "count": False, "calls": True,
        "programs": True,
    }  # fmt: skip
    assert (Confinement().user(3), Confinement(first_user=100).user(3)) == (None, 103)


@pytest.mark.parametrize("is_root", [True, False])
def test_a_process_is_confined_whoever_starts_it(forked: Forked, tmp_path: Path, is_root: bool) -> None:
    if is_root and os.geteuid() != 0:
        pytest.skip("only root can be root")
    if not landlock.version():
        pytest.skip("this kernel has no Landlock")
    component, folder = tmp_path / "components" / "a" / "1.0.0.py", tmp_path / "call"
    for path in (component.parent, folder):
        path.mkdir(parents=True)
        path.chmod(0o777)
    component.write_text("x")
    (tmp_path / "key").write_text("x")
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == os.geteuid() and parent.name.startswith(("pytest", "popen")):  # popen: of xdist
            parent.chmod(0o755)
    tmp_path.chmod(0o755)

    def work() -> list[str]:
        if not is_root:
            lower()
        confinement = Confinement.begin()
        restriction = confinement.restriction(component, folder, relay=False)
        confinement.enter(restriction, 0, relay=False)
        return [
            attempt(component.read_text),
            attempt((tmp_path / "key").read_text),
            attempt(lambda: (folder / "x").write_text("x")),
            attempt(lambda: (tmp_path / "x").write_text("x")),
        ]

    assert forked(work) == ["done", "PermissionError", "done", "PermissionError"]


@pytest.mark.parametrize("is_root", [True, False])
def test_a_program_reads_its_files_and_runs_itself_only(forked: Forked, tmp_path: Path, is_root: bool) -> None:
    if is_root and os.geteuid() != 0:
        pytest.skip("only root can be root")
    version = landlock.version()
    if not version:
        pytest.skip("this kernel has no Landlock")
    package, folder, tool = tmp_path / "package", tmp_path / "own", tmp_path / "tool"
    for path in (package, folder):
        path.mkdir()
    folder.chmod(0o777)
    for path in (tool, package / "code"):
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == os.geteuid() and parent.name.startswith(("pytest", "popen")):
            parent.chmod(0o755)
    tmp_path.chmod(0o755)

    def work() -> list[str]:
        if not is_root:
            lower()
        confinement = Confinement.begin()
        restriction = Restriction(version, readable_paths.of_program((Path("/bin/true"),), (package,), folder))
        confinement.enter(restriction, 0, becomes_program=True)
        return [
            attempt((package / "code").read_text),
            attempt(tool.read_text),
            attempt(lambda: (folder / "x").write_text("x")),
            attempt(lambda: os.execv(package / "code", ["code"])),
            attempt(lambda: os.execv("/bin/sh", ["sh"])),
        ]

    assert forked(work) == ["done", "PermissionError", "done", "PermissionError", "PermissionError"]


def test_elsewhere_than_on_linux_nothing_is_confined(
    forked: Forked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "_libc", None)

    def work() -> list[object]:
        confinement = Confinement.begin()
        confinement.enter(confinement.restriction(tmp_path, tmp_path, relay=True), 0, relay=True)
        return [asdict(confinement) == asdict(Confinement(first_user=confinement.first_user)), attempt(tmp_path.stat)]

    monkeypatch.setattr(users, "first", lambda: None)
    assert forked(work) == [True, "done"]


def test_what_cannot_be_kept_ends_the_process(forked: Forked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(namespaces, "own_user_namespace", lambda: False)

    def work() -> None:
        lower()
        confinement = Confinement(counted=True)
        confinement.enter(confinement.restriction(tmp_path, tmp_path, relay=False), 0, relay=False)

    assert forked(work) == "OSError: no user namespace"


@pytest.mark.parametrize(
    ("refused", "changes"),
    [
        ("users.become", {"first_user": None, "counted": False}),
        ("seccomp.install", {"filter": False}),
        ("landlock.Restriction.enforce", {"landlock": 0}),
        ("namespaces.leave", {"network": False}),
    ],
)
def test_what_the_kernel_refuses_after_all_is_left_out(
    forked: Forked, monkeypatch: pytest.MonkeyPatch, refused: str, changes: dict[str, object]
) -> None:
    def refuse(*_: object, **__: object) -> bool:
        if refused == "namespaces.leave":
            return False
        raise OSError

    monkeypatch.setattr(users, "readable_by_all", lambda _: True)
    usual = forked(lambda: asdict(Confinement.begin()))
    monkeypatch.setattr(f"webapp.service.components.confinement.{refused}", refuse)
    if os.geteuid() == 0:
        assert forked(lambda: asdict(Confinement.begin())) == usual | changes


def test_where_nothing_could_be_loaded_users_are_not_changed(forked: Forked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.service.components.confinement.landlock.version", lambda: 0)
    monkeypatch.setattr(users, "readable_by_all", lambda _: False)
    assert forked(lambda: Confinement.begin().first_user) is None


def test_a_look_tells_and_changes_nothing() -> None:
    names = [measure.name for measure in look()]
    assert names == ["files", "network", "signals", "processes", "count", "calls", "programs"]
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), 1).close()
