"""One host process with a piece of ours, and the far end of its connections."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.certificates import Authority
from tests.service.components.pieces.program.driver import Host

HERE = Path(__file__).parent
NAME = "piece-sample"
Install = Callable[[str], Path]


@pytest.fixture(scope="package")
def node() -> None:
    """Skip where Node is missing; in CI, which installs it, fail instead."""
    if shutil.which("node") is None:
        reason = "Node is not installed"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)


@pytest.fixture(scope="package")
def host(node: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """A host process of the sample piece, which may reach far.test, echo.test and the like."""
    folder = tmp_path_factory.mktemp("program")
    authority = Authority(folder)
    authority.context("far.test")
    (folder / "other").mkdir()
    Authority(folder / "other").context("unknown.test")
    certificates = (folder / "far.test.pem", folder / "other" / "unknown.test.pem")
    command = ["node", str(HERE / "far_end.cjs"), *map(str, certificates)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as far:
        assert far.stdout
        ports = json.loads(far.stdout.readline())
        targets = {"far.test:443": ports["tls"], "far.test:80": ports["http"], "echo.test:7": ports["echo"]}
        targets |= {"other.test:443": ports["tls"], "unknown.test:443": ports["unknown"]}
        package = install(folder, (HERE / "piece.cjs").read_text())
        host = Host(package, NAME, targets, authority.ca_file)
        yield host
        host.close()
        assert far.stdin
        far.stdin.close()


def install(folder: Path, source: str, name: str = NAME) -> Path:
    """A package of ``source`` as npm leaves it below the prefix ``folder``."""
    package = folder / "node_modules" / name
    (package / "src" / "i18n").mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": name, "version": "1.2.3", "main": "src/index.js"}))
    (package / "src" / "index.js").write_text(source)
    (package / "src" / "i18n" / "de.json").write_text(json.dumps({"Sample": "Beispiel"}))
    (package / "src" / "i18n" / "xx.json").write_text("{")
    return folder
