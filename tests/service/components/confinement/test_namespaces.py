"""Network namespaces: without any interface, or with a loopback of one's own."""

import errno
import os
import socket
from pathlib import Path

import pytest

from tests.service.components.confinement.conftest import Forked
from webapp.service.components.confinement import kernel, namespaces

OTHER_USER = 12_345
SET_DUMPABLE = 4


def connect(address: tuple[str, int]) -> str:
    try:
        socket.create_connection(address, 1).close()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return "done"


def lower() -> None:
    """Be nobody in particular."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(OTHER_USER, OTHER_USER, OTHER_USER)
        os.setresuid(OTHER_USER, OTHER_USER, OTHER_USER)
        kernel.prctl(SET_DUMPABLE, 1)  # as a program that this user starts is


@pytest.mark.parametrize("is_root", [True, False])
def test_whoever_leaves_reaches_nobody(forked: Forked, is_root: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def work() -> list[object]:
            if not is_root:
                lower()
            user = os.geteuid()
            left = namespaces.leave()
            addresses = [server.getsockname(), ("192.0.2.1", 80), ("169.254.169.254", 80)]
            return [left, os.geteuid() == user, *(connect(address) for address in addresses)]

        left, same, *outcomes = forked(work)
    if not left:
        pytest.skip("this kernel lets this user make no network namespace")
    assert same and outcomes == ["ENETUNREACH"] * 3


def test_a_loopback_of_ones_own_leads_to_oneself_only(forked: Forked) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def work() -> list[str]:
            namespaces.leave()
            namespaces.own_loopback()
            with socket.create_server(("127.80.0.1", 0)) as own:
                return [connect(server.getsockname()), connect(own.getsockname()), connect(("192.0.2.1", 80))]

        outcomes = forked(work)
    if outcomes == "PermissionError: [Errno 1] Operation not permitted":
        pytest.skip("this kernel lets this user make no network namespace")
    assert outcomes == ["ECONNREFUSED", "done", "ENETUNREACH"]


def test_a_user_namespace_keeps_the_name(forked: Forked) -> None:
    def work() -> list[object]:
        lower()
        user = os.geteuid()
        entered = namespaces.own_user_namespace()
        return [entered, os.geteuid() == user, Path("/proc/self/uid_map").read_text().split()]

    entered, same, mapped = forked(work)
    if not entered:
        pytest.skip("this kernel lets this user make no user namespace")
    assert same and mapped[2] == "1"


def test_a_kernel_that_refuses_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> None:
        raise PermissionError

    monkeypatch.setattr(kernel, "unshare", refuse)
    assert (namespaces.leave(), namespaces.own_user_namespace()) == (False, False)
