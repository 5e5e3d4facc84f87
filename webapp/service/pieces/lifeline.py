"""Runs a program that ends with the process that started it, however that ended, with all processes it started.

:func:`tied` gives the command. It runs in a session of its own, with a pipe as its standard input to which nobody
writes: the kernel closes the pipe when the starter ends, even if it is killed, and then the whole group is ended. The
program reads no input. This file runs as a script in a bare Python without our packages.
"""

import os
import select
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn


def tied(command: Sequence[str]) -> list[str]:
    """``command`` wrapped so that it ends when its standard input is closed. The exit code is that of ``command``."""
    return [sys.executable, "-I", "-S", __file__, *command]


def main(command: list[str]) -> int:
    """Run ``command`` until it ends or standard input does; return its exit code as a shell would."""
    woken, waking = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(waking)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    pid = os.fork()
    if pid == 0:
        _become(command)
    ready, _, _ = select.select([0, woken], [], [])
    if woken not in ready:
        os.killpg(0, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return 128 - code if code < 0 else code


def _become(command: list[str]) -> NoReturn:
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.execvp(command[0], command)  # noqa: S606  # no shell is wanted
    except OSError as error:
        os.write(2, f"{command[0]}: {error}\n".encode())
    finally:
        os._exit(127)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
