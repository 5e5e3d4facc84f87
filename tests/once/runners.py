"""One runner for all that a run's tests open, since each takes 0.4 s of CPU to start.

It keeps nothing between calls, each of which is a process of its own. Tests of the runner itself start their own.
"""

import atexit
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from webapp.cli.commands import catalog
from webapp.service.catalog import build
from webapp.service.components import executor
from webapp.service.components.confinement.confinement import Measure
from webapp.service.components.runner import Runner
from webapp.service.domain.instance import opening

STARTING: tuple[ModuleType, ...] = (catalog, build, executor, opening)
"""What starts a runner of its own."""


class SharedRunner(Runner):
    """A client of the one runner, which starts with the first call and stays when this is closed. A call in flight then
    goes on to its deadline."""

    def __init__(self, path: Path | None) -> None:
        super().__init__(path)
        self._was_called = False

    def confinement(self) -> list[Measure]:
        """As of a runner of its own: empty before the first call."""
        return _running().confinement() if self._was_called else []

    def _address(self) -> Path | None:
        if self._closed:
            return None
        self._was_called = True
        return _running()._address()


def keep() -> None:
    """Begin to share it, for as long as this process lasts."""
    for module in STARTING:
        setattr(module, "Runner", SharedRunner)  # noqa: B010


def start_own(patch: pytest.MonkeyPatch) -> None:
    """Let each that is started meanwhile be one of its own, such as where it inherits what a test has changed."""
    for module in STARTING:
        patch.setattr(module, "Runner", Runner)


@cache
def _running() -> Runner:
    runner = Runner.start()
    atexit.register(runner.close)
    return runner
