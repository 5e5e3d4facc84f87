"""HAProxy before web processes, as the file of the manual that people copy has it: on loopback, without TLS."""

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT

FILE = ROOT / "templates" / "docs" / "files" / "haproxy.cfg"
_CHANGES = (
    (r"bind :80\n", "bind 127.0.0.1:{port}\n"),
    (r" +(bind :443|http-request redirect|log) .*\n", ""),
    (r"X-Forwarded-Proto https", "X-Forwarded-Proto http"),
    (r"inter 2s", "inter 500ms"),
    (r"( +server web\d .*\n)+", "{servers}"),
    (r"global\n", "global\n    stats socket {folder}/stats mode 600\n"),
)


@dataclass(frozen=True)
class Proxy:
    """One that runs, at ``port``."""

    port: int
    folder: Path

    def well(self) -> int:
        """How many web processes it calls well."""
        with socket.socket(socket.AF_UNIX) as stats:
            stats.connect(str(self.folder / "stats"))
            stats.sendall(b"show stat\n")
            return sum(re.match(r"patchbay,web\d.*,UP,", line) is not None for line in stats.makefile())


@contextmanager
def proxied(port: int, servers: Sequence[int], folder: Path) -> Iterator[Proxy]:
    """HAProxy at ``port`` before web processes at the ports ``servers``; skipped where there is none."""
    program = shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        assert not os.environ.get("CI"), "haproxy is missing"
        pytest.skip("haproxy is not installed")
    lines = "".join(f"    server web{number} 127.0.0.1:{server}\n" for number, server in enumerate(servers, 1))
    text = FILE.read_text()
    for pattern, replacement in _CHANGES:
        text, count = re.subn(pattern, replacement.format(port=port, servers=lines, folder=folder), text)
        assert count, f"the file has no {pattern}"
    configuration = folder / "haproxy.cfg"
    configuration.write_text(text)
    with subprocess.Popen([program, "-db", "-q", "-f", str(configuration)]) as process:
        try:
            ends = time.monotonic() + 10
            while not (folder / "stats").exists():
                assert process.poll() is None and time.monotonic() < ends, "HAProxy does not begin"
                time.sleep(0.02)
            yield Proxy(port, folder)
        finally:
            process.kill()
