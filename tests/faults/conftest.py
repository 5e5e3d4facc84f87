"""Faults are done to the real server in processes of its own, or to engines over a store of their own.

What they measured they print to the standard error, which is seen from tests that run side by side, too.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import Shell, data, eventually, start
from tests.cli.conftest import shell as embedded_shell
from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Receiver, receiving
from tests.faults.running import Running
from tests.faults.world import World, a_world
from tests.once import stores
from tests.service.conftest import (
    catalog_folder,
    open_at,
    project,
    provider,
    provider_server,
    runner,
    scene,
    service,
)
from webapp.kit.clock import FakeClock, now
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.settings import Settings

__all__ = [
    "catalog_folder", "data", "embedded_shell", "eventually", "open_at", "project", "provider", "provider_server",
    "runner", "scene", "service", "start",
]  # fmt: skip


@pytest.fixture
def shell(embedded_shell: Shell) -> Iterator[Shell]:
    """``patchbay`` over :func:`data`, and over the database that the tests have."""
    with stores.environment() as env:
        yield replace(embedded_shell, env={**embedded_shell.env, **env})


@contextmanager
def posting(folder: Path) -> Iterator[DeliveryHarness]:
    """The delivery side of a service over ``folder`` that goes by the wall clock; ``clock`` stands still beside it."""
    with receiving() as receiver:
        settings = Settings.from_env({"PATCHBAY_ALLOW_HOSTS": receiver.netloc}, data=folder, sandbox=False)
        opened = open_service(settings, now)
        acme = projects.create(opened, name="Acme")
        yield DeliveryHarness(opened, FakeClock(), Scene(acme.id, "development"), receiver)
        close_service(opened)


@pytest.fixture
def post(data: Path) -> Iterator[DeliveryHarness]:
    """One of them."""
    with posting(data) as made:
        yield made


@pytest.fixture
def posts(data: Path, tmp_path: Path) -> Iterator[tuple[DeliveryHarness, DeliveryHarness]]:
    """Two of them, side by side."""
    shutil.copytree(data, tmp_path / "other")
    with posting(data) as one, posting(tmp_path / "other") as other:
        yield one, other


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Where deliveries go."""
    with receiving() as server:
        yield server


@pytest.fixture
def server(shell: Shell, receiver: Receiver, tmp_path: Path) -> Iterator[Running]:
    """The real server, started; whatever runs of it at the end is killed. Any number of events may come to it."""
    env = {
        **shell.env, "PATCHBAY_ALLOW_HOSTS": receiver.netloc, "PATCHBAY_MAIL": "off", "PATCHBAY_SANDBOX": "off",
        **{f"PATCHBAY_{name}_REQUESTS": "1000000" for name in ("ADDRESS", "TRIGGER", "USER")},
    }  # fmt: skip
    running = Running(replace(shell, env=env), tmp_path / "serve.log")
    running.start()
    yield running
    running.kill()


@pytest.fixture
def world(shell: Shell, tmp_path: Path) -> Iterator[World]:
    """The real server beside a provider that can be held."""
    with a_world(shell, tmp_path / "serve.log") as made:
        yield made
