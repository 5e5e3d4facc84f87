"""A catalog of the shipped apps, and a way to declare apps of one's own and open a catalog of them."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.service.catalog.samples import CATEGORIES, KEYS, OAUTH, bare, write_component
from webapp.service.catalog.build import build
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.sources import Places
from webapp.service.components.runner import Runner

PUBLIC_URL = "http://localhost:8000"
SANDBOX = {"sandbox": "http://localhost:8001"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of sources with two categories and no app."""
    made = tmp_path / "sources"
    made.mkdir()
    (made / "categories.toml").write_text(CATEGORIES, "utf-8")
    return made


@pytest.fixture
def declare(folder: Path) -> Callable[[str, str], Path]:
    """Write the ``app.toml`` of a slug into :func:`folder`."""

    def write(slug: str, text: str) -> Path:
        file = folder / slug / "app.toml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
        return file

    return write


@pytest.fixture
def opened(folder: Path, tmp_path: Path, runner: Runner) -> Iterator[Callable[..., Catalog]]:
    """Build :func:`folder` and open what came of it; all of them are closed at the end."""
    catalogs = []

    def open_catalog(variables: Mapping[str, str] | None = None, **options: Any) -> Catalog:
        target = tmp_path / "catalog.db"
        report = build(target, Places(built_in=folder), declare=runner.call, **options)
        assert report.problems == ()
        catalogs.append(Catalog.open(target, public_url=PUBLIC_URL, variables=variables))
        return catalogs[-1]

    yield open_catalog
    for catalog in catalogs:
        catalog.close()


@pytest.fixture
def several(declare: Callable[[str, str], Path], opened: Callable[..., Catalog], folder: Path) -> Catalog:
    """Six apps: two of them with components, one in another category."""
    declare("acme", KEYS)
    declare("globex", OAUTH)
    declare("zeta", bare("zeta", "éclair Zeta", weight=50))
    declare("alpha", bare("alpha", "alpha", weight=50, description="Works with Acme rockets."))
    declare("beans", bare("beans", "Crème & Beans", weight=10, category="cafe"))
    declare("my_sheets", bare("my_sheets", "My Sheets", weight=7))
    write_component(folder, "acme/actions/launch/1.0.0.py")
    write_component(folder, "globex/triggers/rained/1.0.0.py", "Trigger", "Rained")
    return opened()


@pytest.fixture
def many(declare: Callable[[str, str], Path], opened: Callable[..., Catalog]) -> Catalog:
    """Twenty-three apps with weights that tie."""
    for number in range(23):
        declare(f"app_{number:02}", bare(f"app_{number:02}", f"App {number * 7 % 23}", weight=number % 4))
    return opened()


@pytest.fixture(scope="session")
def shipped(built_catalog: Path) -> Iterator[Catalog]:
    """The catalog of the built-in apps, with the sandbox switched on."""
    catalog = Catalog.open(built_catalog, public_url=PUBLIC_URL, variables=SANDBOX)
    yield catalog
    catalog.close()
