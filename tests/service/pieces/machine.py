"""An installation for tests to which pieces are added, and an app of its own."""

from pathlib import Path
from typing import Any

from tests.service.catalog.samples import TOKEN
from tests.service.pieces import described
from webapp.service.catalog.build import build
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.sources import Places
from webapp.service.pieces import plans
from webapp.service.pieces.plans import Plan

PACKAGE = "@acme/piece-acme-tasks"
CATEGORIES = '[[categories]]\nslug = "productivity"\nname = "Productivity"\ndescription = "Work."\n'
BUILT_IN = f"""
slug = "acme_tasks"
name = "Acme Tasks"
description = "Tasks."
categories = ["productivity"]
auth_type = "keys"
docs_url = "https://docs.acme.io/"
sources = ["https://docs.acme.io/"]
base_url = "https://api.acme.io"
allowed_hosts = ["api.acme.io"]

[logo]
letter = "A"
color = "#aa3300"
{TOKEN}source = "https://docs.acme.io/"

[test]
url = "/me"
source = "https://docs.acme.io/"
"""


class Machine:
    """A catalog of the built-in apps of a test, and of what was added."""

    def __init__(self, folder: Path) -> None:
        self.data, self.built_in, self._target = folder / "data", folder / "built in", folder / "catalog.db"
        self.data.mkdir()
        self.put("categories.toml", CATEGORIES)
        self.catalog = self.built()

    def put(self, place: str, text: str) -> None:
        file = self.built_in / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def built(self) -> Catalog:
        report = build(self._target, Places(built_in=self.built_in, pieces=self.data / "pieces" / "apps"))
        assert report.problems == ()
        self.catalog = Catalog.open(self._target, public_url="http://localhost")
        return self.catalog

    def plan(self, told: dict[str, Any], version: str = "0.2.0", package: str = PACKAGE) -> Plan:
        folder = f"packages/{package.rpartition('/')[2]}/{version}"
        return plans.plan(
            told, package=package, version=version, folder=folder, data=self.data, catalog=self.catalog,
            source=described.SOURCE,
        )  # fmt: skip

    def add(self, told: dict[str, Any], version: str = "0.2.0", package: str = PACKAGE) -> Catalog:
        planned = self.plan(told, version, package)
        plans.write(planned, self.data, planned.hosts)
        return self.built()

    @property
    def files(self) -> list[str]:
        return sorted(file.relative_to(self.data).as_posix() for file in self.data.rglob("*") if file.is_file())
