"""Runs mypy in its strict mode over the components of every app, and over the modules that they share.

Each version of a component is a file such as ``0.0.1.py``, which is no name of a module, so that mypy cannot find it
by itself. Here every file is linked into packages under a name that is one (``create_issue_0_0_1``), and those are
checked; relative imports work there as they do in the runner. ``make check`` calls it.
"""

import os
import re
import shutil
import sys
from pathlib import Path

from mypy import api

ROOT = Path(__file__).parent.parent
APPS = ROOT / "webapp" / "service" / "catalog" / "apps"
MIRROR = ROOT / ".mypy_cache" / "components"


def link_of(source: Path) -> Path:
    """Where ``source`` stands in the mirror: ``app_github/actions/create_issue_0_0_1.py``."""
    app, *rest = source.relative_to(APPS).with_suffix("").parts
    if len(rest) == 3:
        rest = [rest[0], f"{rest[1]}_{rest[2]}"]
    return MIRROR.joinpath(f"app_{app}", *(re.sub(r"\W", "_", name) for name in rest)).with_suffix(".py")


def main() -> int:
    """Link, check, and print what mypy finds under the names of the original files; its exit status."""
    links = {link_of(source): source for source in sorted(APPS.rglob("*.py"))}
    shutil.rmtree(MIRROR, ignore_errors=True)
    for link, source in links.items():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(source)
    os.chdir(ROOT)
    os.environ["MYPYPATH"] = f"{MIRROR}:{ROOT}"
    cache = f"{MIRROR}_cache"
    output, errors, status = api.run(["--explicit-package-bases", "--cache-dir", cache, *map(str, links)])
    for link, source in links.items():
        output = output.replace(str(link.relative_to(ROOT)), str(source.relative_to(ROOT)))
    sys.stdout.write(output)
    sys.stderr.write(errors)
    return status


if __name__ == "__main__":
    sys.exit(main())
