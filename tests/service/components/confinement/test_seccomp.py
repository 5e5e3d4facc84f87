"""The filter of system calls: no sockets but those of a relay, and no way around what confines."""

import ctypes
import errno
import os
import platform
import resource
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from tests.service.components.confinement.conftest import Forked
from webapp.service.components.confinement import kernel, seccomp

pytestmark = pytest.mark.skipif(not seccomp.available(), reason="there is no filter for this machine")
# ptrace, process_vm_readv, mount, open_by_handle_at, bpf, keyctl, setns, unshare, io_uring_setup, shmget, setpriority,
# sched_setaffinity, pidfd_send_signal, syslog, inotify_init1, fanotify_init, io_setup, sendmsg, memfd_create, setxattr
REFUSED = {
    "x86_64": (101, 310, 165, 304, 321, 250, 308, 272, 425, 29, 141, 203, 424, 103, 294, 300, 206, 46, 319, 188),
    "aarch64": (117, 270, 40, 265, 280, 219, 268, 97, 425, 194, 140, 122, 424, 116, 26, 262, 0, 211, 279, 5),
}


def refusal(number: int, *arguments: int) -> str:
    """The name of the error that the system call ``number`` gives."""
    try:
        kernel.call(number, *map(ctypes.c_ulong, arguments))
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return "done"


def family(number: int) -> str:
    try:
        socket.socket(number, socket.SOCK_STREAM).close()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return "done"


@pytest.mark.parametrize("own_user", [False, True])
def test_without_a_user_of_its_own_rights_and_times_of_files_only_seem_to_change(
    forked: Forked, tmp_path: Path, own_user: bool
) -> None:
    file = tmp_path / "file"
    file.touch(0o640)
    os.utime(file, (5, 5))

    def work() -> bool:
        kernel.no_new_privileges()
        seccomp.install(False, own_user=own_user)
        file.chmod(0o600)
        os.chown(file, os.getuid(), os.getgid())
        os.utime(file, (7, 7))
        return True

    assert forked(work)
    expected = (0o600, 7) if own_user else (0o640, 5)
    assert (file.stat().st_mode & 0o777, file.stat().st_mtime) == expected


def test_what_only_newer_kernels_know_is_not_there(forked: Forked) -> None:
    def work() -> list[str]:
        kernel.no_new_privileges()
        seccomp.install(False)
        return [refusal(number) for number in (435, 457, 470, 600)]

    assert forked(work) == ["ENOSYS"] * 4


def test_a_thread_has_the_descriptors_of_its_process(forked: Forked) -> None:
    def work() -> str:
        kernel.no_new_privileges()
        seccomp.install(False)
        return refusal({"x86_64": 56, "aarch64": 220}[platform.machine()], 0x0001_0900)  # VM, SIGHAND, THREAD

    assert forked(work) == "EACCES"


@pytest.mark.parametrize("sockets", [False, True])
def test_what_components_never_need_is_refused(forked: Forked, sockets: bool) -> None:
    def work() -> list[list[str]]:
        kernel.no_new_privileges()
        seccomp.install(sockets)
        numbers = [refusal(number) for number in REFUSED[platform.machine()]]
        families = (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK, 17, 38, 40)  # packet alg vsock
        return [numbers, [family(each) for each in families]]

    numbers, families = forked(work)
    assert numbers == ["EACCES"] * 20
    inet = "done" if sockets else "EACCES"
    assert families == [inet, inet, *["EACCES"] * 5]


def test_what_they_need_still_works(forked: Forked) -> None:
    def work() -> list[object]:
        kernel.no_new_privileges()
        seccomp.install(False)
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
        near, far = socket.socketpair()
        near.sendall(b"x")
        ran = subprocess.run(["/bin/sh", "-c", "echo ran"], capture_output=True, text=True).stdout
        return [far.recv(1).decode(), ran, refusal({"x86_64": 56, "aarch64": 220}[platform.machine()], 0x1000_0000)]

    assert forked(work) == ["x", "ran\n", "EACCES"]


def test_what_makes_no_processes_still_makes_threads_and_signals_itself_only(forked: Forked) -> None:
    def work() -> list[object]:
        kernel.no_new_privileges()
        seccomp.install(False, processes=False)
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
        os.kill(os.getpid(), 0)
        outcomes: list[object] = []
        for refused in (
            *(os.fork, lambda: os.memfd_create("x"), lambda: os.posix_spawn("/bin/true", ["true"], {})),
            *(lambda: os.kill(os.getppid(), 0), lambda: os.kill(0, 0), lambda: os.kill(-1, 0)),
        ):
            try:
                refused()
            except OSError as error:
                outcomes.append(errno.errorcode[error.errno or 0])
        return outcomes

    assert forked(work) == ["EACCES"] * 6


def test_limits_are_ones_own_only(forked: Forked) -> None:
    parent = os.getpid()

    def work() -> list[object]:
        kernel.no_new_privileges()
        seccomp.install(False)
        own = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (50, own[1]))
        try:
            resource.prlimit(parent, resource.RLIMIT_NOFILE)
        except PermissionError:
            return [resource.getrlimit(resource.RLIMIT_NOFILE)[0], "refused"]
        return ["done"]

    assert forked(work) == [50, "refused"]


def test_another_architecture_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert not seccomp.available()
    assert os.getpid()
