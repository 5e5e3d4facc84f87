"""Installations with pieces: ours, which have all that the framework has, and those of the npm registry."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.browser.conftest import axe, chromium, contexts, whole_chromium  # noqa: F401 - fixtures
from tests.fakes.pieces import manual_example, packages, web
from tests.fakes.pieces.bench import Bringing, PieceBench
from tests.fakes.pieces.web import Answers
from tests.fakes.pieces.workbench_api import HOST, Workbench
from tests.peers.pieces.providers import Notion, hosts
from webapp.errors import Invalid
from webapp.kit.clock import FakeClock, now
from webapp.service.pieces import packages as package_names
from webapp.service.pieces.installer import Installer
from webapp.service.pieces.packages import Places

CURRENT = {
    "slack": "0.17.9",
    "notion": "0.7.3",
    "intercom": "0.7.5",
    "store": "0.6.20",
    "square": "0.4.6",
    "facebook-leads": "0.3.7",
    "webhook": "0.1.29",
    "openai": "0.3.18",
    "delay": "0.3.26",
}
OURS = ("workbench", "workbench-machine", "workbench-open")


@dataclass
class Ours:
    """The installation, and the provider that its pieces ask."""

    bench: PieceBench
    provider: Workbench
    shop: manual_example.Shop


@pytest.fixture(scope="session")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ours]:
    """The pieces of the tests."""
    provider, shop = Workbench(), manual_example.Shop()
    brought = [Bringing("1.0.0", partial(packages.install, name=name), (HOST,)) for name in OURS]
    brought.append(Bringing("0.1.0", manual_example.install, (manual_example.HOST,)))
    played: dict[str, Answers] = {**provider.hosts, manual_example.HOST: shop}
    with _bench(tmp_path_factory, played, brought) as bench:
        yield Ours(bench, provider, shop)


@dataclass
class Registry:
    """The installation with pieces of the npm registry, and Notion, whose pages change."""

    bench: PieceBench
    notion: Notion


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """Pieces as npm has them, in versions of today."""
    notion = Notion()
    brought = [Bringing(version, partial(fetch, name=name, version=version)) for name, version in CURRENT.items()]
    with _bench(tmp_path_factory, hosts(notion), brought) as bench:
        yield Registry(bench, notion)


@contextmanager
def _bench(
    factory: pytest.TempPathFactory, played: Mapping[str, web.Answers], pieces: Sequence[Bringing]
) -> Iterator[PieceBench]:
    """An installation with ``pieces``, for which the hosts are ``played``."""
    ca, data = factory.mktemp("ca"), factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch, web.playing(ca, played, patch) as playing:
        bench = PieceBench(data, playing, FakeClock(now()), pieces)
        try:
            yield bench
        finally:
            bench.close()


def fetch(prefix: Path, name: str, version: str) -> str:
    """Bring a piece from the npm registry into the folder ``prefix``, as an installation does; its name.

    Skips the test where the registry cannot be reached, or fails it in CI.
    """
    places = Places(prefix.with_name("brought"))
    wanted = package_names.parse(f"{name}@{version}")
    folder = package_names.folder(wanted.package)
    try:
        Installer(places, None, 500).from_registry(wanted, folder)
    except Invalid as error:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"{wanted.spec}: {error.message}")
    places.package(folder, version).rename(prefix)
    return wanted.package
