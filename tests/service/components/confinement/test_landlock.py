"""Landlock: a process reaches what was named, and nothing beside it."""

import os
import socket
from pathlib import Path

import pytest

from tests.service.components.confinement.conftest import Forked, attempt
from webapp.service.components.confinement import kernel, landlock
from webapp.service.components.confinement.landlock import Opened, Reach, Restriction

pytestmark = pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")


@pytest.fixture
def places(tmp_path: Path) -> Path:
    for name in ("read", "opened", "list", "write", "beside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("x")
    return tmp_path


def restrict(places: Path, *, tcp: bool = False, version: int | None = None) -> None:
    reach = Reach(
        (places / "read", places / "absent"),
        (Opened.of(places / "opened"),),
        (places / "list",),
        (places / "write",),
        (Path("/dev/null"),),
        tcp,
    )
    restriction = Restriction(version or landlock.version(), reach)
    restriction.move(os.open(os.devnull, os.O_RDONLY))  # a number that nothing else has
    kernel.no_new_privileges()
    restriction.enforce()


@pytest.mark.parametrize("version", [1, None])
def test_files_are_reached_as_they_were_named(forked: Forked, places: Path, version: int | None) -> None:
    def work() -> list[str]:
        restrict(places, version=version)
        return [
            attempt((places / "read" / "file").read_text),
            attempt((places / "opened" / "file").read_text),
            attempt(lambda: (places / "read" / "file").write_text("y")),
            attempt(lambda: [*(places / "list").iterdir()]),
            attempt((places / "list" / "file").read_text),
            attempt(lambda: (places / "write" / "new").write_text("y")),
            attempt((places / "write" / "new").unlink),
            attempt(lambda: (places / "write" / "link").symlink_to(places / "beside")),
            attempt((places / "write" / "link" / "file").read_text),
            attempt(lambda: os.mkfifo(places / "write" / "pipe")),
            attempt(lambda: [*(places / "beside").iterdir()]),
            attempt((places / "beside" / "file").read_text),
            attempt(lambda: Path("/dev/null").write_text("x")),
            attempt(Path("/etc/passwd").read_text),
        ]

    no = "PermissionError"
    assert forked(work) == ["done", "done", no, "done", no, "done", "done", "done", no, no, no, no, "done", no]


def connect(server: socket.socket) -> None:
    with socket.socket() as client:
        client.connect(server.getsockname())


@pytest.mark.skipif(landlock.version() < landlock.NETWORK_VERSION, reason="this kernel's Landlock knows no network")
@pytest.mark.parametrize(("tcp", "outcome"), [(False, "PermissionError"), (True, "done")])
def test_tcp_only_where_it_is_allowed(forked: Forked, places: Path, tcp: bool, outcome: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def work() -> list[str]:
            restrict(places, tcp=tcp)
            return [
                attempt(lambda: connect(server)),
                attempt(lambda: socket.create_server(("127.0.0.1", 0)).close()),
            ]

        assert forked(work) == [outcome, outcome]


@pytest.mark.skipif(landlock.version() < landlock.SCOPES_VERSION, reason="this kernel's Landlock knows no scopes")
def test_others_are_not_signalled_and_their_abstract_sockets_not_reached(forked: Forked, places: Path) -> None:
    parent, name = os.getpid(), f"\0patchbay-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()

        def work() -> list[str]:
            restrict(places)
            with socket.socket(socket.AF_UNIX) as client:
                return [
                    attempt(lambda: os.kill(parent, 0)),
                    attempt(lambda: os.kill(os.getpid(), 0)),
                    attempt(lambda: client.connect(name)),
                ]

        assert forked(work) == ["PermissionError", "done", "PermissionError"]
