"""Runs a page of the manual as it is printed: writes its files, types its commands, and looks for what it says to see.

A block of code below "This is `page.html`", perhaps with more words up to a colon, is that file. A ``console`` block is
commands behind ``$``, and what they print: each line that is shown has to appear, in order, where ``…`` is any text. A
command ends with success, or with ``&`` in the background. "Stop Patchbay" stops it. No other block is allowed, so
that the page has nothing that is not run.

``patchbay`` runs in the tests' own process, which spares each command the start of a Python; everything else is run by
bash.
"""

import json
import os
import re
import shlex
import signal
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cli.in_process import Commands

PATIENCE_S = 20.0
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"[Tt]his\s+is\s+`([\w./-]+)`[^`]*:\s*\Z")
_SHIM = """\
import json, os, socket, stat, sys
piped = stat.S_ISFIFO(os.fstat(0).st_mode) or stat.S_ISREG(os.fstat(0).st_mode)
settings = {name: value for name, value in os.environ.items() if name.startswith("PATCHBAY_")}
asked = {"words": sys.argv[2:], "cwd": os.getcwd(), "env": settings, "input": sys.stdin.read() if piped else ""}
with socket.socket(socket.AF_UNIX) as way:
    way.connect(sys.argv[1])
    way.sendall(json.dumps(asked).encode() + b"\\n")
    done = json.loads(way.makefile().readline())
sys.stdout.write(done["stdout"])
sys.stderr.write(done["stderr"])
sys.exit(done["code"])
"""


@dataclass(frozen=True, slots=True)
class File:
    """A block that is a file."""

    name: str
    content: str


@dataclass(frozen=True, slots=True)
class Command:
    """What is typed, and the lines that have to appear."""

    typed: str
    shown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stop:
    """The text says to stop Patchbay."""


def steps(text: str) -> Iterator[File | Command | Stop]:
    """What a text has its reader do, in order. Fails where a block is neither a file nor a console."""
    end = 0
    for block in _BLOCK.finditer(text):
        before, (kind, code) = text[end : block.start()], block.groups()
        end = block.end()
        if "Stop Patchbay" in before:
            yield Stop()
        if kind == "console":
            yield from _commands(code)
            continue
        named = _FILE.search(before)
        assert named, f"nobody knows what to do with this {kind}:\n{code}"
        yield File(named[1], code)


def _commands(code: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        typed, rest = [], part.splitlines()
        while rest:
            typed.append(rest.pop(0))
            if not typed[-1].endswith("\\"):
                break
        yield Command("\n".join(typed).split("  # ")[0], tuple(line.strip() for line in rest if line.strip()))


def sections(text: str) -> dict[str, str]:
    """The parts of a page by their headings of the second level; what stands before the first is ""."""
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


@dataclass
class Shell:
    """One terminal in ``folder``. What it prints is given to ``seen``, line by line, as to somebody who watches."""

    folder: Path
    env: Mapping[str, str]
    seen: Callable[[str], None]
    printed: list[str] = field(default_factory=list)
    trouble: Exception | None = None

    def __post_init__(self) -> None:
        self._seen = 0
        self._arrived = threading.Condition()
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], cwd=self.folder, env=dict(self.env), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def type(self, command: Command) -> None:
        """Run it until it has ended, if it is not in the background, and has shown what it should."""
        assert self._bash.stdin is not None
        before = len(self.printed)
        self._bash.stdin.write(f'{{ {command.typed}\n}} </dev/null\necho "\x1e$?"\n')
        self._bash.stdin.flush()
        deadline = time.monotonic() + PATIENCE_S
        with self._arrived:
            while not self._is_done(command, before):
                came = self._arrived.wait(max(deadline - time.monotonic(), 0))
                if self.trouble:
                    raise self.trouble
                assert came, self._story(command, before)
            assert self._code(before) == "0", self._story(command, before)

    def close(self) -> None:
        """End it with all that it began."""
        os.killpg(self._bash.pid, signal.SIGKILL)
        self._bash.wait()
        self._reader.join()
        for pipe in (self._bash.stdin, self._bash.stdout):
            assert pipe is not None
            pipe.close()

    def _read(self) -> None:
        assert self._bash.stdout is not None
        for line in self._bash.stdout:
            with self._arrived:
                self.printed.append(line.rstrip("\n"))
                self._arrived.notify_all()
            try:
                self.seen(line.rstrip("\n"))
            except Exception as error:
                self.trouble = error
            with self._arrived:
                self._seen += 1
                self._arrived.notify_all()

    def _is_done(self, command: Command, before: int) -> bool:
        """Whether it ended, and either failed or has shown everything, to somebody who has done what follows."""
        code = self._code(before)
        shown = self._seen == len(self.printed) and self._missing(command, before) is None
        return code is not None and (code != "0" or shown)

    def _code(self, before: int) -> str | None:
        return next((line[1:] for line in self.printed[before:] if line.startswith("\x1e")), None)

    def _missing(self, command: Command, before: int) -> str | None:
        """The first of the lines to see that has not come."""
        came = iter(self.printed[before:])
        for line in command.shown:
            pattern = ".*".join(re.escape(part) for part in line.split("…"))
            if not any(re.fullmatch(pattern, one.strip()) for one in came):
                return line
        return None

    def _story(self, command: Command, before: int) -> str:
        printed = "\n".join(self.printed[before:])
        return f"$ {command.typed}\n{printed}\n-- missing: {self._missing(command, before)}"


@contextmanager
def patchbay_on_path(folder: Path, serve: Callable[[dict[str, str]], str]) -> Iterator[None]:
    """``patchbay`` and ``python3`` as programs in ``folder``.

    ``patchbay serve`` is ``serve``, which is given the settings that were typed, and returns what is printed.
    """

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            asked = json.loads(self.rfile.readline())
            self.wfile.write(json.dumps(self._done(asked)).encode() + b"\n")

        def _done(self, asked: dict[str, Any]) -> dict[str, Any]:
            if asked["words"] == ["serve"]:
                return {"stdout": serve(asked["env"]), "stderr": "", "code": 0}
            before = Path.cwd()
            os.chdir(asked["cwd"])
            try:
                done = Commands(asked["env"]).run(*asked["words"], input=asked["input"])
            finally:
                os.chdir(before)
            return {"stdout": done.stdout, "stderr": done.stderr, "code": done.exit_code}

    (folder / "shim.py").write_text(_SHIM)
    address = str(folder / "way")
    python = shlex.quote(sys.executable)
    for name, words in (("patchbay", f"{python} -ISE {folder}/shim.py {address}"), ("python3", python)):
        (folder / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (folder / name).chmod(0o755)
    with socketserver.UnixStreamServer(address, Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def walk(
    text: str, shell: Shell, replaced: Mapping[str, str], *, pause: Callable[[], None], stop: Callable[[], None]
) -> None:
    """Do what ``text`` says; what stands in it is ``replaced`` by what this installation has instead.

    ``pause`` is called before each command: it is the second that a person takes to type it. ``stop`` stops Patchbay.
    """
    for old, new in replaced.items():
        text = text.replace(old, new)
    for step in steps(text):
        if isinstance(step, File):
            file = shell.folder / step.name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(step.content, "utf-8")
        elif isinstance(step, Stop):
            stop()
        else:
            pause()
            shell.type(step)
