"""Whatever set-up installs is pinned by a hash: from a lock file that names one for each package, and from no other."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LOCKS = sorted(ROOT.glob("requirements*.lock"))
SOURCES = (ROOT / "Makefile", ROOT / "webapp" / "frontend.py")
INSTALL = re.compile(r'(?:\$\(PIP\)|"pip", "install").*')


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_pins_each_package_by_hash(lock: Path) -> None:
    entries = re.split(r"\n(?=\S)", lock.read_text("utf-8").strip())
    assert [entry.splitlines()[0] for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []


def test_nothing_is_installed_without_a_hash() -> None:
    installs = [line for file in SOURCES for line in INSTALL.findall(file.read_text("utf-8"))]
    assert len(installs) >= 4
    without = [line for line in installs if "--require-hashes" not in line]
    assert without == ["$(PIP) --no-deps --no-build-isolation --editable ."]  # the project itself
