"""The whole product as a newcomer gets it: ``patchbay serve`` in processes of its own, over an empty data folder.

Only the catalog is there before: to build it takes most of a first start, and tests of commands do.
"""

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.ports import free_port
from tests.once import stores
from webapp.service.catalog.sources import Places
from webapp.service.domain.base import catalog_file
from webapp.settings import Settings

ROOT = Path(__file__).parents[2]
START_S = 240
"""How long a start may take, on a machine that does other work."""


@dataclass(frozen=True, slots=True)
class Served:
    """A running product: the address that it printed, and where its pages and its sandbox are."""

    start_url: str
    url: str
    sandbox_url: str


@contextmanager
def served(data: Path, port: int | None = None, **settings: str) -> Iterator[Served]:
    """Start it over ``data`` with these settings, deaf to those of whoever runs the tests; stopped at the end.

    ``port`` is free, and so is the one behind it.
    """
    port = port or free_port()
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PATCHBAY_")}
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    catalog_file.ensure(data / "catalog.db", Places.of(data), None)  # type: ignore[attr-defined]  # as tests.once keeps it
    database = stores.settings_of(Settings.from_env({}, data=data).database)
    command = [sys.executable, "-m", "webapp.cli.main", "serve", "--port", str(port)]
    log = data.parent / "serve.log"
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command, env={**inherited, **database, **settings, "PATCHBAY_DATA": str(data)}, cwd=ROOT,
            stdout=subprocess.PIPE, stderr=errors, text=True,
        ) as process,
    ):  # fmt: skip
        try:
            assert process.stdout is not None
            assert select.select([process.stdout], [], [], START_S)[0], log.read_text()
            line = process.stdout.readline()
            assert "http" in line, log.read_text()
            yield Served(line.split()[-1], f"http://localhost:{port}", f"http://localhost:{port + 1}")
        finally:
            process.terminate()
            process.wait(15)
